"""Windows, matrix products, reductions, moves, control flow, variables: more of op_cases.CASES."""
import numpy as np
import tosa_serializer as ts
from op_cases import CASES, camel, case, maybe_nan, nan_mode, sizes
from tosa_graph import FLOATS, SHORT, Graph, attribute, random

SUMS = {"i8": "i32", "i16": "i48", "f32": "f32", "f16": "f16", "bf16": "bf16"}
ACCUMULATORS = {"i8": "i32", "i16": "i48", "f32": "f32", "f16": "f32", "bf16": "f32"}
EVERY = ("bool", "i8", "i16", "i32", "f32", "f16", "bf16")


def window(rng, spatial, dilated=True):
    """Input sizes, kernel, stride, dilation and pads that fit: the last window ends at the edge."""
    size, kernel, stride, dilation, pad, out = [], [], [], [], [], []
    for _ in range(spatial):
        k, s, d = int(rng.integers(1, 4)), int(rng.integers(1, 3)), int(rng.integers(1, 3)) if dilated else 1
        before, after = (int(n) for n in rng.integers(0, k, 2))
        o = int(rng.integers(1, 5))
        n = (o - 1) * s + (k - 1) * d + 1 - before - after
        while n < 1:
            o += 1
            n += s
        size.append(n), kernel.append(k), stride.append(s), dilation.append(d), pad.extend([before, after]), out.append(o)
    return size, kernel, stride, dilation, pad, out


def zero_points(g, rng, kind, weights="i8"):
    if kind in FLOATS:
        return [g.zero(0, kind), g.zero(0, kind)]
    return [g.zero(int(rng.integers(-128, 128)) if kind == "i8" else 0, kind), g.zero(0, weights)]


def conv(rng, kind, code, spatial, weights="i8"):
    g, (size, kernel, stride, dilation, pad, out) = Graph(), window(rng, spatial)
    n, c, oc = (int(v) for v in rng.integers(1, 5, 3))
    w_kind = kind if kind in FLOATS else weights
    x = g.random(rng, [n] + size + [c], kind)
    if code == "DEPTHWISE_CONV2D":
        w_shape, channels = kernel + [c, oc], c * oc
    else:
        w_shape, channels = [oc] + kernel + [c], oc
    lo = {"i8": -127, "i4": -7}.get(w_kind)
    w = g.const(random(rng, w_shape, w_kind, lo), w_kind)
    b = g.const(random(rng, [channels if rng.integers(0, 3) else 1], SUMS[kind]), SUMS[kind])
    attr = attribute({"CONV2D": "Conv2d", "CONV3D": "Conv3d"}.get(code, "DepthwiseConv2d"), pad, stride, dilation, False,
                     SHORT[ACCUMULATORS[kind]])
    g.sums(rng, code, attr, [x, w, b] + zero_points(g, rng, kind, w_kind), [n] + out + [channels], SUMS[kind])
    return g


for _code, _spatial in (("CONV2D", 2), ("CONV3D", 3), ("DEPTHWISE_CONV2D", 2)):
    for _kind in SUMS:
        CASES[f"{_code} {_kind}"] = lambda rng, k=_kind, c=_code, s=_spatial: conv(rng, k, c, s)
    CASES[f"{_code} i8 i4"] = lambda rng, c=_code, s=_spatial: conv(rng, "i8", c, s, "i4")


@case("CONV2D deep", "i16")
def deep_conv(rng, kind):
    g = Graph()
    x, w = g.random(rng, [1, 3, 3, 90], kind), g.const(random(rng, [2, 3, 3, 90], "i8", -127), "i8")
    b = g.const(random(rng, [2], "i48"), "i48")
    attr = attribute("Conv2d", [0, 0, 0, 0], [1, 1], [1, 1], False, SHORT["i48"])
    g.sums(rng, "CONV2D", attr, [x, w, b, g.zero(0, kind), g.zero(0, "i8")], [1, 1, 1, 2], "i48")
    return g


@case("TRANSPOSE_CONV2D", *SUMS)
def transpose_conv(rng, kind):
    g = Graph()
    n, c, oc, h, w = (int(v) for v in rng.integers(1, 5, 5))
    kernel, stride = [int(v) for v in rng.integers(1, 4, 2)], [int(v) for v in rng.integers(1, 3, 2)]
    pad = [int(v) for k in kernel for v in rng.integers(1 - k, 3, 2)]
    out = [(s - 1) * t + k + a + b for s, t, k, a, b in zip((h, w), stride, kernel, pad[::2], pad[1::2])]
    if min(out) < 1:
        pad, out = [0] * 4, [(s - 1) * t + k for s, t, k in zip((h, w), stride, kernel)]
    w_kind = kind if kind in FLOATS else "i8"
    weights = g.const(random(rng, [oc] + kernel + [c], w_kind, -127 if w_kind == "i8" else None), w_kind)
    bias = g.const(random(rng, [oc], SUMS[kind]), SUMS[kind])
    attr = attribute("TransposeConv2d", pad, stride, False, SHORT[ACCUMULATORS[kind]])
    inputs = [g.random(rng, [n, h, w, c], kind), weights, bias] + zero_points(g, rng, kind, w_kind)
    g.sums(rng, "TRANSPOSE_CONV2D", attr, inputs, [n] + out + [oc], SUMS[kind])
    return g


def matmul(rng, kind, out):
    g = Graph()
    n, h, c, w = (int(v) for v in rng.integers(1, 6, 4))
    zeros = [g.zero(int(rng.integers(-128, 128)) if kind == "i8" else 0, kind) for _ in range(2)]
    inputs = [g.random(rng, [n, h, c], kind), g.random(rng, [n, c, w], kind)] + zeros
    g.sums(rng, "MATMUL", attribute("MatMul"), inputs, [n, h, w], out)
    return g


for _kind, _out in (("i8", "i32"), ("i16", "i48"), ("f32", "f32"), ("f16", "f16"), ("f16", "f32"), ("bf16", "f32")):
    CASES[f"MATMUL {_kind} {_out}"] = lambda rng, k=_kind, o=_out: matmul(rng, k, o)


@case("AVG_POOL2D", "i8", "i16", *FLOATS)
def avg_pool(rng, kind):
    g, (size, kernel, stride, _, pad, out) = Graph(), window(rng, 2, False)
    n, c = (int(v) for v in rng.integers(1, 5, 2))
    zeros = [g.zero(int(rng.integers(-128, 128)) if kind == "i8" else 0, kind) for _ in range(2)]
    attr = attribute("AvgPool2d", kernel, stride, pad, SHORT["f32" if kind in FLOATS else "i32"])
    g.op("AVG_POOL2D", attr, [g.random(rng, [n] + size + [c], kind)] + zeros, [n] + out + [c], kind)
    return g


@case("AVG_POOL2D global", "i8", "i16")
def global_pool(rng, kind):
    g, (h, w, c) = Graph(), (int(v) for v in rng.integers(2, 9, 3))
    zeros = [g.zero(3 if kind == "i8" else 0, kind), g.zero(-5 if kind == "i8" else 0, kind)]
    attr = attribute("AvgPool2d", [h, w], [1, 1], [0, 0, 0, 0], SHORT["i32"])
    g.op("AVG_POOL2D", attr, [g.random(rng, [1, h, w, c], kind)] + zeros, [1, 1, 1, c], kind)
    return g


@case("MAX_POOL2D", "i8", "i16", *FLOATS)
def max_pool(rng, kind):
    g, (size, kernel, stride, _, pad, out) = Graph(), window(rng, 2, False)
    n, c = (int(v) for v in rng.integers(1, 5, 2))
    x = g.input(maybe_nan(rng, random(rng, [n] + size + [c], kind), kind), kind)
    g.op("MAX_POOL2D", attribute("MaxPool2d", kernel, stride, pad, nan_mode(rng, kind)), [x], [n] + out + [c], kind)
    return g


def reduction(code, kinds, nan=False, lo=None, hi=None):
    def make(rng, kind):
        g, s = Graph(), sizes(rng)
        axis = int(rng.integers(0, len(s)))
        array = random(rng, s, kind, lo, hi)
        args = [axis, nan_mode(rng, kind)] if nan else [axis]
        x = g.input(maybe_nan(rng, array, kind) if nan else array, kind)
        g.op(code, attribute(camel(code), *args), [x], [1 if i == axis else n for i, n in enumerate(s)], kind)
        return g

    case(code, *kinds)(make)


reduction("REDUCE_ALL", ("bool",))
reduction("REDUCE_ANY", ("bool",))
reduction("REDUCE_MAX", ("i8", "i16", "i32") + FLOATS, True)
reduction("REDUCE_MIN", ("i8", "i16", "i32") + FLOATS, True)
reduction("REDUCE_PRODUCT", FLOATS, False, 0.5, 1.5)
reduction("REDUCE_SUM", ("i32",) + FLOATS)


@case("ARGMAX", "i8", "i16", *FLOATS)
def argmax(rng, kind):
    g, s = Graph(), sizes(rng)
    axis = int(rng.integers(0, len(s)))
    array = random(rng, s, kind) if rng.integers(0, 2) else random(rng, s, kind, -2, 2)
    x = g.input(maybe_nan(rng, array, kind), kind)
    g.op("ARGMAX", attribute("ArgMax", axis, nan_mode(rng, kind)), [x], s[:axis] + s[axis + 1:], "i32")
    return g


@case("CONCAT", *EVERY)
def concat(rng, kind):
    g, s = Graph(), sizes(rng)
    axis, parts = int(rng.integers(0, len(s))), [int(n) for n in rng.integers(1, 4, int(rng.integers(1, 4)))]
    names = [g.random(rng, s[:axis] + [n] + s[axis + 1:], kind) for n in parts]
    g.op("CONCAT", attribute("Concat", axis), names, s[:axis] + [sum(parts)] + s[axis + 1:], kind)
    return g


@case("PAD", *EVERY)
def pad(rng, kind):
    g, s = Graph(), sizes(rng)
    pads = [int(n) for n in rng.integers(0, 3, 2 * len(s))]
    out = [n + a + b for n, a, b in zip(s, pads[::2], pads[1::2])]
    g.op("PAD", attribute("Pad"), [g.random(rng, s, kind), g.shape(pads), g.const(random(rng, [1], kind), kind)], out, kind)
    return g


@case("RESHAPE", *EVERY)
def reshape(rng, kind):
    g, s = Graph(), sizes(rng)
    out = [int(np.prod(s[:2]))] + s[2:] if rng.integers(0, 2) else s[::-1] + [1]
    g.op("RESHAPE", attribute("Reshape"), [g.random(rng, s, kind), g.shape(out)], out, kind)
    return g


@case("REVERSE", *EVERY)
def reverse(rng, kind):
    g, s = Graph(), sizes(rng)
    g.op("REVERSE", attribute("Reverse", int(rng.integers(0, len(s)))), [g.random(rng, s, kind)], s, kind)
    return g


@case("SLICE", *EVERY)
def slices(rng, kind):
    g, s = Graph(), sizes(rng)
    start = [int(rng.integers(0, n)) for n in s]
    size = [int(rng.integers(1, n - a + 1)) for n, a in zip(s, start)]
    g.op("SLICE", attribute("Slice"), [g.random(rng, s, kind), g.shape(start), g.shape(size)], size, kind)
    return g


@case("TILE", *EVERY)
def tile(rng, kind):
    g, s = Graph(), sizes(rng)
    times = [int(n) for n in rng.integers(1, 4, len(s))]
    g.op("TILE", attribute("Tile"), [g.random(rng, s, kind), g.shape(times)], [n * t for n, t in zip(s, times)], kind)
    return g


@case("TRANSPOSE", *EVERY)
def transpose(rng, kind):
    g, s = Graph(), sizes(rng)
    perm = [int(n) for n in rng.permutation(len(s))]
    g.op("TRANSPOSE", attribute("Transpose", perm), [g.random(rng, s, kind)], [s[p] for p in perm], kind)
    return g


@case("GATHER", "i8", "i16", "i32", *FLOATS)
def gather(rng, kind):
    g, (n, k, w, c) = Graph(), (int(v) for v in rng.integers(1, 6, 4))
    g.op("GATHER", attribute("Gather"), [g.random(rng, [n, k, c], kind), g.random(rng, [n, w], "i32", 0, k - 1)], [n, w, c], kind)
    return g


@case("SCATTER", "i8", "i16", "i32", *FLOATS)
def scatter(rng, kind):
    g, (n, k, c) = Graph(), (int(v) for v in rng.integers(1, 6, 3))
    w = int(rng.integers(1, k + 1))
    rows = np.stack([rng.permutation(k)[:w] for _ in range(n)]).astype(np.int32)
    g.op("SCATTER", attribute("Scatter"), [g.random(rng, [n, k, c], kind), g.input(rows, "i32"), g.random(rng, [n, w, c], kind)], [n, k, c],
         kind)
    return g


def resize(rng, kind, mode):
    g = Graph()
    n, c = (int(v) for v in rng.integers(1, 4, 2))
    h, w = (int(v) for v in rng.integers(1, 8, 2))
    scale, offset, border, out = [], [], [], []
    for size in (h, w):
        up, down = int(rng.integers(1, 9)), int(rng.integers(1, 5))
        first = int(rng.integers(-up, up))
        room = (size - 1) * up - first
        last = -room % down if room >= 0 else -room
        while last >= up:
            last -= down
        if room + last < 0 or last < -16 * up:
            up, down, first, last, room = 2, 1, 0, 0, (size - 1) * 2
        scale += [up, down]
        offset.append(first), border.append(last), out.append((room + last) // down + 1)
    inputs = [g.random(rng, [n, h, w, c], kind), g.shape(scale), g.shape(offset), g.shape(border)]
    kind_out = {"i8": "i32", "i16": "i48"}.get(kind, kind) if mode == "BILINEAR" else kind
    g.sums(rng, "RESIZE", attribute("Resize", getattr(ts.ResizeMode, mode)), inputs, [n] + out + [c], kind_out)
    return g


for _mode in ("NEAREST", "BILINEAR"):
    for _kind in ("i8", "i16") + FLOATS:
        CASES[f"RESIZE {_mode} {_kind}"] = lambda rng, k=_kind, m=_mode: resize(rng, k, m)


@case("RFFT2D", "f32")
def rfft2d(rng, kind):
    g, n = Graph(), int(rng.integers(1, 3))
    h, w = (1 << int(v) for v in rng.integers(0, 5, 2))
    g.op("RFFT2D", attribute("RFFT2d", False), [g.random(rng, [n, h, w], kind)], [[n, h, w // 2 + 1]] * 2, [kind] * 2)
    return g


@case("FFT2D", "f32")
def fft2d(rng, kind):
    g, n = Graph(), int(rng.integers(1, 3))
    h, w = (1 << int(v) for v in rng.integers(0, 5, 2))
    attr = attribute("FFT2d", bool(rng.integers(0, 2)), False)
    g.op("FFT2D", attr, [g.random(rng, [n, h, w], kind), g.random(rng, [n, h, w], kind)], [[n, h, w]] * 2, [kind] * 2)
    return g


@case("COND_IF", "i32", "f32")
def cond_if(rng, kind):
    g, s = Graph(), sizes(rng)
    c, x, y = g.random(rng, [1], "bool"), g.random(rng, s, kind), g.random(rng, s, kind)
    g.op("COND_IF", attribute("CondIf", "then", "else"), [c, x, y], s, kind)
    for name, code in (("then", "ADD"), ("else", "SUB")):
        g.ser.startRegion(name, "")
        g.ser.addBasicBlock(name)
        block = g.ser.currRegion
        a, b = (ts.TosaSerializerTensor(f"{name}_{i}", s, SHORT[kind]) for i in range(2))
        block.addInputTensor(a), block.addInputTensor(b)
        out = block.addOutput(s, SHORT[kind])
        block.addOperator(getattr(ts.Op, code), [a.name, b.name], [out.name], attribute(camel(code)))
    return g


@case("WHILE_LOOP", "i32", "f32")
def while_loop(rng, kind):
    g, s = Graph(), sizes(rng)
    count = g.input(np.array([int(rng.integers(0, 5))], np.int32), "i32")
    x, step = g.random(rng, s, kind), g.random(rng, s, kind)
    g.op("WHILE_LOOP", attribute("WhileLoop", "test", "body"), [count, x, step], [[1], s, s], ["i32", kind, kind])
    for name in ("test", "body"):
        g.ser.startRegion(name, "")
        g.ser.addBasicBlock(name)
        block = g.ser.currRegion
        shapes = (([1], "i32"), (s, kind), (s, kind))
        n, a, b = (ts.TosaSerializerTensor(f"{name}_{i}", h, SHORT[k]) for i, (h, k) in enumerate(shapes))
        for t in (n, a, b):
            block.addInputTensor(t)
        if name == "test":
            none = block.addConst([1], SHORT["i32"], np.array([0], np.int32))
            out = block.addOutput([1], SHORT["bool"])
            block.addOperator(ts.Op.GREATER, [n.name, none.name], [out.name], attribute("Greater"))
            continue
        one = block.addConst([1], SHORT["i32"], np.array([1], np.int32))
        less, total = block.addOutput([1], SHORT["i32"]), block.addOutput(s, SHORT[kind])
        block.addOutputTensor(b)
        block.addOperator(ts.Op.SUB, [n.name, one.name], [less.name], attribute("Sub"))
        block.addOperator(ts.Op.ADD, [a.name, b.name], [total.name], attribute("Add"))
    return g


@case("CONST", "i8", "i16", "i32", "i48", "f32", "bool")
def const(rng, kind):
    g, s = Graph(), sizes(rng)
    if kind == "i48":
        name = g.const(random(rng, [s[-1]], kind), kind)
        inputs = [name, g.const([12345], "i16"), g.const([38], "i8"), g.zero(0, kind), g.zero(0, "i32")]
        attr = attribute("Rescale", False, ts.RoundingMode.SINGLE_ROUND, False, False, False)
        g.op("RESCALE", attr, inputs, [s[-1]], "i32")
    else:
        g.op("CONCAT", attribute("Concat", 0), [g.random(rng, s, kind), g.const(random(rng, s, kind), kind)], [2 * s[0]] + s[1:], kind)
    return g


