"""Writes cases that the onnx package has no tests for, with ONNX Runtime's results: python export_runtime_cases.py OUT_DIR.

Operators of com.microsoft and ai.onnx.ml, and the forms that operators of ONNX itself had in older opsets; one node each, in the form
export_cases.py describes.
"""
import sys

import export_cases

try:
    import numpy as np
except ImportError:
    print("skipped: the Python package numpy is missing")
    sys.exit(77)

OPSETS = {"": 17, "com.microsoft": 1, "ai.onnx.ml": 4}
rng = np.random.RandomState(7)
cases = []


def f(*shape):
    return rng.randn(*shape).astype(np.float32)


def u8(*shape):
    return rng.randint(0, 256, shape).astype(np.uint8)


def s8(*shape):
    return rng.randint(-127, 128, shape).astype(np.int8)


def scale(value):
    return np.array(value, np.float32)


def zero(value, dtype=np.uint8):
    return np.array(value, dtype)


def add(name, domain, op, inputs, attrs, outputs, atol, constants=(), opset=None):
    """inputs in order, None where absent; constants: positions of those that are initializers; outputs: a number, or names."""
    cases.append((name, domain, op, inputs, constants, attrs, outputs, atol, opset or OPSETS[domain]))


def ms(name, op, inputs, outputs=1, atol=1e-5, constants=(), **attrs):
    add(name, "com.microsoft", op, inputs, attrs, outputs, atol, constants)


def ml(name, op, inputs, outputs=1, atol=1e-5, **attrs):
    add(name, "ai.onnx.ml", op, inputs, attrs, outputs, atol)


def old(opset, op, inputs, outputs=1, suffix="", constants=(), **attrs):
    add("%s_%d%s" % (op, opset, suffix), "", op, inputs, attrs, outputs, 1e-6, constants, opset)


def fused_cases():
    ms("gelu", "Gelu", [f(3, 5)])
    ms("bias_gelu", "BiasGelu", [f(2, 3, 8), f(8)])
    ms("fast_gelu", "FastGelu", [f(2, 3, 8), f(8)])
    ms("fast_gelu_alone", "FastGelu", [f(4, 4)])
    ms("unique", "Unique", [np.array([3, 1, 3, 2, 1], np.float32)], outputs=3)
    places = np.array([[[[1.25, 0.1], [-1.4, 1.3]], [[0.7, -1.2], [0.2, 1.1]]]], np.float32)
    ms("grid_sample_border", "GridSample", [f(1, 2, 4, 5), places], mode="bicubic", padding_mode="border")
    ms("quick_gelu", "QuickGelu", [f(4, 4)], alpha=1.5)
    ms("fused_conv_relu", "FusedConv", [f(1, 3, 8, 8), f(4, 3, 3, 3), f(4)], activation="Relu", pads=[1, 1, 1, 1])
    ms("fused_conv_leaky", "FusedConv", [f(1, 3, 8, 8), f(4, 3, 3, 3)], activation="LeakyRelu", activation_params=[0.2], strides=[2, 2])
    ms("fused_conv_clip", "FusedConv", [f(1, 3, 6, 6), f(4, 3, 1, 1), f(4)], activation="Clip", activation_params=[-0.5, 0.5])
    ms("fused_conv_sum", "FusedConv", [f(1, 3, 6, 6), f(4, 3, 3, 3), f(4), f(1, 4, 4, 4)], activation="Relu")
    ms("fused_matmul", "FusedMatMul", [f(2, 5, 3), f(2, 4, 5)], transA=1, transB=1, alpha=0.5)
    ms("fused_gemm", "FusedGemm", [f(3, 4), f(4, 5), f(5)], activation="LeakyRelu", activation_alpha=0.1)
    ms("skip_layer_norm", "SkipLayerNormalization", [f(2, 3, 8), f(2, 3, 8), f(8), f(8), f(8)], epsilon=1e-5)
    ms("skip_layer_norm_sum", "SkipLayerNormalization", [f(2, 3, 8), f(2, 3, 8), f(8), f(8), f(8)], outputs=["y", "", "", "sum"],
       epsilon=1e-5)
    ms("skip_rms_norm", "SkipSimplifiedLayerNormalization", [f(2, 3, 8), f(2, 3, 8), f(8)], epsilon=1e-5)
    add("rms_norm", "", "SimplifiedLayerNormalization", [f(2, 3, 8), f(8)], dict(axis=-1, epsilon=1e-5), 1, 1e-5)
    ids, segments = rng.randint(0, 10, (2, 4)).astype(np.int32), rng.randint(0, 2, (2, 4)).astype(np.int32)
    mask = np.array([[1, 1, 1, 0], [1, 1, 0, 0]], np.int32)
    ms("embed_layer_norm", "EmbedLayerNormalization", [ids, segments, f(10, 8), f(6, 8), f(2, 8), f(8), f(8), mask],
       outputs=["y", "lengths"], mask_index_type=1)
    ms("cdist", "CDist", [f(4, 3), f(5, 3)], metric="euclidean")
    ms("expand_dims", "ExpandDims", [f(4, 3), np.array(-1, np.int32)], constants=(1,))


def attention_cases():
    mask = np.array([[1, 1, 1, 0], [1, 1, 0, 0]], np.int32)
    for axis_mask, name in ((None, "plain"), (mask, "mask"), (np.array([3, 2], np.int32), "lengths")):
        inputs = [f(2, 4, 8), f(8, 24), f(24)] + ([] if axis_mask is None else [axis_mask])
        ms("attention_" + name, "Attention", inputs, num_heads=2, atol=1e-4)
    ms("attention_causal", "Attention", [f(2, 4, 8), f(8, 24), f(24)], num_heads=2, unidirectional=1, atol=1e-4)
    ms("attention_past", "Attention", [f(2, 3, 8), f(8, 24), f(24), None, f(2, 2, 2, 5, 4)], outputs=["y", "present"], num_heads=2,
       unidirectional=1, atol=1e-4)
    ms("attention_sizes", "Attention", [f(2, 4, 8), f(8, 20), f(20)], num_heads=2, qkv_hidden_sizes=[8, 8, 4], atol=1e-4)
    ms("multi_head", "MultiHeadAttention", [f(2, 4, 8), f(2, 6, 8), f(2, 6, 8)], num_heads=2, atol=1e-4)
    ms("multi_head_bias", "MultiHeadAttention", [f(2, 4, 8), f(2, 4, 8), f(2, 4, 8), f(24)], num_heads=2, atol=1e-4)
    ms("multi_head_mask", "MultiHeadAttention", [f(2, 4, 8), f(2, 4, 8), f(2, 4, 8), None, mask], num_heads=2, atol=1e-4)
    ms("multi_head_attention_bias", "MultiHeadAttention", [f(2, 4, 8), f(2, 6, 8), f(2, 6, 8), None, None, f(1, 2, 4, 6)], num_heads=2,
       atol=1e-4)
    ms("multi_head_by_head", "MultiHeadAttention", [f(2, 4, 8), f(2, 2, 6, 4), f(2, 2, 6, 4)], num_heads=2, atol=1e-4)
    ms("q_attention", "QAttention", [u8(2, 4, 8), s8(8, 24), f(24), scale(0.01), scale(0.02), None, zero(128), zero(0, np.int8)],
       num_heads=2,
       atol=1e-3)
    ms("rotary", "RotaryEmbedding", [f(2, 4, 8), np.array([[0, 1, 2, 3], [2, 3, 4, 5]]), f(10, 2), f(10, 2)], num_heads=2)
    ms("rotary_first_position", "RotaryEmbedding", [f(2, 4, 8), np.array([3]), f(10, 2), f(10, 2)], num_heads=2, interleaved=1)


def quantized_cases():
    q = (scale(0.05), zero(128))
    ms("qlinear_add", "QLinearAdd", [u8(2, 3), *q, u8(2, 3), scale(0.03), zero(100), scale(0.07), zero(120)], atol=1)
    ms("qlinear_mul", "QLinearMul", [s8(2, 3), scale(0.05), zero(3, np.int8), s8(3), scale(0.03), zero(-4, np.int8), scale(0.1), zero(5,
       np.int8)],
       atol=1)
    ms("qlinear_sigmoid", "QLinearSigmoid", [u8(2, 9), *q, scale(1 / 256), zero(0)], constants=(1, 2, 3, 4), atol=1)
    ms("qlinear_leaky_relu", "QLinearLeakyRelu", [u8(2, 9), *q, scale(0.04), zero(110)], constants=(1, 2, 3, 4), alpha=0.1, atol=1)
    ms("qlinear_average_pool", "QLinearAveragePool", [u8(1, 2, 6, 6), *q, scale(0.05), zero(128)], kernel_shape=[3, 3], strides=[2, 2],
       atol=1)
    ms("qlinear_average_pool_last", "QLinearAveragePool", [u8(1, 6, 6, 2), *q, scale(0.05), zero(128)], kernel_shape=[3, 3],
       channels_last=1, atol=1)
    ms("qlinear_global_pool", "QLinearGlobalAveragePool", [u8(1, 2, 6, 6), *q, scale(0.04), zero(128)], atol=1)
    ms("qlinear_concat", "QLinearConcat", [*q, u8(2, 3), scale(0.04), zero(100), u8(2, 2), scale(0.06), zero(128)], axis=1,
       constants=(3, 4, 6, 7), atol=1)
    ms("qlinear_softmax", "QLinearSoftmax", [u8(2, 7), *q, scale(1 / 256), zero(0)], constants=(1, 2, 3, 4), axis=-1, opset=13, atol=1)
    ms("qlinear_where", "QLinearWhere", [np.array([True, False, True]), u8(3), *q, u8(3), scale(0.02), zero(7), scale(0.06), zero(99)],
       constants=(2, 3, 5, 6, 7, 8), atol=1)
    ms("q_gemm", "QGemm", [u8(3, 4), *q, s8(4, 5), scale(0.02), zero(0, np.int8), rng.randint(-99, 99, 5).astype(np.int32), scale(0.3),
       zero(100)],
       transB=0, atol=1)
    ms("q_gemm_float", "QGemm", [u8(3, 4), *q, s8(5, 4), scale(0.02), zero(0, np.int8)], transB=1, alpha=0.5, atol=1e-4)
    ms("dynamic_quantize_matmul", "DynamicQuantizeMatMul", [f(3, 8), s8(8, 5), scale(0.02), zero(0, np.int8), f(5)], atol=1e-4)
    ms("matmul_integer_to_float", "MatMulIntegerToFloat", [u8(3, 8), s8(8, 5), scale(0.05), scale(0.02), zero(130), zero(0, np.int8),
       f(5)], atol=1e-3)
    ms("matmul_4_bits", "MatMulNBits", [f(3, 64), u8(6, 2, 16), np.abs(f(6, 2)).reshape(-1)], constants=(1, 2), K=64, N=6, bits=4,
       block_size=32,
       atol=1e-3)
    ms("matmul_4_bits_zeros", "MatMulNBits", [f(3, 64), u8(6, 4, 8), np.abs(f(6, 4)).reshape(-1), u8(12)], constants=(1, 2, 3), K=64,
       N=6, bits=4,
       block_size=16, atol=1e-3)
    ms("matmul_8_bits", "MatMulNBits", [f(3, 64), u8(6, 2, 32), np.abs(f(6, 2)).reshape(-1)], constants=(1, 2), K=64, N=6, bits=8,
       block_size=32,
       atol=1e-2)
    ms("quantize", "QuantizeLinear", [f(3, 4), scale(0.02), zero(10000, np.uint16)], atol=1)
    ms("dequantize", "DequantizeLinear", [rng.randint(-9999, 9999, (3, 4)).astype(np.int16), scale(0.02), zero(7, np.int16)])


def ml_cases():
    ml("scaler", "Scaler", [f(3, 4)], offset=[0.1, 0.2, 0.3, 0.4], scale=[1.0, 2.0, 3.0, 4.0])
    for norm in ("MAX", "L1", "L2"):
        ml("normalizer_" + norm.lower(), "Normalizer", [np.abs(f(3, 4))], norm=norm)
    ml("imputer", "Imputer", [np.array([[1, np.nan, 3]], np.float32)], imputed_value_floats=[7.0, 8.0, 9.0],
       replaced_value_float=float("nan"))
    ml("imputer_ints", "Imputer", [np.array([[1, -1, 3]], np.int64)], imputed_value_int64s=[7], replaced_value_int64=-1)
    ml("feature_vectorizer", "FeatureVectorizer", [f(3, 2), f(3, 3)], inputdimensions=[2, 3])
    ml("label_encoder", "LabelEncoder", [np.array([3, 1, 9], np.int64)], keys_int64s=[1, 3], values_floats=[0.5, 1.5], default_float=-2.0)
    ml("label_encoder_floats", "LabelEncoder", [np.array([3, 1.5, np.nan], np.float32)], keys_floats=[1.5, float("nan")],
       values_int64s=[4, 5],
       default_int64=-7)
    ml("one_hot_encoder", "OneHotEncoder", [np.array([3, 1, 9], np.int64)], cats_int64s=[1, 3, 5], zeros=1)
    ml("linear_regressor", "LinearRegressor", [f(3, 4)], coefficients=[float(x) for x in range(8)], intercepts=[0.5, -0.5], targets=2)
    for kind in ("LINEAR", "POLY", "RBF", "SIGMOID"):
        ml("svm_regressor_" + kind.lower(), "SVMRegressor", [f(5, 4)], kernel_type=kind, kernel_params=[0.3, 0.5, 2.0], n_supports=3,
           support_vectors=[float(x) for x in f(12)], coefficients=[0.5, -1.5, 2.0], rho=[0.25], one_class=0)
    for transform in ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"):
        ml("linear_classifier_" + transform.lower(), "LinearClassifier", [f(5, 4)], outputs=2, coefficients=[float(x) for x in f(12)],
           intercepts=[0.5, -0.5, 0.0], classlabels_ints=[4, 5, 6], post_transform=transform)


def tree_cases():
    trees = dict(nodes_treeids=[0, 0, 0, 0, 0, 1, 1, 1], nodes_nodeids=[0, 1, 2, 3, 4, 0, 1, 2], nodes_featureids=[0, 1, 0, 0, 0, 1, 0,
    0],
                 nodes_values=[0.1, -0.3, 0.0, 0.0, 0.0, 0.2, 0.0, 0.0], nodes_truenodeids=[1, 3, 0, 0, 0, 1, 0, 0],
                 nodes_falsenodeids=[2, 4, 0, 0, 0, 2, 0, 0],
                 nodes_modes=["BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"])
    weights = dict(treeids=[0, 0, 0, 1, 1], nodeids=[2, 3, 4, 1, 2])
    for aggregate in ("SUM", "AVERAGE", "MIN", "MAX"):
        ml("tree_regressor_" + aggregate.lower(), "TreeEnsembleRegressor", [f(9, 2)], **trees, target_treeids=weights["treeids"],
           target_nodeids=weights["nodeids"], target_ids=[0] * 5, target_weights=[1.0, 2.0, -3.0, 4.0, 5.0], n_targets=1,
           base_values=[0.25],
           aggregate_function=aggregate)
    mixed = dict(trees, nodes_modes=["BRANCH_GT", "BRANCH_LT", "LEAF", "LEAF", "LEAF", "BRANCH_GTE", "LEAF", "LEAF"],
                 nodes_missing_value_tracks_true=[1, 0, 0, 0, 0, 1, 0, 0])
    x = f(9, 2)
    x[2, 0] = np.nan
    ml("tree_regressor_modes", "TreeEnsembleRegressor", [x], **mixed, target_treeids=weights["treeids"],
       target_nodeids=weights["nodeids"],
       target_ids=[0, 1, 0, 1, 0], target_weights=[1.0, 2.0, -3.0, 4.0, 5.0], n_targets=2)
    for name, ids, values, transform in (("three", [0, 1, 2, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5], "SOFTMAX"), ("binary", [0] * 5, [0.1,
                                         0.2, 0.3, 0.4, 0.5], "NONE"),
                                         ("binary_signed", [0] * 5, [0.1, -0.2, 0.3, -0.4, 0.5], "LOGISTIC")):
        labels = [3, 5, 8] if name == "three" else [0, 1]
        ml("tree_classifier_" + name, "TreeEnsembleClassifier", [f(9, 2)], outputs=2, **trees, class_treeids=weights["treeids"],
           class_nodeids=weights["nodeids"], class_ids=ids, class_weights=values, classlabels_int64s=labels, post_transform=transform)


def old_cases():
    x = f(2, 3, 4)
    for opset in (7, 9, 12):
        old(opset, "Add", [x, f(3, 1)])
        old(opset, "Concat", [f(2, 3), f(2, 2)], axis=1)
        old(opset, "Transpose", [x], perm=[2, 0, 1])
        old(opset, "Softmax", [x], axis=1)
        old(opset, "LogSoftmax", [x], axis=1)
        old(opset, "Hardmax", [x], axis=1)
        old(opset, "Squeeze", [f(1, 3, 1)], axes=[0])
        old(opset, "Squeeze", [f(1, 3, 1)], suffix="_all")
        old(opset, "Unsqueeze", [f(3, 4)], axes=[0, 3])
        old(opset, "Split", [f(6, 2)], outputs=3, axis=0)
        old(opset, "Split", [f(6, 2)], outputs=2, suffix="_sizes", axis=0, split=[2, 4])
        old(opset, "Flatten", [x], axis=2)
        old(opset, "ArgMax", [x], axis=1, keepdims=0)
        for reduction in ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare"):
            old(opset, "Reduce" + reduction, [np.abs(x)], axes=[0, 2], keepdims=0)
        old(opset, "Gather", [x, np.array([[0, 1], [1, 0]])], axis=1)
        old(opset, "Gemm", [f(3, 4), f(4, 5), f(5)], alpha=0.5, beta=2.0)
        old(opset, "BatchNormalization", [f(2, 3, 4), f(3), f(3), f(3), np.abs(f(3))], epsilon=1e-3)
        old(opset, "Dropout", [x])
        old(opset, "Clip" if opset < 11 else "Relu", [x], **({"min": -0.5, "max": 0.25} if opset < 11 else {}))
        old(opset, "Pow", [np.abs(x), f(4)])
        old(opset, "Cast", [x], to=7)
        old(opset, "MaxPool", [f(1, 2, 6, 6)], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
        old(opset, "AveragePool", [f(1, 2, 6, 6)], kernel_shape=[3, 3], count_include_pad=1, pads=[1, 1, 1, 1])
        old(opset, "PRelu", [x, np.abs(f(4))])
        old(opset, "Tile", [x, np.array([1, 2, 3])])
        old(opset, "InstanceNormalization", [f(2, 3, 4), f(3), f(3)])
    for opset in (7, 9):
        old(opset, "Slice", [x], starts=[0, -3], ends=[2, 1000], axes=[0, 2])
        old(opset, "TopK", [x], outputs=2, k=2, axis=1)
        old(opset, "Pad", [x], pads=[0, 1, 2, 0, -1, 1], value=1.5, mode="constant")
        old(opset, "Pad", [x], suffix="_reflect", pads=[0, 1, 2, 0, 1, 1], mode="reflect")
        old(opset, "Upsample", [f(1, 1, 2, 2)] + ([scale([1, 1, 2, 3])] if opset == 9 else []), mode="nearest", constants=(1,),
            **({"scales": [1.0, 1.0, 2.0, 3.0]} if opset < 9 else {}))
    old(10, "Slice", [x, np.array([0, -1]), np.array([2, -1000]), np.array([0, 2]), np.array([1, -2])], constants=(1, 2, 3, 4))
    old(10, "TopK", [x, np.array([2])], outputs=2, constants=(1,), axis=0)
    old(10, "Resize", [f(1, 1, 2, 2), scale([1, 1, 2, 2])], constants=(1,), mode="linear")
    old(9, "OneHot", [np.array([1, -1, 7]), np.array(5), np.array([2.0, 3.0], np.float32)], constants=(1,), axis=0)
    old(9, "ConstantOfShape", [np.array([2, 3])], constants=(0,))
    old(9, "Scatter", [f(3, 3), np.array([[1, 0, 2]]), f(1, 3)], axis=0)
    old(11, "Clip", [x, scale(-0.5), scale(0.25)])
    old(11, "Clip", [x, None, scale(0.25)], suffix="_upper")
    old(11, "Pad", [x, np.array([0, 1, 2, 0, 1, 1]), scale(2)], constants=(1,), mode="constant")
    old(11, "CumSum", [x, np.array(1)], constants=(1,), exclusive=1, reverse=1)
    old(11, "GatherND", [x, np.array([[0, 1], [1, 2]])])
    old(11, "ScatterElements", [f(3, 3), np.array([[1, 0, 2]]), f(1, 3)], axis=0)
    old(11, "Range", [np.array(1), np.array(10), np.array(3)], constants=(0, 1, 2))
    old(11, "Unique", [np.array([3, 1, 3, 2], np.float32)], outputs=4)
    old(13, "ReduceSum", [x, np.array([0, 2])], constants=(1,), keepdims=0)
    old(13, "Squeeze", [f(1, 3, 1), np.array([0])], constants=(1,))
    old(13, "Split", [f(6, 2), np.array([2, 4])], outputs=2, constants=(1,), axis=0)
    old(13, "Softmax", [x], axis=1)


def legacy_cases():
    """Operators that ONNX had for trial before opset 10."""
    x = f(2, 3, 5, 6)
    old(9, "Affine", [x], alpha=2.0, beta=0.5)
    old(8, "Affine", [x], suffix="_default")
    old(9, "Scale", [x], scale=-0.25)
    old(9, "ImageScaler", [x], scale=2.0, bias=[1.0, -2.0, 3.0])
    old(9, "Crop", [x], border=[1, 0, 2, 1])
    old(9, "Crop", [x], suffix="_size", border=[1, 2, 0, 0], scale=[2, 4])
    old(9, "ParametricSoftplus", [x], alpha=0.5, beta=2.0)
    old(9, "ScaledTanh", [x], alpha=0.5, beta=2.0)
    old(9, "ThresholdedRelu", [x], alpha=0.25)
    old(9, "DynamicSlice", [x, np.array([1, -3]), np.array([3, 100]), np.array([2, 3])], constants=(1, 2, 3))
    old(9, "DynamicSlice", [x, np.array([1, 1]), np.array([2, 3])], suffix="_leading", constants=(1, 2))
    for across in (0, 1):
        for variance in (0, 1):
            old(8, "MeanVarianceNormalization", [x], suffix="_%d%d" % (across, variance), across_channels=across,
                normalize_variance=variance)


def make_case(case, onnx, ort):
    name, domain, op, inputs, constants, attrs, outputs, atol, opset = case
    helper = onnx.helper
    given = {i: x for i, x in enumerate(inputs) if x is not None}
    names = ["" if x is None else "x%d" % i for i, x in enumerate(inputs)]
    out_names = outputs if isinstance(outputs, list) else ["y%d" % i for i in range(outputs)]
    node = helper.make_node(op, names, out_names, domain=domain, name=op, **attrs)
    fed = [i for i in given if i not in constants]
    values = [helper.make_tensor_value_info("x%d" % i, helper.np_dtype_to_tensor_dtype(given[i].dtype), given[i].shape) for i in fed]
    initializers = [onnx.numpy_helper.from_array(given[i], "x%d" % i) for i in given if i in constants]
    results = [helper.make_empty_tensor_value_info(n) for n in out_names if n]
    imports = [helper.make_opsetid("", opset if domain == "" else OPSETS[""])] + ([helper.make_opsetid(domain, opset)] if domain else [])
    model = helper.make_model(helper.make_graph([node], name, values, results, initializers), opset_imports=imports, ir_version=9)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    expected = session.run(None, {"x%d" % i: given[i] for i in fed})
    del model.graph.output[:]
    shown = [n for n in out_names if n]
    model.graph.output.extend(
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(e.dtype), e.shape) for n, e in zip(shown, expected))

    class Case:
        pass

    made = Case()
    made.name, made.model, made.data_sets, made.rtol, made.atol = name, model, [([given[i] for i in fed], expected)], 1e-3, atol
    return made


def main(out):
    try:
        import onnx
        import onnxruntime
    except ImportError as e:
        print("skipped: the Python package is missing: %s" % e)
        return 77
    for family in (fused_cases, attention_cases, quantized_cases, ml_cases, tree_cases, old_cases, legacy_cases):
        family()
    return export_cases.export(out, [make_case(c, onnx, onnxruntime) for c in cases], onnx, np)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
