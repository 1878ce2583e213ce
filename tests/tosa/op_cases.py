"""A random graph of one operator: CASES[name](rng) gives a Graph with its inputs."""
import numpy as np
import tosa_serializer as ts
from tosa_graph import FLOATS, IGNORE, NUMPY, PROPAGATE, SHORT, Graph, attribute, random

CASES = {}


def case(name, *kinds):
    """Registers f(rng, kind) once for each element type."""

    def add(f):
        for kind in kinds:
            CASES[f"{name} {kind}"] = lambda rng, f=f, kind=kind: f(rng, kind)
        return f

    return add


def sizes(rng, rank=None, least=1, most=6):
    rank = int(rng.integers(1, 5)) if rank is None else rank
    return [int(n) for n in rng.integers(least, most + 1, rank)]


def broadcast(rng, shape):
    return [1 if rng.integers(0, 4) == 0 else n for n in shape]


def with_nan(rng, array):
    array = array.copy()
    array[rng.random(array.shape) < 0.3] = np.nan
    return array


def camel(code):
    return "".join(w.capitalize() for w in code.split("_"))


def unary(code, kinds, lo=None, hi=None, out=None):
    def make(rng, kind):
        g, s = Graph(), sizes(rng)
        x = g.random(rng, s, kind, lo, hi)
        g.op(code, attribute(camel(code)), [x], s, out or kind)
        return g

    case(code, *kinds)(make)


for _code in ("CEIL", "FLOOR", "COS", "SIN", "ERF", "EXP", "SIGMOID", "TANH"):
    unary(_code, FLOATS)
for _code in ("LOG", "RECIPROCAL", "RSQRT"):
    unary(_code, FLOATS, 0.1, 5)
unary("ABS", ("i32",) + FLOATS)
unary("BITWISE_NOT", ("i8", "i16", "i32"))
unary("CLZ", ("i32",))
unary("LOGICAL_NOT", ("bool",))
unary("IDENTITY", ("bool", "i8", "i16", "i32", "f32", "f16"))


@case("CLZ special", "i32")
def clz_special(rng, kind):
    g = Graph()
    x = g.input(np.array([0, 1, -1, 2**31 - 1, -(2**31), 255, 256] + [1 << int(rng.integers(0, 31))], np.int32), kind)
    g.op("CLZ", attribute("Clz"), [x], [8], kind)
    return g


def binary(code, kinds, out=None, lo=None, hi=None, attr=None):
    def make(rng, kind):
        g, s = Graph(), sizes(rng)
        x, y = g.random(rng, broadcast(rng, s), kind, lo, hi), g.random(rng, s, kind, lo, hi)
        g.op(code, attr or attribute(camel(code)), [x, y], s, out or kind)
        return g

    case(code, *kinds)(make)


for _code in ("ADD", "SUB"):
    binary(_code, ("i32",) + FLOATS)
for _code in ("BITWISE_AND", "BITWISE_OR", "BITWISE_XOR"):
    binary(_code, ("i8", "i16", "i32"))
for _code in ("LOGICAL_AND", "LOGICAL_OR", "LOGICAL_XOR"):
    binary(_code, ("bool",))
for _code in ("EQUAL", "GREATER", "GREATER_EQUAL"):
    binary(_code, ("i32",) + FLOATS, "bool", -2, 2)
binary("POW", FLOATS, None, 0.2, 3)


@case("INTDIV", "i32")
def intdiv(rng, kind):
    g, s = Graph(), sizes(rng)
    y = random(rng, s, kind, 1, 1000) * rng.choice([-1, 1], s).astype(np.int32)
    g.op("INTDIV", attribute("IntDiv"), [g.random(rng, s, kind), g.input(y, kind)], s, kind)
    return g


@case("MUL", "i8", "i16", "i32", *FLOATS)
def mul(rng, kind):
    g, s = Graph(), sizes(rng)
    shift = int(rng.integers(1, 32)) if kind == "i32" else 0
    x, y = g.random(rng, s, kind), g.random(rng, broadcast(rng, s), kind, *((0, 2000) if kind == "i32" and shift < 10 else ()))
    g.op("MUL", attribute("Mul"), [x, y, g.zero(shift, "i8")], s, kind if kind in FLOATS else "i32")
    return g


def shift(code, attr):
    def make(rng, kind):
        g, s = Graph(), sizes(rng)
        x = g.random(rng, s, kind)
        count = g.random(rng, broadcast(rng, s), kind, 0, {"i8": 7, "i16": 15, "i32": 31}[kind])
        g.op(code, attr(rng), [x, count], s, kind)
        return g

    case(code, "i8", "i16", "i32")(make)


shift("ARITHMETIC_RIGHT_SHIFT", lambda rng: attribute("ArithmeticRightShift", bool(rng.integers(0, 2))))
shift("LOGICAL_LEFT_SHIFT", lambda rng: attribute("LogicalLeftShift"))
shift("LOGICAL_RIGHT_SHIFT", lambda rng: attribute("LogicalRightShift"))


def nan_mode(rng, kind):
    return (IGNORE if rng.integers(0, 2) else PROPAGATE) if kind in FLOATS else PROPAGATE


def maybe_nan(rng, array, kind):
    return with_nan(rng, array) if kind in FLOATS and rng.integers(0, 2) else array


def extreme(code):
    def make(rng, kind):
        g, s = Graph(), sizes(rng)
        x = g.input(maybe_nan(rng, random(rng, s, kind), kind), kind)
        y = g.input(maybe_nan(rng, random(rng, s, kind), kind), kind)
        g.op(code, attribute(camel(code), nan_mode(rng, kind)), [x, y], s, kind)
        return g

    case(code, "i32", *FLOATS)(make)


extreme("MAXIMUM")
extreme("MINIMUM")


@case("CLAMP", "i8", "i16", *FLOATS)
def clamp(rng, kind):
    g, s = Graph(), sizes(rng)
    lo, hi = np.sort(random(rng, [2], kind))
    as_bytes = [list(np.array([v], NUMPY[SHORT[kind]]).tobytes()) for v in (lo, hi)]
    x = g.input(maybe_nan(rng, random(rng, s, kind), kind), kind)
    g.op("CLAMP", attribute("Clamp", *as_bytes, nan_mode(rng, kind)), [x], s, kind)
    return g


@case("NEGATE", "i8", "i16", "i32", *FLOATS)
def negate(rng, kind):
    g, s = Graph(), sizes(rng)
    zeros = [int(z) for z in rng.integers(-128, 128, 2)] if kind == "i8" else [0, 0]
    g.op("NEGATE", attribute("Negate"), [g.random(rng, s, kind)] + [g.zero(z, kind) for z in zeros], s, kind)
    return g


@case("SELECT", "bool", "i8", "i16", "i32", *FLOATS)
def select(rng, kind):
    g, s = Graph(), sizes(rng)
    c, x, y = g.random(rng, broadcast(rng, s), "bool"), g.random(rng, s, kind), g.random(rng, broadcast(rng, s), kind)
    g.op("SELECT", attribute("Select"), [c, x, y], s, kind)
    return g


@case("TABLE", "i8", "i16")
def table(rng, kind):
    g, s = Graph(), sizes(rng)
    n, out = (256, "i8") if kind == "i8" else (513, "i32")
    values = random(rng, [n], kind) if kind == "i8" else np.sort(rng.integers(-30000, 30000, n)).astype(np.int16)
    g.op("TABLE", attribute("Table"), [g.random(rng, s, kind), g.const(values, kind)], s, out)
    return g


CASTS = [("bool", k) for k in ("i8", "i16", "i32")] + [(k, "bool") for k in ("i8", "i16", "i32")]
CASTS += [(a, b) for a in ("i8", "i16", "i32") for b in ("i8", "i16", "i32") if a != b]
CASTS += [(a, b) for a in ("i8", "i16", "i32") for b in FLOATS] + [(b, a) for a in ("i8", "i16", "i32") for b in FLOATS]
CASTS += [(a, b) for a in FLOATS for b in FLOATS if a != b and "f32" in (a, b)]


def cast(to):
    def make(rng, kind):
        g, s = Graph(), sizes(rng)
        x = random(rng, s, kind) if kind not in FLOATS else random(rng, s, kind, -300, 300)
        if kind in FLOATS:
            x = np.where(rng.random(s) < 0.3, np.round(x.astype(np.float64)) + 0.5, x).astype(x.dtype)
        g.op("CAST", attribute("Cast"), [g.input(x, kind)], s, to)
        return g

    return make


for _from, _to in CASTS:
    CASES[f"CAST {_from} {_to}"] = lambda rng, f=_from, t=_to: cast(t)(rng, f)


RESCALES = [("i8", "i8"), ("i8", "i16"), ("i8", "i32"), ("i16", "i8"), ("i16", "i16"), ("i16", "i32"), ("i32", "i8"), ("i32", "i16"),
            ("i32", "i32"), ("i48", "i8"), ("i48", "i16"), ("i48", "i32")]


def rescale(rng, kind, to):
    g, s = Graph(), sizes(rng, least=1)
    scale32 = kind != "i48" and bool(rng.integers(0, 2))
    modes = [ts.RoundingMode.SINGLE_ROUND] + ([ts.RoundingMode.DOUBLE_ROUND] if scale32 else [])
    mode, channels = modes[int(rng.integers(0, len(modes)))], bool(rng.integers(0, 2))
    in_u = kind in ("i8", "i16") and to != "i32" and rng.integers(0, 3) == 0
    out_u = kind in ("i8", "i16") and to != "i32" and not in_u and rng.integers(0, 3) == 0
    n = s[-1] if channels else 1
    multiplier = rng.integers(1 << 30, (1 << 31) - 1, n) if scale32 else rng.integers(1 << 14, (1 << 15) - 1, n)
    wanted = {"i8": 7, "i16": 15, "i32": 20, "i48": 28}[kind] - {"i8": 7, "i16": 15, "i32": 24}[to]
    exponent = (31 if scale32 else 15) + wanted + rng.integers(-2, 4, n)
    exponent = np.clip(exponent, 2, 62)

    def zero(k, unsigned):
        if k == "i8":
            return int(rng.integers(0, 256) if unsigned else rng.integers(-128, 128))
        return 32768 if k == "i16" and unsigned and rng.integers(0, 2) else 0

    def stored(value, k):
        return g.const(np.array([value], np.int64).astype(NUMPY[SHORT[k]]), k)

    attr = attribute("Rescale", scale32, mode, channels, bool(in_u), bool(out_u))
    x = g.const(random(rng, s, kind), kind) if kind == "i48" else g.random(rng, s, kind)
    inputs = [x, g.const(multiplier, "i32" if scale32 else "i16"), g.const(exponent, "i8"),
              stored(zero(kind, in_u), kind), stored(zero(to, out_u), to)]
    g.op("RESCALE", attr, inputs, s, to)
    return g


for _from, _to in RESCALES:
    CASES[f"RESCALE {_from} {_to}"] = lambda rng, f=_from, t=_to: rescale(rng, f, t)


@case("RESCALE inexact", "i32")
def rescale_inexact(rng, kind):
    g, s = Graph(), sizes(rng)
    attr = attribute("Rescale", True, ts.RoundingMode.INEXACT_ROUND, False, False, False)
    inputs = [g.random(rng, s, kind), g.const([int(rng.integers(1 << 30, (1 << 31) - 1))], "i32"), g.const([44], "i8"), g.zero(0, kind),
              g.zero(3, "i8")]
    g.op("RESCALE", attr, inputs, s, "i8")
    return g


