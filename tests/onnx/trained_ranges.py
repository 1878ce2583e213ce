#!/usr/bin/env python3
"""Models trained with quantization keep their ranges: scales and zero points come out of the compiler as they went in.

trained_ranges.py MOTE [CASE...]
Makes ONNX QDQ models (8 and 16 bits, symmetric or not, one scale or one for each channel) whose ranges cut off much of what is computed,
as training may leave them: whoever calibrated again would give other numbers. Judged: every range in the compiled graph is one of the
model's, bit by bit; factors of products are input scale * weight scale / output scale; which operators compute with integers, and which
stay in float; results beside ONNX Runtime's, its optimisations off (DESIGN.md, section 10: 30 dB), and within steps of the output's scale;
where ranges are powers of two, the same codes.
Exit codes: 0 well, 1 not, 77 skipped (no onnx or onnxruntime in this Python).
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import onnxruntime as ort
    from onnx import TensorProto, helper, numpy_helper
except ImportError as e:
    print(f"SKIPPED: {e}")
    sys.exit(77)

LIMITS = {np.dtype(t): (np.iinfo(t).min, np.iinfo(t).max) for t in (np.int8, np.uint8, np.int16, np.uint16)}


class Net:
    """A model while it is written. Tensors are float; q() puts a quantize and dequantize behind one."""

    def __init__(self, seed, opset=19):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.constants, self.inputs, self.outputs = [], [], [], []
        self.opset, self.count = opset, 0
        self.ranges, self.factors, self.scale = set(), [], {}

    def name(self, kind):
        self.count += 1
        return f"{kind}{self.count}"

    def constant(self, value, kind="k"):
        name = self.name(kind)
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def op(self, kind, inputs, outputs=1, **attributes):
        names = [self.name(kind.lower()) for _ in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, name=names[0] + "_node", **attributes))
        return names[0] if outputs == 1 else names

    def input(self, shape):
        name = self.name("x")
        self.inputs.append((name, shape))
        return name

    def q(self, x, scale, zero, dtype=np.uint8):
        scale, zero = np.float32(scale), dtype(zero)
        s, z = self.constant(scale, "s"), self.constant(zero, "z")
        y = self.op("DequantizeLinear", [self.op("QuantizeLinear", [x, s, z]), s, z])
        self.ranges.add((float(scale), int(zero)))
        self.scale[y] = (scale, zero)
        return y

    def weights(self, shape, axis=0, zeros=None, dtype=np.int8, one_scale=False):
        lo, hi = LIMITS[np.dtype(dtype)]
        count = shape[axis]
        codes = self.rng.integers(max(lo, -127), hi + 1, shape).astype(dtype)
        fan = np.prod(shape) / count
        scales = (self.rng.uniform(0.5, 1.5, () if one_scale else count) / 64 / np.sqrt(fan)).astype(np.float32)
        zero = np.zeros(scales.shape, dtype) if zeros is None else np.asarray(zeros).astype(dtype)
        w = self.op("DequantizeLinear", [self.constant(codes, "w"), self.constant(scales, "ws"), self.constant(zero, "wz")], axis=axis)
        self.scale[w] = (scales, zero)
        return w

    def bias(self, x, w, count):
        scales = (self.scale[x][0] * self.scale[w][0]).astype(np.float32)
        codes = self.rng.integers(-2000, 2000, count).astype(np.int32)
        zero = np.zeros(scales.shape, np.int32)
        return self.op("DequantizeLinear", [self.constant(codes, "b"), self.constant(scales, "bs"), self.constant(zero, "bz")], axis=0)

    def product(self, kind, x, w, y_scale, y_zero, dtype=np.uint8, bias=None, **attributes):
        """A product between quantized tensors, and the factors it must have."""
        y = self.op(kind, [x, w] + ([bias] if bias else []), **attributes)
        self.factors.append(self.scale[x][0].astype(np.float64) * self.scale[w][0] / np.float32(y_scale))
        return self.q(y, y_scale, y_zero, dtype)

    def model(self):
        graph = helper.make_graph(self.nodes, "net", [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in self.inputs],
                                  [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in self.outputs], self.constants)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10)
        return onnx.shape_inference.infer_shapes(made)


def image(net, channels=4, scale=0.0213, zero=113, dtype=np.uint8):
    return net.q(net.input([1, channels, 9, 9]), scale, zero, dtype)


CASES = {}


def case(integers, floats=(), steps=1):
    """integers: operators that must be there; floats: nodes that inspect --quant must name between integer ones."""

    def add(f):
        CASES[f.__name__] = (f, integers, floats, steps)
        return f

    return add


@case(["q_conv"])
def conv_for_each_channel(n):
    x, w = image(n), n.weights((8, 4, 3, 3))
    return n.product("Conv", x, w, 0.0171, 99, bias=n.bias(x, w, 8), pads=[1, 1, 1, 1])


@case(["q_conv"])
def conv_one_scale_and_relu(n):
    x, w = image(n, scale=0.02, zero=-3, dtype=np.int8), n.weights((8, 4, 3, 3), one_scale=True)
    y = n.op("Relu", [n.op("Conv", [x, w, n.bias(x, w, 8)], strides=[2, 2])])
    n.factors.append(np.float64(n.scale[x][0]) * n.scale[w][0] / np.float32(0.011))
    return n.q(y, 0.011, -128, np.int8)


@case(["q_conv"])
def conv_with_zero_points_of_weights(n):
    x = image(n)
    w = n.weights((8, 4, 1, 1), zeros=np.arange(8) * 5 + 100, dtype=np.uint8)
    return n.product("Conv", x, w, 0.0331, 7, bias=n.bias(x, w, 8))


@case(["q_conv"])
def depthwise(n):
    x, w = image(n, 8), n.weights((8, 1, 3, 3))
    return n.product("Conv", x, w, 0.0095, 140, bias=n.bias(x, w, 8), group=8, pads=[1, 1, 1, 1])


@case(["q_conv"])
def conv_of_16_bits(n):
    n.opset = 21
    x, w = image(n, scale=0.00011, zero=0, dtype=np.int16), n.weights((8, 4, 3, 3))
    return n.product("Conv", x, w, 0.00009, 0, np.int16, bias=n.bias(x, w, 8), pads=[1, 1, 1, 1])


@case(["q_matmul"])
def gemm(n):
    x, w = n.q(n.input([3, 20]), 0.017, 121), n.weights((8, 20))
    return n.product("Gemm", x, w, 0.0123, 77, bias=n.bias(x, w, 8), transB=1)


@case(["q_matmul"])
def matmul_of_columns(n):
    x, w = n.q(n.input([2, 5, 16]), 0.0191, -11, np.int8), n.weights((16, 8), axis=1)
    return n.product("MatMul", x, w, 0.0103, 13, np.int8)


@case(["q_conv_transpose"])
def conv_transpose(n):
    x, w = image(n), n.weights((4, 6, 2, 2), axis=1, one_scale=True)
    return n.product("ConvTranspose", x, w, 0.0157, 131, strides=[2, 2])


@case(["q_add"])
def add(n):
    return n.q(n.op("Add", [image(n), image(n, scale=0.031, zero=90)]), 0.0277, 101)


@case(["q_sub"])
def sub(n):
    return n.q(n.op("Sub", [image(n), image(n, scale=0.031, zero=90)]), 0.0277, 101)


@case(["q_mul"])
def mul(n):
    return n.q(n.op("Mul", [image(n), image(n, scale=0.031, zero=90)]), 0.0377, 33)


@case(["q_concat"])
def concat_of_other_ranges(n):
    return n.q(n.op("Concat", [image(n), image(n, scale=0.031, zero=90)], axis=1), 0.0251, 101)


@case(["quantize"])  # both are written where the result lies
def concat_of_one_range(n):
    return n.q(n.op("Concat", [image(n), image(n)], axis=1), 0.0213, 113)


@case(["max_pool"])
def max_pool(n):
    return n.q(n.op("MaxPool", [image(n)], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]), 0.0213, 113)


@case(["q_avg_pool"])
def average_pool(n):
    return n.q(n.op("AveragePool", [image(n)], kernel_shape=[3, 3], strides=[1, 1]), 0.0123, 97)


@case(["q_reduce"])
def global_average_pool(n):
    return n.q(n.op("GlobalAveragePool", [image(n)]), 0.0039, 120)


@case(["resize"])
def resize_nearest(n):
    sizes = n.constant(np.array([1, 1, 2, 2], np.float32))
    return n.q(n.op("Resize", [image(n), "", sizes], mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
               0.0213, 113)


@case(["resize"], floats=["resize7_node"])
def resize_linear(n):
    sizes = n.constant(np.array([1, 1, 2, 2], np.float32))
    return n.q(n.op("Resize", [image(n), "", sizes], mode="linear", coordinate_transformation_mode="half_pixel"), 0.0213, 113)


@case(["softmax"], floats=["softmax"])
def softmax(n):
    return n.q(n.op("Softmax", [n.q(n.input([4, 30]), 0.041, 120)], axis=-1), 1 / 256, 0)


@case(["q_lut"])
def sigmoid_and_tanh(n):
    x = n.q(n.op("Sigmoid", [image(n)]), 1 / 256, 0)
    return n.q(n.op("Tanh", [x]), 1 / 128, 3)


@case(["q_lut"])
def hard_swish(n):
    return n.q(n.op("HardSwish", [image(n)]), 0.0151, 40)


@case(["q_lut"])
def leaky_relu(n):
    return n.q(n.op("LeakyRelu", [image(n)], alpha=0.125), 0.0177, 60)


@case(["transpose"])
def moves(n):
    x = n.op("Transpose", [image(n)], perm=[0, 2, 3, 1])
    return n.q(n.op("Reshape", [n.q(x, 0.0213, 113), n.constant(np.array([9, -1], np.int64))]), 0.0213, 113)


@case(["q_lut"])
def another_range(n):
    return n.q(image(n), 0.0301, 88)


@case(["q_conv", "q_add"], steps=2)
def residual_block(n):
    x, w, v = image(n, 8), n.weights((8, 8, 3, 3)), n.weights((8, 8, 3, 3))
    y = n.op("Clip", [n.op("Conv", [x, w, n.bias(x, w, 8)], pads=[1, 1, 1, 1]), n.constant(np.float32(0)), n.constant(np.float32(6))])
    n.factors.append(np.float64(n.scale[x][0]) * n.scale[w][0] / np.float32(0.0087))
    y = n.q(y, 0.0087, 0)
    y = n.product("Conv", y, v, 0.0191, 103, bias=n.bias(y, v, 8), pads=[1, 1, 1, 1])
    return n.q(n.op("Add", [y, x]), 0.0261, 109)


@case(["q_conv"], floats=["erf", "instancenorm"], steps=3)
def island(n):
    x, w = image(n), n.weights((8, 4, 1, 1))
    y = n.product("Conv", x, w, 0.0171, 99, bias=n.bias(x, w, 8))
    ones, zeros = n.constant(np.ones(8, np.float32)), n.constant(np.zeros(8, np.float32))
    y = n.q(n.op("InstanceNormalization", [n.op("Erf", [y]), ones, zeros]), 0.019, 127)
    v = n.weights((4, 8, 1, 1))
    return n.product("Conv", y, v, 0.0143, 118, bias=n.bias(y, v, 4))


# Ranges that are powers of two: floats compute exactly, many results are ties, and every code must be the one of ONNX Runtime.
def exact(net, shape=(1, 4, 8, 8), scale=0.125, zero=113, dtype=np.uint8):
    return net.q(net.input(list(shape)), scale, zero, dtype)


def exact_weights(net, shape, axis=0):
    scale = net.constant(np.full(shape[axis], 2.0**-5, np.float32), "ws")
    codes = net.constant(net.rng.integers(-12, 13, shape).astype(np.int8), "w")
    w = net.op("DequantizeLinear", [codes, scale, net.constant(np.zeros(shape[axis], np.int8), "wz")], axis=axis)
    net.scale[w] = (np.full(shape[axis], 2.0**-5, np.float32), 0)
    return w


@case(["q_avg_pool"], steps=0)
def ties_of_average_pool(n):
    return n.q(n.op("AveragePool", [exact(n)], kernel_shape=[2, 2], strides=[1, 1]), 0.125, 113)


@case(["q_avg_pool"], steps=0)
def ties_of_average_pool_of_other_ranges(n):
    x = exact(n, zero=-7, dtype=np.int8)
    return n.q(n.op("AveragePool", [x], kernel_shape=[4, 2], strides=[2, 1], pads=[1, 1, 1, 1], count_include_pad=1), 0.0625, 5, np.int8)


@case(["q_avg_pool"], steps=0)
def ties_of_average_pool_of_16_bits(n):
    n.opset = 21
    x = exact(n, scale=2.0**-11, zero=0, dtype=np.int16)
    return n.q(n.op("AveragePool", [x], kernel_shape=[2, 2], strides=[1, 1]), 2.0**-11, 0, np.int16)


@case(["q_reduce"], steps=0)
def ties_of_global_average_pool(n):
    return n.q(n.op("GlobalAveragePool", [exact(n, (64, 9, 2, 2))]), 0.125, 113)


@case(["q_reduce"], steps=0)
def ties_of_sum(n):
    axes = n.constant(np.array([1], np.int64))
    return n.q(n.op("ReduceSum", [exact(n, scale=0.0625), axes]), 0.125, 90)


@case(["q_add"], steps=0)
def ties_of_add(n):
    return n.q(n.op("Add", [exact(n), exact(n, zero=90)]), 0.25, 101)


@case(["q_sub"], steps=0)
def ties_of_sub(n):
    return n.q(n.op("Sub", [exact(n), exact(n, scale=0.0625, zero=90)]), 0.25, 101)


@case(["q_mul"], steps=0)
def ties_of_mul(n):
    return n.q(n.op("Mul", [exact(n), exact(n, zero=90)]), 0.125, 33)


@case(["q_concat"], steps=0)
def ties_of_concat(n):
    return n.q(n.op("Concat", [exact(n), exact(n, scale=0.0625, zero=90)], axis=1), 0.25, 101)


@case(["q_lut"], steps=0)
def ties_of_another_range(n):
    return n.q(exact(n), 0.25, 88)


@case(["q_conv"], steps=0)
def ties_of_conv(n):
    x, w = exact(n), exact_weights(n, (8, 4, 3, 3))
    return n.product("Conv", x, w, 0.25, 99, bias=n.bias(x, w, 8), pads=[1, 1, 1, 1])


@case(["q_conv"], steps=0)
def ties_of_depthwise(n):
    x, w = exact(n), exact_weights(n, (4, 1, 3, 3))
    return n.product("Conv", x, w, 0.125, 99, group=4)


@case(["q_matmul"], steps=0)
def ties_of_matmul(n):
    x, w = exact(n, (2, 5, 16), zero=-11, dtype=np.int8), exact_weights(n, (16, 8), axis=1)
    return n.product("MatMul", x, w, 0.125, 13, np.int8)


NUMBER = r"[-+0-9.eEinfa]+"


def numbers(text):
    return [float(v) for v in re.findall(NUMBER, text)]


def check_graph(text, net):
    """Ranges of quantize and dequantize nodes, zero points and factors of products, from the printed graph."""
    wrong = []
    known = {(np.float32(s), z) for s, z in net.ranges}
    for scale, zero in re.findall(r"= (?:de)?quantize\([%@][^,]*, f32\[\]\{(" + NUMBER + r")\}(?:, [su]\d+\[\]\{(-?\d+)\})?\)", text):
        if (np.float32(scale), int(zero or 0)) not in known:
            wrong.append(f"a range of scale {scale}, zero point {zero or 0} is none of the model's")
    zeros = {z for _, z in net.ranges} | {0}
    for zero in re.findall(r"(?:input|output)_zero=(-?\d+)", text):
        if int(zero) not in zeros:
            wrong.append(f"zero point {zero} is none of the model's")
    bias, factors = r"(?:s(?:32|64)\[\d+\]\{[^}]*\}, )?", r"f32\[\d*\]\{([^}]*)\}"
    found = [numbers(f) for f in re.findall(r"q_(?:conv|matmul|conv_transpose)\([^{]*" + bias + factors, text)]
    for expected in net.factors:
        expected = np.atleast_1d(expected)
        if not any(np.allclose(np.broadcast_to(f, max(len(f), len(expected))), expected, rtol=3e-7, atol=0)
                   for f in found if len(f) in (1, len(expected)) or len(expected) == 1):
            wrong.append(f"no product has the factors {expected[:3]}...; found {[f[:3] for f in found]}")
    return wrong


def run(mote, name, folder):
    make, integers, floats, steps = CASES[name]
    net = Net(sum(name.encode()))
    net.outputs = [make(net)]
    path, program = folder / f"{name}.onnx", folder / f"{name}.mote"
    onnx.save(net.model(), path)
    made = subprocess.run([mote, "compile", path, "-o", program, "--golden-examples", "0", "--print-after", "pack"], capture_output=True,
                          text=True, check=False)
    if made.returncode != 0:
        return [made.stderr.strip()[-300:]]
    wrong = check_graph(made.stdout + made.stderr, net)
    ops = json.loads(subprocess.run([mote, "inspect", program, "--json"], capture_output=True, text=True, check=True).stdout)["ops"]
    wrong += [f"no {i}; has {sorted(ops)}" for i in integers if f"mote::{i}" not in ops]
    shown = subprocess.run([mote, "inspect", program, "--quant"], capture_output=True, text=True, check=True).stdout
    wrong += [f"inspect --quant does not name {f}: {shown}" for f in floats if f not in shown]
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    noise = signal = 0.0
    furthest = 0.0
    for trial in range(4):
        feeds = {n: net.rng.normal(0, 1.5, s).astype(np.float32) for n, s in net.inputs}
        expected = session.run(None, feeds)[0].astype(np.float64)
        command = [mote, "run", program, "--output", folder]
        for n, v in feeds.items():
            np.save(folder / f"{n}.npy", v)
            command += ["--input", f"{n}={folder / n}.npy"]
        subprocess.run([str(c) for c in command], check=True, capture_output=True)
        found = np.load(folder / f"{net.outputs[0]}.npy").astype(np.float64)
        noise, signal = noise + np.sum((found - expected) ** 2), signal + np.sum(expected**2)
        furthest = max(furthest, np.max(np.abs(found - expected)) / float(net.scale[net.outputs[0]][0]))
    db = 10 * np.log10(signal / noise) if noise else float("inf")
    if signal == 0 or db < 30:
        wrong.append(f"{db:.1f} dB beside ONNX Runtime, expected 30")
    if furthest > steps + 0.01:
        wrong.append(f"{furthest:.2f} steps of the output's scale from ONNX Runtime, allowed {steps}")
    print(f"{name:36} {db:6.1f} dB  {furthest:4.2f} steps  {'' if not wrong else 'WRONG'}", flush=True)
    return [f"{name}: {w}" for w in wrong]


def main():
    mote, names = sys.argv[1], sys.argv[2:] or list(CASES)
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            wrong += run(mote, name, pathlib.Path(folder))
    print(f"{len(names)} cases, {len(wrong)} findings")
    sys.exit("\n".join(wrong) if wrong else 0)


if __name__ == "__main__":
    main()
