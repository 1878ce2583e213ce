"""Single-operator models with random shapes, options and quantization. Each case is a function of a random generator that gives the
subgraphs of a model; CASES maps its name to the function."""

import numpy as np

from tflite_writer import Graph, Op, Tensor

CASES = {}
INT8, UINT8, INT16, F32 = "int8", "uint8", "int16", "float32"
ACTS = [0, 1, 3, 2]  # none, relu, relu6, relu_n1_to_1


def case(name, *variants):
    """Registers f(rng, *variant) for each variant."""

    def register(f):
        for v in variants or [()]:
            v = v if isinstance(v, tuple) else (v,)
            CASES[" ".join([name] + [str(x) for x in v])] = lambda rng, f=f, v=v: f(rng, *v)
        return f

    return register


def scale(rng, lo=0.005, hi=0.1):
    return float(np.float32(rng.uniform(lo, hi)))


def zero(rng, dtype):
    return 0 if dtype == INT16 else int(rng.integers(-20, 20)) + (128 if dtype == UINT8 else 0)


def act_tensor(rng, shape, dtype, s=None, z=None):
    """An activation: quantized unless float or a plain integer."""
    if dtype not in (INT8, UINT8, INT16):
        return Tensor(shape, dtype)
    return Tensor(shape, dtype, scale=s or scale(rng), zero=zero(rng, dtype) if z is None else z)


def weights(rng, shape, dtype, axis=None):
    """A constant of quantized weights, per channel when an axis is given."""
    if dtype == F32:
        return Tensor.const(rng.uniform(-1, 1, shape).astype(np.float32))
    if dtype == UINT8:
        return Tensor.const(rng.integers(0, 256, shape).astype(np.uint8), scale=scale(rng), zero=int(rng.integers(100, 150)))
    if dtype == "int4":
        t = Tensor(shape, "int4", rng.integers(-7, 8, shape).astype(np.int8))
    else:
        t = Tensor.const(rng.integers(-127, 128, shape).astype(np.int8))
    t.scale, t.zero = scale(rng), 0
    if axis is not None:
        t.scale, t.axis = [scale(rng) for _ in range(shape[axis])], axis
    return t


def bias(rng, n, dtype):
    if dtype == F32:
        return Tensor.const(rng.uniform(-1, 1, n).astype(np.float32))
    kind = np.int64 if dtype == INT16 else np.int32
    return Tensor.const(rng.integers(-5000, 5000, n).astype(kind), scale=0.001)


def ints(*values):
    return Tensor.const(np.array(values, np.int32))


def one(code, inputs, outputs, options=None, graph_inputs=None):
    op = Op(code, inputs, outputs, options)
    return [Graph([op], graph_inputs or [t for t in inputs if t is not None and t.data is None], list(outputs))]


def dims(rng, rank, lo=1, hi=6):
    return [int(v) for v in rng.integers(lo, hi, rank)]


# --- convolutions ---


def conv_out(size, k, stride, dilation, same):
    extent = (k - 1) * dilation + 1
    return -(-size // stride) if same else (size - extent) // stride + 1


def conv_bias_scale(b, x, w):
    if b is not None and x.scale is not None:
        b.scale = [x.scale * s for s in w.scale] if isinstance(w.scale, list) else x.scale * w.scale
    return b


@case("CONV_2D", F32, INT8, UINT8, INT16, "int8_tensor", "int4", "hybrid", "hybrid_tensor", "int16_bias32")
def conv_2d(rng, kind):
    act = {"int8_tensor": INT8, "int4": INT8, "hybrid": F32, "hybrid_tensor": F32, "int16_bias32": INT16}.get(kind, kind)
    h, w, c, o = int(rng.integers(5, 9)), int(rng.integers(5, 9)), int(rng.integers(1, 5)), int(rng.integers(1, 6))
    kh, kw, sh, sw = (int(v) for v in rng.integers(1, 4, 4))
    dh, dw = (1, 1) if sh > 1 or sw > 1 else (int(v) for v in rng.integers(1, 3, 2))
    same = bool(rng.integers(2))
    n = int(rng.integers(1, 3))
    groups = 2 if kind in (F32, INT8) and rng.integers(4) == 0 else 1
    x = act_tensor(rng, [n, h, w, c * groups], act)
    wt = {"hybrid": INT8, "hybrid_tensor": INT8, INT16: INT8, "int8_tensor": INT8, "int16_bias32": INT8}.get(kind, kind)
    f = weights(rng, [o * groups, kh, kw, c], wt, None if kind in (F32, UINT8, "int8_tensor", "hybrid_tensor") else 0)
    b = bias(rng, o * groups, INT8 if kind == "int16_bias32" else act)
    y = act_tensor(rng, [n, conv_out(h, kh, sh, dh, same), conv_out(w, kw, sw, dw, same), o * groups], act, s=scale(rng, 0.05, 1))
    options = dict(padding=0 if same else 1, stride_w=sw, stride_h=sh, fused_activation_function=ACTS[rng.integers(3)],
                   dilation_w_factor=dw, dilation_h_factor=dh)
    if kind == "int16_bias32":
        options["quantized_bias_type"] = 2
    return one("CONV_2D", [x, f, conv_bias_scale(b, x, f)], [y], ("Conv2DOptions", options))


@case("DEPTHWISE_CONV_2D", F32, INT8, UINT8, INT16, "hybrid")
def depthwise(rng, kind):
    act = F32 if kind == "hybrid" else kind
    h, w, c, m = int(rng.integers(5, 9)), int(rng.integers(5, 9)), int(rng.integers(1, 5)), int(rng.integers(1, 3))
    kh, kw = (int(v) for v in rng.integers(1, 4, 2))
    s = int(rng.integers(1, 3))
    d = 1 if s > 1 else int(rng.integers(1, 3))
    same = bool(rng.integers(2))
    x = act_tensor(rng, [1, h, w, c], act)
    f = weights(rng, [1, kh, kw, c * m], INT8 if kind in (INT16, "hybrid") else kind, None if kind in (F32, UINT8) else 3)
    b = None if kind != "hybrid" and rng.integers(4) == 0 else bias(rng, c * m, act)
    y = act_tensor(rng, [1, conv_out(h, kh, s, d, same), conv_out(w, kw, s, d, same), c * m], act, s=scale(rng, 0.02, 0.5))
    options = dict(padding=0 if same else 1, stride_w=s, stride_h=s, depth_multiplier=m, fused_activation_function=ACTS[rng.integers(3)],
                   dilation_w_factor=d, dilation_h_factor=d)
    return one("DEPTHWISE_CONV_2D", [x, f] + ([conv_bias_scale(b, x, f)] if b else []), [y], ("DepthwiseConv2DOptions", options))


@case("TRANSPOSE_CONV", F32, INT8, UINT8, INT16)
def transpose_conv(rng, kind):
    h, w, c, o = int(rng.integers(2, 5)), int(rng.integers(2, 5)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
    kh, kw = (int(v) for v in rng.integers(1, 5, 2))
    s = int(rng.integers(1, 4))
    same = bool(rng.integers(2))
    oh, ow = (h * s, w * s) if same else ((h - 1) * s + kh, (w - 1) * s + kw)
    x = act_tensor(rng, [1, h, w, c], kind)
    f = weights(rng, [o, kh, kw, c], INT8 if kind == INT16 else kind, None if kind in (F32, UINT8) else 0)
    b = bias(rng, o, kind)
    y = act_tensor(rng, [1, oh, ow, o], kind, s=scale(rng, 0.02, 0.5))
    inputs = [ints(1, oh, ow, o), f, x] + ([conv_bias_scale(b, x, f)] if rng.integers(2) else [])
    return one("TRANSPOSE_CONV", inputs, [y], ("TransposeConvOptions", dict(padding=0 if same else 1, stride_w=s, stride_h=s)))


@case("CONV_3D", F32)
def conv_3d(rng, _):
    d, h, w, c, o = 4, 5, 6, int(rng.integers(1, 3)), int(rng.integers(1, 4))
    k, s, same = int(rng.integers(1, 4)), int(rng.integers(1, 3)), bool(rng.integers(2))
    x, f, b = Tensor([1, d, h, w, c]), weights(rng, [k, k, k, c, o], F32), bias(rng, o, F32)
    y = Tensor([1] + [conv_out(v, k, s, 1, same) for v in (d, h, w)] + [o])
    return one("CONV_3D", [x, f, b], [y], ("Conv3DOptions", dict(padding=0 if same else 1, stride_d=s, stride_w=s, stride_h=s,
               fused_activation_function=int(rng.integers(2)), dilation_d_factor=1, dilation_w_factor=1, dilation_h_factor=1)))


@case("FULLY_CONNECTED", F32, INT8, UINT8, INT16, "per_channel", "int4", "hybrid", "hybrid_asymmetric", "hybrid_channel", "keep")
def fully_connected(rng, kind):
    act = {"per_channel": INT8, "int4": INT8, "hybrid": F32, "hybrid_asymmetric": F32, "hybrid_channel": F32, "keep": F32}.get(kind, kind)
    m, k, n = int(rng.integers(1, 4)), int(rng.integers(1, 40)), int(rng.integers(1, 8))
    wt = {"per_channel": INT8, INT16: INT8, "hybrid": INT8, "hybrid_asymmetric": INT8, "hybrid_channel": INT8, "keep": F32}.get(kind, kind)
    f = weights(rng, [n, k], wt, 0 if kind in ("per_channel", "hybrid_channel") else None)
    shape = [2, m, k] if kind == "keep" else [m, k] if rng.integers(2) else [m, 1, k]
    x = act_tensor(rng, shape, act)
    b = None if rng.integers(4) == 0 else bias(rng, n, act)
    y = act_tensor(rng, shape[:-1] + [n] if kind == "keep" else [m, n], act, s=scale(rng, 0.05, 1))
    return one("FULLY_CONNECTED", [x, f, conv_bias_scale(b, x, f)], [y], ("FullyConnectedOptions", dict(
        fused_activation_function=ACTS[rng.integers(3)], keep_num_dims=kind == "keep",
        asymmetric_quantize_inputs=kind == "hybrid_asymmetric")))


@case("BATCH_MATMUL", F32, INT8, INT16, "hybrid", "int8_const")
def batch_matmul(rng, kind):
    act = {"hybrid": F32, "int8_const": INT8}.get(kind, kind)
    m, k, n, b = (int(v) for v in rng.integers(1, 6, 4))
    ax, ay = bool(rng.integers(2)), bool(rng.integers(2))
    x = act_tensor(rng, [b, k, m] if ax else [b, m, k], act)
    shape = [b, n, k] if ay else [b, k, n]
    if kind in ("hybrid", "int8_const"):
        z = weights(rng, shape, INT8)
    else:
        z = act_tensor(rng, shape, act)
    if kind == "hybrid":
        x = act_tensor(rng, [b, m, k], act)
        ax = False
    y = act_tensor(rng, [b, m, n], act, s=scale(rng, 0.01, 0.5))
    return one("BATCH_MATMUL", [x, z], [y], ("BatchMatMulOptions", dict(adj_x=ax, adj_y=ay)))


# --- element by element ---


def binary_case(code, kind, options):
    def make(rng):
        shape = dims(rng, int(rng.integers(1, 5)))
        other = list(shape) if rng.integers(2) else [1 if rng.integers(2) else v for v in shape][int(rng.integers(len(shape))):]
        dtype = kind
        same = code in ("MAXIMUM", "MINIMUM")
        x = act_tensor(rng, shape, dtype)
        z = act_tensor(rng, other, dtype, *((x.scale, x.zero) if same else ()))
        out = list(np.broadcast_shapes(tuple(shape), tuple(other)))
        s = None if code not in ("MUL", "SQUARED_DIFFERENCE") else scale(rng, 0.02, 1)
        y = act_tensor(rng, out, dtype, *((x.scale, x.zero) if same else (s,)))
        if rng.integers(4) == 0 and not same and kind == F32:
            z = Tensor.const(rng.uniform(-1, 1, other).astype(np.float32))
        fused = options in ("AddOptions", "SubOptions", "MulOptions", "DivOptions")
        acts = dict(fused_activation_function=0 if kind == "int32" else ACTS[rng.integers(4)]) if fused else {}
        return one(code, [x, z], [y], (options, acts))

    return make


for _code, _options, _kinds in (
        ("ADD", "AddOptions", [F32, INT8, UINT8, INT16, "int32"]), ("SUB", "SubOptions", [F32, INT8, UINT8, INT16, "int32"]),
        ("MUL", "MulOptions", [F32, INT8, UINT8, INT16, "int32"]), ("DIV", "DivOptions", [F32]),
        ("MAXIMUM", "MaximumMinimumOptions", [F32, INT8, "int32"]), ("MINIMUM", "MaximumMinimumOptions", [F32, UINT8, "int32"]),
        ("SQUARED_DIFFERENCE", "SquaredDifferenceOptions", [F32, INT8, "int32"])):
    for _kind in _kinds:
        CASES[f"{_code} {_kind}"] = binary_case(_code, _kind, _options)


def simple_binary(code, kinds, out=None, options=None):
    for kind in kinds:
        def make(rng, kind=kind):
            shape = dims(rng, int(rng.integers(1, 5)))
            other = [1 if rng.integers(2) else v for v in shape]
            return one(code, [act_tensor(rng, shape, kind), act_tensor(rng, other, kind)], [Tensor(shape, out or kind)], options)

        CASES[f"{code} {kind}"] = make


for _code in ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"):
    simple_binary(_code, [F32, INT8, "int32"], "bool")
simple_binary("FLOOR_DIV", [F32, "int32"])
simple_binary("FLOOR_MOD", [F32, "int32"])
simple_binary("LOGICAL_AND", ["bool"])
simple_binary("LOGICAL_OR", ["bool"])


def unary(code, kinds, options=None, out_scale=None, out_zero=None, positive=False):
    for kind in kinds:
        def make(rng, kind=kind):
            shape = dims(rng, int(rng.integers(1, 5)), 1, 12)
            x = act_tensor(rng, shape, kind)
            if positive and kind in (INT8, UINT8):
                x.zero = -128 if kind == INT8 else 0
            y = act_tensor(rng, shape, kind)
            if out_scale and kind != F32:
                y.scale = out_scale[kind]
                y.zero = (out_zero or {}).get(kind, 0)
            made = options(rng) if callable(options) else options
            return one(code, [x], [y], made)

        CASES[f"{code} {kind}"] = make


_UNIT = {INT8: 1 / 256, UINT8: 1 / 256, INT16: 1 / 32768}
unary("LOGISTIC", [F32, INT8, UINT8, INT16], None, _UNIT, {INT8: -128})
unary("TANH", [F32, INT8, UINT8, INT16], None, {INT8: 1 / 128, UINT8: 1 / 128, INT16: 1 / 32768}, {UINT8: 128})
unary("RELU", [F32, INT8, UINT8, INT16])
unary("RELU6", [F32, INT8, UINT8, INT16])
unary("RELU_N1_TO_1", [F32, INT8, UINT8])
unary("RELU_0_TO_1", [F32, INT8, UINT8])
unary("HARD_SWISH", [F32, INT8, UINT8])
unary("LEAKY_RELU", [F32, INT8, UINT8, INT16], lambda rng: ("LeakyReluOptions", dict(alpha=float(rng.uniform(0.01, 0.9)))))
unary("ELU", [F32, INT8])
unary("GELU", [F32, INT8, UINT8], lambda rng: ("GeluOptions", dict(approximate=bool(rng.integers(2)))))
unary("ABS", [F32, INT8, INT16, "int32"])
unary("NEG", [F32, "int32", "int64"])
unary("EXP", [F32, INT8, INT16])
unary("LOG", [INT8, INT16])
unary("RSQRT", [INT8], positive=True)
unary("SIN", [F32])
unary("COS", [F32])
unary("CEIL", [F32])
unary("FLOOR", [F32])
unary("ROUND", [F32])
unary("SQUARE", [F32])
unary("SIGN", [F32])
unary("LOGICAL_NOT", ["bool"])
unary("ZEROS_LIKE", [F32, "int32"])


@case("PRELU", F32, INT8, UINT8)
def prelu(rng, kind):
    shape = dims(rng, 4)
    alpha = [1, 1, shape[-1]]
    x = act_tensor(rng, shape, kind)
    a = Tensor.const(rng.uniform(-1, 1, alpha).astype(np.float32)) if kind == F32 else weights(rng, alpha, kind)
    return one("PRELU", [x, a], [act_tensor(rng, shape, kind)])


@case("SELECT_V2", F32, INT8)
def select_v2(rng, kind):
    shape = dims(rng, 3)
    s, z = scale(rng), zero(rng, kind)
    a, b, y = (act_tensor(rng, shape, kind, s, z) for _ in range(3))
    return one("SELECT_V2", [Tensor([shape[0], 1, shape[2]], "bool"), a, b], [y])


@case("SELECT")
def select(rng):
    shape = dims(rng, 3, 2)
    return one("SELECT", [Tensor(shape[:1], "bool"), Tensor(shape), Tensor(shape)], [Tensor(shape)])


@case("ATAN2")
def atan2(rng):
    shape = dims(rng, 3)
    return one("ATAN2", [Tensor(shape), Tensor(shape)], [Tensor(shape)])


@case("POW")
def power(rng):
    shape = dims(rng, 3)
    return one("POW", [Tensor(shape), Tensor.const(np.array(2.0, np.float32))], [Tensor(shape)])


@case("ADD_N")
def add_n(rng):
    shape = dims(rng, 3)
    return one("ADD_N", [Tensor(shape), Tensor(shape), Tensor(shape)], [Tensor(shape)])


# --- pooling, softmax, reductions ---


def pool_case(code, kind):
    def make(rng):
        h, w, c = int(rng.integers(4, 9)), int(rng.integers(4, 9)), int(rng.integers(1, 5))
        kh, kw, sh, sw = (int(v) for v in rng.integers(1, 4, 4))
        same = bool(rng.integers(2))
        x = act_tensor(rng, [2, h, w, c], kind)
        y = act_tensor(rng, [2, conv_out(h, kh, sh, 1, same), conv_out(w, kw, sw, 1, same), c], kind, x.scale, x.zero)
        return one(code, [x], [y], ("Pool2DOptions", dict(padding=0 if same else 1, stride_w=sw, stride_h=sh, filter_width=kw,
                                                          filter_height=kh, fused_activation_function=ACTS[rng.integers(3)])))

    return make


for _code, _kinds in (("AVERAGE_POOL_2D", [F32, INT8, UINT8, INT16]), ("MAX_POOL_2D", [F32, INT8, UINT8, INT16]), ("L2_POOL_2D", [F32])):
    for _kind in _kinds:
        CASES[f"{_code} {_kind}"] = pool_case(_code, _kind)


@case("SOFTMAX", F32, INT8, UINT8, INT16, "int8_to_int16")
def softmax(rng, kind):
    dtype = INT8 if kind == "int8_to_int16" else kind
    shape = dims(rng, int(rng.integers(1, 5)), 1, 9)
    x = act_tensor(rng, shape, dtype, scale(rng, 0.02, 0.3))
    out = INT16 if kind == "int8_to_int16" else kind
    y = act_tensor(rng, shape, out, {INT8: 1 / 256, UINT8: 1 / 256, INT16: 1 / 32768}.get(out))
    y.zero = {INT8: -128}.get(out, 0)
    if kind == "int8_to_int16":
        y.scale, y.zero = 1 / 65536, -32768
    return one("SOFTMAX", [x], [y], ("SoftmaxOptions", dict(beta=1.0 if rng.integers(2) else float(rng.uniform(0.3, 2)))))


@case("LOG_SOFTMAX", F32, INT8, UINT8)
def log_softmax(rng, kind):
    shape = dims(rng, 3)
    y = act_tensor(rng, shape, kind, 16 / 256)
    y.zero = {INT8: 127, UINT8: 255}.get(kind, 0)
    return one("LOG_SOFTMAX", [act_tensor(rng, shape, kind, scale(rng, 0.02, 0.3))], [y])


def random_case(code):
    def make(rng):
        shape = [int(n) for n in rng.integers(1, 9, int(rng.integers(1, 4)))]
        seeds = dict(seed=int(rng.integers(-1 << 40, 1 << 40)), seed2=int(rng.integers(-1 << 40, 1 << 40)))
        op = Op(code, [Tensor.const(np.array(shape, np.int32))], [Tensor(shape)], ("RandomOptions", seeds))
        x = Tensor(shape)
        y = Tensor(shape)
        return [Graph([op, Op("ADD", [x, op.outputs[0]], [y], ("AddOptions", {}))], [x], [y])]

    return make


for _code in ("RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL"):
    CASES[_code] = random_case(_code)


@case("L2_NORMALIZATION", F32, INT8, UINT8)
def l2_normalization(rng, kind):
    shape = dims(rng, int(rng.integers(2, 5)), 1, 9)
    y = act_tensor(rng, shape, kind, 1 / 128)
    y.zero = 128 if kind == UINT8 else 0
    return one("L2_NORMALIZATION", [act_tensor(rng, shape, kind)], [y], ("L2NormOptions", {}))


@case("LOCAL_RESPONSE_NORMALIZATION")
def lrn(rng):
    shape = dims(rng, 4, 2, 9)
    return one("LOCAL_RESPONSE_NORMALIZATION", [Tensor(shape)], [Tensor(shape)],
               ("LocalResponseNormalizationOptions", dict(radius=int(rng.integers(1, 4)), bias=1.5, alpha=0.3, beta=0.6)))


def reduction(code, kinds):
    for kind in kinds:
        def make(rng, kind=kind):
            rank = int(rng.integers(1, 5))
            shape = dims(rng, rank)
            axes = sorted({int(a) for a in rng.integers(0, rank, int(rng.integers(1, rank + 1)))})
            keep = bool(rng.integers(2))
            out = [1 if i in axes else v for i, v in enumerate(shape) if keep or i not in axes]
            x = act_tensor(rng, shape, kind)
            same = code in ("REDUCE_MAX", "REDUCE_MIN")
            y = act_tensor(rng, out, kind, *((x.scale, x.zero) if same else (scale(rng, 0.02, 0.4) if code == "SUM" else None,)))
            written = [a - rank if rng.integers(3) == 0 else a for a in axes]
            return one(code, [x, ints(*written)], [y], ("ReducerOptions", dict(keep_dims=keep)))

        CASES[f"{code} {kind}"] = make


reduction("MEAN", [F32, INT8, UINT8, INT16])
reduction("SUM", [F32, UINT8, "int32"])
reduction("REDUCE_MAX", [F32, INT8, UINT8, "int32"])
reduction("REDUCE_MIN", [F32, INT8, "int32"])
reduction("REDUCE_PROD", [F32, INT8, INT16, "int32"])
reduction("REDUCE_ANY", ["bool"])
reduction("REDUCE_ALL", ["bool"])


def arg_case(code, options, kind):
    def make(rng):
        shape = dims(rng, 3)
        axis = int(rng.integers(-3, 3))
        out = [v for i, v in enumerate(shape) if i != axis % 3]
        return one(code, [act_tensor(rng, shape, kind), ints(axis)], [Tensor(out, "int32")], (options, dict(output_type=2)))

    return make


for _kind in (F32, INT8):
    CASES[f"ARG_MAX {_kind}"] = arg_case("ARG_MAX", "ArgMaxOptions", _kind)
    CASES[f"ARG_MIN {_kind}"] = arg_case("ARG_MIN", "ArgMinOptions", _kind)


@case("CUMSUM", F32, "int32")
def cumsum(rng, kind):
    shape = dims(rng, 3)
    return one("CUMSUM", [Tensor(shape, kind), ints(int(rng.integers(-3, 3)))], [Tensor(shape, kind)],
               ("CumsumOptions", dict(exclusive=bool(rng.integers(2)), reverse=bool(rng.integers(2)))))
