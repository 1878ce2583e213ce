"""Writes cases of convolutions, pools, norms, recurrent layers, quantized products and resizing in forms and opsets that the onnx package
has no tests for, with ONNX Runtime's results: python export_nn_cases.py OUT_DIR.
"""
import sys

import export_cases
from export_runtime_cases import cases, f, make_case, np, old, s8, scale, u8, zero


def conv_cases():
    for opset in (7, 11):
        for n, shape in (("1d", (9,)), ("2d", (9, 8)), ("3d", (5, 6, 7))):
            rank = len(shape)
            x, w, b = f(2, 4, *shape), f(6, 2, *([3] * rank)), f(6)
            for pad in ("SAME_UPPER", "SAME_LOWER", "VALID"):
                old(opset, "Conv", [x, w, b], suffix="_%s_%s" % (n, pad), auto_pad=pad, group=2, strides=[2] * rank)
            old(opset, "Conv", [x, w], suffix="_%s_dilated" % n, group=2, dilations=[2] * rank, pads=[1] * rank + [2] * rank)
            wt = f(4, 3, *([3] * rank))
            old(opset, "ConvTranspose", [x, wt, b], suffix="_%s_group" % n, group=2, strides=[2] * rank, pads=[1] * 2 * rank,
                output_padding=[1] * rank)
            old(opset, "ConvTranspose", [x, wt], suffix="_%s_dilated" % n, group=2, dilations=[2] * rank)
    x, w = f(1, 2, 5, 5), f(2, 3, 3, 3)
    for pad in ("SAME_UPPER", "SAME_LOWER"):
        old(11, "ConvTranspose", [x, w], suffix="_" + pad, auto_pad=pad, strides=[2, 2])
        old(11, "ConvTranspose", [x, w], suffix="_shape_" + pad, auto_pad=pad, strides=[3, 2], output_shape=[14, 11])
    old(11, "ConvTranspose", [x, w], suffix="_shape", strides=[3, 2], output_shape=[16, 12])
    old(11, "Conv", [f(1, 1, 6, 6), f(1, 1, 1, 1)], suffix="_kernel_1", strides=[2, 2])


def pool_cases():
    x = f(2, 3, 9, 8)
    for opset in (8, 10, 12):
        old(opset, "MaxPool", [x], outputs=2, suffix="_indices", kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1])
        old(opset, "MaxPool", [x], outputs=2, suffix="_columns", kernel_shape=[3, 2], strides=[2, 2], storage_order=1)
    old(10, "MaxPool", [x], suffix="_ceil_dilated", kernel_shape=[3, 2], strides=[2, 2], dilations=[2, 1], ceil_mode=1)
    old(12, "MaxPool", [s8(1, 2, 7, 7)], suffix="_s8", kernel_shape=[3, 3])
    old(11, "MaxPool", [f(1, 2, 9)], outputs=2, suffix="_1d", kernel_shape=[4], strides=[3])
    old(11, "MaxPool", [f(1, 2, 5, 6, 4)], outputs=2, suffix="_3d", kernel_shape=[2, 3, 2])
    for include in (0, 1):
        old(10, "AveragePool", [x], suffix="_ceil_%d" % include, kernel_shape=[3, 3], strides=[2, 3], ceil_mode=1, pads=[1, 1, 0, 1],
            count_include_pad=include)
        old(19, "AveragePool", [x], suffix="_dilated_%d" % include, kernel_shape=[3, 3], dilations=[2, 2], pads=[1, 1, 1, 1],
            count_include_pad=include)
    old(11, "AveragePool", [x], suffix="_same", kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_LOWER")
    for p in (1, 2, 3):
        old(11, "LpPool", [x], suffix="_p%d" % p, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], p=p)
        old(11, "GlobalLpPool", [x], suffix="_p%d" % p, p=p)
    for op in ("GlobalAveragePool", "GlobalMaxPool"):
        for shape in ((2, 3, 7), (2, 3, 4, 5), (2, 3, 4, 5, 2)):
            old(9, op, [f(*shape)], suffix="_%dd" % len(shape))
    boxes, batch = np.array([[0, 0, 5, 5], [1, 2, 7, 8], [3, 3, 4, 4]], np.float32), np.array([0, 1, 0])
    for opset, mode in ((10, "avg"), (10, "max"), (16, "avg")):
        old(opset, "RoiAlign", [x, boxes, batch], suffix="_" + mode, output_height=3, output_width=2, sampling_ratio=2, spatial_scale=0.9,
            mode=mode)


def norm_cases():
    x = f(2, 4, 5, 3)
    for opset in (7, 9, 14, 15):
        old(opset, "BatchNormalization", [x, f(4), f(4), f(4), np.abs(f(4))], suffix="_4d", epsilon=1e-3)
        old(opset, "BatchNormalization", [f(5, 4), f(4), f(4), f(4), np.abs(f(4))], suffix="_2d")
    old(17, "LayerNormalization", [x, f(5, 3), f(5, 3)], outputs=3, suffix="_axis", axis=-2)
    old(17, "LayerNormalization", [x, f(3)], suffix="_no_bias")
    old(13, "LRN", [f(2, 7, 4, 3)], size=5, alpha=0.1, beta=0.6, bias=1.5)
    old(13, "MeanVarianceNormalization", [x], axes=[1, 3])
    for p in (1, 2):
        old(1, "LpNormalization", [x], suffix="_p%d" % p, axis=1, p=p)
    old(6, "InstanceNormalization", [f(2, 3, 7), f(3), f(3)], suffix="_3d", epsilon=0.1)


def product_cases():
    for equation, shapes in (("bij,bjk->bik", ((2, 3, 4), (2, 4, 5))), ("ij,jk,kl->il", ((2, 3), (3, 4), (4, 5))),
                             ("...ij,...jk->...ik", ((5, 3, 4), (5, 4, 2))), ("ii->i", ((4, 4),)), ("ii", ((4, 4),)),
                             ("bijk->bk", ((2, 3, 4, 5),)), ("i,j->ij", ((3,), (4,))), ("bhwc,hkc->bhwk", ((2, 3, 4, 5), (3, 6, 5))),
                             ("abc,cd,def->abef", ((2, 3, 4), (4, 5), (5, 2, 3))), ("ij->ji", ((3, 4),)), ("i,i->", ((5,), (5,))),
                             ("b...d,d->b...", ((2, 3, 4), (4,))), ("ijk,jil->kl", ((2, 3, 4), (3, 2, 5)))):
        old(12, "Einsum", [f(*s) for s in shapes], suffix="_" + "".join(c if c.isalnum() else "_" for c in equation), equation=equation)
    for a, b in (((3,), (3,)), ((3,), (3, 4)), ((2, 3), (3,)), ((2, 4, 3), (3,)), ((3,), (2, 3, 4)), ((5, 1, 2, 3), (4, 3, 2))):
        old(9, "MatMul", [f(*a), f(*b)], suffix="_" + "_".join(map(str, a + (0,) + b)))
    for ta in (0, 1):
        for tb in (0, 1):
            for shape in ((), (1,), (5,), (4, 1), (4, 5)):
                bias = f(*shape) if shape else scale(f(1)[0])
                old(11, "Gemm", [f(*((3, 4) if ta else (4, 3))), f(*((5, 3) if tb else (3, 5))), bias],
                    suffix="_%d%d_%s" % (ta, tb, "x".join(map(str, shape))), alpha=0.5, beta=1.5, transA=ta, transB=tb)
    old(11, "Gemm", [f(4, 3), f(3, 5)], suffix="_no_bias")
    for known in ((), (1, 2, 3)):
        suffix = "_known" if known else ""
        old(10, "MatMulInteger", [u8(3, 4), s8(4, 5), zero(7), zero(0, np.int8)], suffix="_u8s8" + suffix, constants=known)
        old(10, "MatMulInteger", [u8(2, 3, 4), u8(4, 5), zero(7), u8(5)], suffix="_columns" + suffix, constants=known)
        old(10, "ConvInteger", [u8(1, 3, 6, 6), u8(4, 3, 3, 3), zero(120), zero(100)], suffix="_padded" + suffix, constants=known,
            pads=[1, 1, 1, 1])


def quantized_cases():
    for known in ((), (1, 2, 3, 4, 5, 6, 7, 8)):
        suffix = "_known" if known else ""
        for name, x, w, z in (("u8u8", u8, u8, np.uint8), ("u8s8", u8, s8, np.uint8), ("s8s8", s8, s8, np.int8)):
            wz = zero(0, np.int8) if w is s8 else zero(128)
            old(10, "QLinearConv", [x(1, 4, 7, 7), scale(0.02), zero(3, z), w(6, 2, 3, 3), scale(0.01), wz, scale(0.05), zero(5, z),
                                    np.arange(6, dtype=np.int32) * 50 - 100],
                suffix="_%s%s" % (name, suffix), constants=known, group=2, pads=[1, 1, 1, 1], strides=[2, 2])
            old(10, "QLinearMatMul", [x(2, 3, 8), scale(0.02), zero(3, z), w(8, 5), scale(0.01), wz, scale(0.07), zero(5, z)],
                suffix="_%s%s" % (name, suffix), constants=known)
        old(10, "QLinearConv", [u8(1, 3, 7, 7), scale(0.02), zero(128), s8(4, 3, 3, 3), scale([0.01, 0.02, 0.005, 0.03]),
                                np.zeros(4, np.int8), scale(0.05), zero(100)], suffix="_channels" + suffix, constants=known)
    x = f(2, 3, 4) * 3
    for opset in (10, 13, 19, 21):
        old(opset, "QuantizeLinear", [x, scale(0.03), zero(100)], suffix="_u8")
        old(opset, "QuantizeLinear", [x, scale(0.03), zero(-5, np.int8)], suffix="_s8", constants=(1, 2))
        old(opset, "QuantizeLinear", [x, scale(0.03)], suffix="_no_zero")
        old(opset, "DequantizeLinear", [u8(2, 3, 4), scale(0.03), zero(100)], suffix="_u8")
        old(opset, "DequantizeLinear", [np.array([-70000, 5, 90000], np.int32), scale(0.5)], suffix="_s32")
        if opset >= 13:
            old(opset, "QuantizeLinear", [x, scale([0.1, 0.2, 0.3]), zero([0, 5, -9], np.int8)], suffix="_axis", axis=1)
            old(opset, "DequantizeLinear", [s8(2, 3, 4), scale([0.1, 0.2, 0.3, 0.4]), zero([1, 2, 3, 4], np.int8)], suffix="_axis", axis=-1)
    old(11, "DynamicQuantizeLinear", [f(5, 7)], outputs=3)


def recurrent_cases():
    steps, batch, inputs, hidden = 5, 3, 4, 2
    lengths = np.array([5, 2, 4], np.int32)
    for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        for direction, d in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
            x, w, r = f(steps, batch, inputs), f(d, gates * hidden, inputs), f(d, gates * hidden, hidden)
            b, h = f(d, 2 * gates * hidden), f(d, batch, hidden)
            more = [h] + ([f(d, batch, hidden), f(d, 3 * hidden)] if op == "LSTM" else [])
            outputs = 3 if op == "LSTM" else 2
            common = dict(outputs=outputs, hidden_size=hidden, direction=direction)
            old(7, op, [x, w, r], suffix="_%s" % direction, **common)
            old(7, op, [x, w, r, b, lengths] + more, suffix="_%s_all" % direction, **common)
            old(14, op, [x, w, r, b, None] + more, suffix="_%s_clip" % direction, clip=0.4, **common)
            names = {"LSTM": ["HardSigmoid", "Softsign", "Tanh"], "GRU": ["Sigmoid", "LeakyRelu"], "RNN": ["Affine"]}[op] * d
            alpha = {"LSTM": [0.3], "GRU": [0.2], "RNN": [0.5]}[op] * d
            beta = {"LSTM": [0.4], "GRU": [], "RNN": [0.1]}[op] * d
            extra = dict(activations=names, activation_alpha=alpha)
            if beta:
                extra["activation_beta"] = beta
            old(14, op, [x, w, r, b], suffix="_%s_activations" % direction, **common, **extra)
        old(7, op, [f(steps, batch, inputs), f(1, gates * hidden, inputs), f(1, gates * hidden, hidden)], suffix="_last",
            outputs=["", "h"], hidden_size=hidden)
    old(7, "LSTM", [f(4, 2, 3), f(1, 8, 3), f(1, 8, 2)], suffix="_coupled", outputs=3, hidden_size=2, input_forget=1)
    for linear in (0, 1):
        old(7, "GRU", [f(4, 2, 3), f(1, 6, 3), f(1, 6, 2), f(1, 12)], suffix="_linear_%d" % linear, outputs=2, hidden_size=2,
            linear_before_reset=linear)


def resize_cases():
    x = f(1, 2, 5, 4)
    modes = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")
    for mode in ("nearest", "linear", "cubic"):
        for coordinates in modes:
            # ONNX Runtime rounds the size that align_corners divides by, which ONNX's own tests do not.
            exact = coordinates == "align_corners"
            up, down = [1, 1, 2 if exact else 2.5, 1.75], [1, 1, 0.8 if exact else 0.6, 0.5]
            for name, sizes, scales in (("up", None, up), ("down", None, down), ("sizes", [1, 2, 8, 3], None)):
                inputs = [x, None, scale(scales)] if sizes is None else [x, None, None, np.array(sizes)]
                old(13, "Resize", inputs, suffix="_%s_%s_%s" % (mode, coordinates, name), constants=(2, 3), mode=mode,
                    coordinate_transformation_mode=coordinates, **({"nearest_mode": "floor"} if mode == "nearest" else {}))
    for nearest in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
        old(13, "Resize", [x, None, scale([1, 1, 2, 2])], suffix="_" + nearest, constants=(2,), mode="nearest", nearest_mode=nearest)
    old(13, "Resize", [f(1, 2, 4, 3, 5), None, scale([1, 1, 2, 1.5, 0.6])], suffix="_3d", constants=(2,), mode="linear")
    old(13, "Resize", [f(6, 8), None, scale([1.5, 0.5])], suffix="_rank2", constants=(2,), mode="linear")
    old(13, "Resize", [f(3, 6, 8), None, scale([1, 1.5, 0.5])], suffix="_rank3", constants=(2,), mode="linear")
    old(18, "Resize", [x, None, None, np.array([9, 3])], suffix="_axes", constants=(3,), mode="linear", axes=[2, 3])
    # 5 * 1.8 is 9 where the product is rounded to f32, and below 9 where it is not.
    for mode in ("nearest", "cubic"):
        old(13, "Resize", [f(1, 3, 4, 5), None, scale([1, 1, 1.75, 1.8])], suffix="_rounded_" + mode, constants=(2,), mode=mode)
    grid = np.clip(f(1, 3, 2, 2), -1.2, 1.2)
    for padding in ("zeros", "border", "reflection"):
        for mode in ("bilinear", "nearest", "bicubic"):
            if (mode, padding) == ("bicubic", "border"):
                continue  # ONNX Runtime does not move places beyond the border first, as ONNX's reference does
            old(16, "GridSample", [x, grid], suffix="_%s_%s" % (mode, padding), mode=mode, padding_mode=padding, align_corners=0)


def wide_cases():
    """More operands than one of Mote's instructions can have."""
    old(13, "Concat", [f(2, n % 3) for n in range(140)], suffix="_wide", axis=1)
    old(13, "Split", [f(3, 60)], outputs=20, suffix="_wide", axis=1)
    old(13, "Split", [f(40, 2), np.arange(17) % 3 * 2 + np.array([8] + [0] * 16)], outputs=17, suffix="_wide_sizes", constants=(1,))


def main(out):
    try:
        import onnx
        import onnxruntime
    except ImportError as e:
        print("skipped: the Python package is missing: %s" % e)
        return 77
    for family in (conv_cases, pool_cases, norm_cases, product_cases, quantized_cases, recurrent_cases, resize_cases, wide_cases):
        family()
    made = []
    for case in cases:
        try:
            made.append(make_case(case, onnx, onnxruntime))
        except Exception as e:  # what ONNX Runtime itself does not run has no reference
            print("no reference for %s: %s" % (case[0], str(e).split("\n")[0][:150]))
    return export_cases.export(out, made, onnx, np)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
