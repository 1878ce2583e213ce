"""Small TensorFlow Lite models for the fuzzers: the single operators of tests/tflite, and some networks of several."""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tflite"))
import move_cases  # noqa: E402,F401
import numpy_cases  # noqa: E402,F401
import recurrent_cases  # noqa: E402,F401
import stablehlo_cases  # noqa: E402,F401
from flatbuffers import flexbuffers  # noqa: E402
from op_cases import CASES, Graph, Op, Tensor  # noqa: E402
from tflite_writer import write  # noqa: E402

# Operators whose float, hybrid and integer forms take different ways through the front end.
MANY_WAYS = ("CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV", "FULLY_CONNECTED", "BATCH_MATMUL", "UNIDIRECTIONAL_SEQUENCE_LSTM", "SVDF")


def single_operators(every):
    chosen = {}
    for name in CASES:
        code = name.split()[0]
        if every or code in MANY_WAYS or code not in chosen:
            chosen[name if every or code in MANY_WAYS else code] = name
        elif name.endswith(" int8"):
            chosen[code] = name  # quantization is one more thing to get wrong
    for name in chosen.values():
        yield name.replace(" ", "_"), CASES[name](np.random.default_rng(1))


def quantized(shape, scale=0.05, zero=3):
    return Tensor(shape, "int8", scale=scale, zero=zero)


def conv_options(padding, stride, activation):
    return dict(padding=padding, stride_w=stride, stride_h=stride, fused_activation_function=activation, dilation_w_factor=1,
                dilation_h_factor=1)


def residual(rng):
    """conv, conv, add, pool, fully connected, softmax; int8."""
    x, a, b, s, p = (quantized([1, 4, 4, 4]) for _ in range(5))
    p.shape = [1, 1, 1, 4]
    flat, scores, y = quantized([1, 4]), quantized([1, 3]), quantized([1, 3], 1 / 256, -128)
    conv = ("Conv2DOptions", conv_options(0, 1, 1))
    ops = []
    for source, target in ((x, a), (a, b)):
        w = Tensor.const(rng.integers(-127, 128, (4, 3, 3, 4)).astype(np.int8), scale=[0.01, 0.02, 0.03, 0.04], zero=0)
        bias = Tensor.const(rng.integers(-99, 99, 4).astype(np.int32), scale=[0.0005, 0.001, 0.0015, 0.002])
        ops.append(Op("CONV_2D", [source, w, bias], [target], conv))
    w = Tensor.const(rng.integers(-127, 128, (3, 4)).astype(np.int8), scale=0.01)
    pool = dict(padding=1, stride_w=4, stride_h=4, filter_width=4, filter_height=4, fused_activation_function=0)
    ops += [Op("ADD", [x, b], [s], ("AddOptions", dict(fused_activation_function=1))),
            Op("AVERAGE_POOL_2D", [s], [p], ("Pool2DOptions", pool)),
            Op("RESHAPE", [p, Tensor.const(np.int32([1, 4]))], [flat], ("ReshapeOptions", dict(new_shape=[1, 4]))),
            Op("FULLY_CONNECTED", [flat, w, None], [scores], ("FullyConnectedOptions", dict(fused_activation_function=0))),
            Op("SOFTMAX", [scores], [y], ("SoftmaxOptions", dict(beta=1.0)))]
    return [Graph(ops, [x], [y])]


def half_weights(rng):
    """f16 weights, dequantized; pad into the convolution; a mean and a split behind it."""
    x, padded, y = Tensor([1, 5, 5, 2]), Tensor([1, 7, 7, 2]), Tensor([1, 3, 3, 4])
    w16, w = Tensor.const(rng.standard_normal((4, 3, 3, 2)).astype(np.float16)), Tensor([4, 3, 3, 2])
    m, parts = Tensor([1, 4]), [Tensor([1, 2]), Tensor([1, 2])]
    pads = Tensor.const(np.int32([[0, 0], [1, 1], [1, 1], [0, 0]]))
    ops = [Op("DEQUANTIZE", [w16], [w]), Op("PAD", [x, pads], [padded], ("PadOptions", {})),
           Op("CONV_2D", [padded, w, Tensor.const(np.zeros(4, np.float32))], [y], ("Conv2DOptions", conv_options(1, 2, 3))),
           Op("MEAN", [y, Tensor.const(np.int32([1, 2]))], [m], ("ReducerOptions", dict(keep_dims=False))),
           Op("SPLIT", [Tensor.const(np.int32(1)), m], parts, ("SplitOptions", dict(num_splits=2)))]
    return [Graph(ops, [x], parts)]


def detection(rng):
    """The custom operator behind detectors, its options a flexbuffer."""
    boxes, scores, anchors = Tensor([1, 6, 4]), Tensor([1, 6, 3]), Tensor.const(rng.uniform(0.1, 0.9, (6, 4)).astype(np.float32))
    out = [Tensor([1, 4, 4]), Tensor([1, 4]), Tensor([1, 4]), Tensor([1])]
    options = {"max_detections": 4, "max_classes_per_detection": 1, "detections_per_class": 4, "use_regular_nms": 0, "num_classes": 2,
               "nms_score_threshold": 0.1, "nms_iou_threshold": 0.5, "y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0}
    op = Op("CUSTOM", [boxes, scores, anchors], out, custom="TFLite_Detection_PostProcess",
            custom_options=bytes(flexbuffers.Dumps(options)))
    return [Graph([op], [boxes, scores], out)]


def seeds(every=False):
    """(name, bytes) of each."""
    for name, graphs in single_operators(every):
        yield name, write(graphs)
    for make in (residual, half_weights, detection):
        yield make.__name__, write(make(np.random.default_rng(1)))
