"""StableHLO operators that LiteRT has no kernel for: what they must give is written with numpy, in double precision where it matters."""

import numpy as np

from op_cases import case, dims
from stablehlo_cases import body, longs
from tflite_writer import Graph, Op, Tensor


def single(code, inputs, shape, dtype, expected, options2=None, more=()):
    """A model of one operator. expected: arrays of what is no constant to the output."""
    op = Op(code, inputs, [Tensor(shape, dtype)], options2=options2)
    main = Graph([op], [t for t in inputs if t.data is None], op.outputs)
    main.expected = lambda *arrays: [np.asarray(expected(*arrays)).astype(np.dtype(dtype)).reshape(shape)]
    return [main, *more]


UNARY = {"ABS": np.abs, "COSINE": np.cos, "EXPONENTIAL": np.exp, "FLOOR": np.floor, "NEGATE": np.negative, "TANH": np.tanh, "CBRT": np.cbrt,
         "LOGISTIC": lambda x: 1 / (1 + np.exp(-x)), "LOG": lambda x: np.log(x), "RSQRT": lambda x: 1 / np.sqrt(x)}
BINARY = {"DIVIDE": np.divide, "SUBTRACT": np.subtract, "POWER": np.power, "REMAINDER": np.fmod}
COMPARE = [np.equal, np.not_equal, np.greater_equal, np.greater, np.less_equal, np.less]
REDUCE = {"ADD": np.sum, "MULTIPLY": np.prod, "MINIMUM": np.min, "MAXIMUM": np.max}


@case("STABLEHLO unary", *UNARY)
def unary(rng, code):
    shape = dims(rng, 3)
    if code not in ("LOG", "RSQRT"):
        return single("STABLEHLO_" + code, [Tensor(shape)], shape, "float32", lambda x: UNARY[code](x.astype(np.float64)))
    # Positive numbers by an operator in front.
    x, y, z = Tensor(shape), Tensor(shape), Tensor(shape)
    main = Graph([Op("EXP", [x], [y]), Op("STABLEHLO_" + code, [y], [z])], [x], [z])
    main.expected = lambda v: [UNARY[code](np.exp(v.astype(np.float64))).astype(np.float32)]
    return [main]


@case("STABLEHLO binary", *BINARY)
def binary(rng, code):
    shape, dtype = dims(rng, 3), "int32" if code == "REMAINDER" and rng.integers(2) else "float32"
    other = rng.uniform(0.5, 2, shape) if dtype == "float32" else rng.integers(1, 5, shape)
    first = Tensor(shape, dtype) if code != "POWER" else Tensor.const(rng.uniform(0.1, 3, shape).astype(np.float32))
    second = Tensor.const(other.astype(dtype)) if code != "POWER" else Tensor(shape)
    if code == "POWER":
        return single("STABLEHLO_POWER", [first, second], shape, dtype, lambda y: np.power(first.data.astype(np.float64), y))
    return single("STABLEHLO_" + code, [first, second], shape, dtype, lambda x: BINARY[code](x, second.data))


@case("STABLEHLO_OR", "bool", "int32")
def either(rng, dtype):
    shape = dims(rng, 2)
    return single("STABLEHLO_OR", [Tensor(shape, dtype), Tensor(shape, dtype)], shape, dtype, np.bitwise_or)


@case("STABLEHLO_SELECT")
def select(rng):
    shape = dims(rng, 3)
    which = Tensor([] if rng.integers(2) else shape, "bool")
    return single("STABLEHLO_SELECT", [which, Tensor(shape), Tensor(shape)], shape, "float32", np.where)


@case("STABLEHLO_CLAMP")
def clamp(rng):
    shape = dims(rng, 3)
    least, most = Tensor.const(np.float32(-0.5)), Tensor.const(rng.uniform(0, 1, shape).astype(np.float32))
    return single("STABLEHLO_CLAMP", [least, Tensor(shape), most], shape, "float32", lambda x: np.clip(x, least.data, most.data))


@case("STABLEHLO_COMPARE")
def compare(rng):
    shape, which, dtype = dims(rng, 3), int(rng.integers(6)), str(rng.choice(["float32", "int32", "int8"]))
    return single("STABLEHLO_COMPARE", [Tensor(shape, dtype), Tensor(shape, dtype)], shape, "bool", COMPARE[which],
                  ("StablehloCompareOptions", dict(comparison_direction=which)))


@case("STABLEHLO_CONVERT")
def convert(rng):
    shape, to = dims(rng, 3), str(rng.choice(["int32", "float16", "int64", "uint8"]))
    return single("STABLEHLO_CONVERT", [Tensor(shape, "int32")], shape, to, lambda x: x)


@case("STABLEHLO_RESHAPE")
def reshape(rng):
    shape = dims(rng, 3)
    return single("STABLEHLO_RESHAPE", [Tensor(shape)], [shape[2], shape[0] * shape[1]], "float32", lambda x: x)


@case("STABLEHLO_TRANSPOSE")
def transpose(rng):
    shape, perm = dims(rng, 4), [int(v) for v in rng.permutation(4)]
    return single("STABLEHLO_TRANSPOSE", [Tensor(shape)], [shape[i] for i in perm], "float32", lambda x: np.transpose(x, perm),
                  ("StablehloTransposeOptions", dict(permutation=longs(perm))))


@case("STABLEHLO_CONCATENATE")
def concatenate(rng):
    shape, axis = dims(rng, 3), int(rng.integers(3))
    parts = [Tensor([*shape[:axis], int(rng.integers(1, 4)), *shape[axis + 1:]]) for _ in range(int(rng.integers(1, 4)))]
    size = [*shape[:axis], sum(p.shape[axis] for p in parts), *shape[axis + 1:]]
    return single("STABLEHLO_CONCATENATE", parts, size, "float32", lambda *x: np.concatenate(x, axis),
                  ("StablehloConcatenateOptions", dict(dimension=axis)))


@case("STABLEHLO_BROADCAST_IN_DIM")
def broadcast(rng):
    shape = dims(rng, int(rng.integers(1, 5)))
    axes = [int(v) for v in rng.permutation(len(shape))[:int(rng.integers(0, len(shape) + 1))]]
    x = Tensor([1 if rng.integers(3) == 0 else shape[a] for a in axes])

    def expected(v):
        order = np.argsort(axes) if axes else []
        spaced = [1] * len(shape)
        for i, axis in enumerate(axes):
            spaced[axis] = v.shape[i]
        return np.broadcast_to(np.transpose(v, order).reshape(spaced), shape)

    return single("STABLEHLO_BROADCAST_IN_DIM", [x], shape, "float32", expected,
                  ("StablehloBroadcastInDimOptions", dict(broadcast_dimensions=longs(axes))))


@case("STABLEHLO_SLICE")
def slice_(rng):
    shape = dims(rng, 3, 2, 8)
    begin = [int(rng.integers(0, s)) for s in shape]
    end = [int(rng.integers(b + 1, s + 1)) for b, s in zip(begin, shape)]
    step = [int(rng.integers(1, 4)) for _ in shape]
    cut = tuple(slice(*v) for v in zip(begin, end, step))
    return single("STABLEHLO_SLICE", [Tensor(shape)], np.zeros(shape)[cut].shape, "float32", lambda x: x[cut], (
        "StablehloSliceOptions", dict(start_indices=longs(begin), limit_indices=longs(end), strides=longs(step))))


@case("STABLEHLO_IOTA")
def iota(rng):
    shape, axis, dtype = dims(rng, 3), int(rng.integers(3)), str(rng.choice(["float32", "int32"]))
    x, count, y = Tensor(shape, dtype), Tensor(shape, dtype), Tensor(shape, dtype)
    main = Graph([Op("STABLEHLO_IOTA", [], [count], options2=("StablehloIotaOptions", dict(iota_dimension=axis))),
                  Op("ADD", [x, count], [y], ("AddOptions", {}))], [x], [y])
    steps = np.arange(shape[axis]).reshape([-1 if i == axis else 1 for i in range(3)])
    main.expected = lambda v: [(v + steps).astype(v.dtype)]
    return [main]


@case("STABLEHLO_DYNAMIC", "SLICE", "UPDATE_SLICE")
def dynamic(rng, code):
    shape = dims(rng, int(rng.integers(1, 4)), 1, 7)
    sizes = [int(rng.integers(1, s + 1)) for s in shape]
    starts = [Tensor([], "int32") for _ in shape]

    def place(at):
        begin = [int(np.clip(a, 0, s - n)) for a, s, n in zip(at, shape, sizes)]
        return tuple(slice(b, b + n) for b, n in zip(begin, sizes))

    if code == "SLICE":
        return single("STABLEHLO_DYNAMIC_SLICE", [Tensor(shape), *starts], sizes, "float32", lambda x, *at: x[place(at)],
                      ("StablehloDynamicSliceOptions", dict(slice_sizes=longs(sizes))))

    def written(x, update, *at):
        y = x.copy()
        y[place(at)] = update
        return y

    return single("STABLEHLO_DYNAMIC_UPDATE_SLICE", [Tensor(shape), Tensor(sizes), *starts], shape, "float32", written)


@case("STABLEHLO_REDUCE", *REDUCE)
def reduce(rng, code):
    shape = dims(rng, int(rng.integers(1, 5)))
    axes = sorted(int(v) for v in rng.permutation(len(shape))[:int(rng.integers(1, len(shape) + 1))])
    dtype = "int32" if rng.integers(2) else "float32"
    start = np.array(rng.integers(1, 4)).astype(dtype)
    combine = {"ADD": np.add, "MULTIPLY": np.multiply, "MINIMUM": np.minimum, "MAXIMUM": np.maximum}[code]

    def expected(x):
        with np.errstate(over="ignore"):
            return combine(REDUCE[code](x, axis=tuple(axes), dtype=dtype) if code in ("ADD", "MULTIPLY") else
                           REDUCE[code](x, axis=tuple(axes)), start)

    kept = [s for i, s in enumerate(shape) if i not in axes]
    return single("STABLEHLO_REDUCE", [Tensor(shape, dtype), Tensor.const(start)], kept, dtype, expected,
                  ("StablehloReduceOptions", dict(dimensions=longs(axes), body_subgraph_index=1)), [body("STABLEHLO_" + code, dtype)])


@case("STABLEHLO_DOT_GENERAL")
def dot_general(rng):
    shared, summed, left, right = (dims(rng, int(n), 1, 5) for n in rng.integers(0, 3, 4))
    names = {}
    for group, sizes in zip("bslr", (shared, summed, left, right)):
        for i, size in enumerate(sizes):
            names[group + str(i)] = size
    first = [str(n) for n in rng.permutation([n for n in names if n[0] in "bsl"])]
    second = [str(n) for n in rng.permutation([n for n in names if n[0] in "bsr"])]
    out = ([n for n in names if n[0] == "b"] + [n for n in first if n[0] == "l"] + [n for n in second if n[0] == "r"])
    letter = {n: chr(97 + i) for i, n in enumerate(names)}
    equation = ",".join("".join(letter[n] for n in side) for side in (first, second)) + "->" + "".join(letter[n] for n in out)

    def axes(side, group):
        return longs([side.index(n) for n in names if n[0] == group])

    return single("STABLEHLO_DOT_GENERAL", [Tensor([names[n] for n in first]), Tensor([names[n] for n in second])], [names[n] for n in out],
                  "float32", lambda x, y: np.einsum(equation, x.astype(np.float64), y), ("StablehloDotGeneralOptions", dict(
                      lhs_batching_dimensions=axes(first, "b"), rhs_batching_dimensions=axes(second, "b"),
                      lhs_contracting_dimensions=axes(first, "s"), rhs_contracting_dimensions=axes(second, "s"))))


@case("STABLEHLO_WHILE")
def loop(rng):
    trips, shape = int(rng.integers(0, 6)), dims(rng, 2)
    i, x, j, y = Tensor([], "int32"), Tensor(shape), Tensor([], "int32"), Tensor(shape)
    ci, cx, go = Tensor([], "int32"), Tensor(shape), Tensor([], "bool")
    bi, bx, bj, by = Tensor([], "int32"), Tensor(shape), Tensor([], "int32"), Tensor(shape)
    start = Tensor.const(np.array(0, np.int32))
    main = Graph([Op("STABLEHLO_WHILE", [start, x], [j, y], options2=(
        "StablehloWhileOptions", dict(cond_subgraph_index=1, body_subgraph_index=2)))], [x], [j, y])
    main.expected = lambda v: [np.array(trips, np.int32), (v * np.float32(1.5) ** trips).astype(np.float32)]
    cond = Graph([Op("STABLEHLO_COMPARE", [ci, Tensor.const(np.array(trips, np.int32))], [go], options2=(
        "StablehloCompareOptions", dict(comparison_direction=5)))], [ci, cx], [go])
    step = Graph([Op("STABLEHLO_ADD", [bi, Tensor.const(np.array(1, np.int32))], [bj]),
                  Op("STABLEHLO_MULTIPLY", [bx, Tensor.const(np.array(1.5, np.float32))], [by])], [bi, bx], [bj, by])
    return [main, cond, step]


@case("STABLEHLO_GATHER rows")
def gather_rows(rng):
    """Index tuples of one number that have no axis of their own; LiteRT reads beyond its buffers there."""
    rows, width = (int(v) for v in rng.integers(1, 8, 2))
    indices = Tensor(dims(rng, int(rng.integers(1, 3))), "int32")
    at = len(indices.shape)
    return single("STABLEHLO_GATHER", [Tensor([rows, width]), indices], [*indices.shape, width], "float32",
                  lambda x, i: x[np.clip(i, 0, rows - 1)], ("StablehloGatherOptions", dict(
                      offset_dims=longs([at]), collapsed_slice_dims=longs([0]), start_index_map=longs([0]), index_vector_dim=at,
                      slice_sizes=longs([1, width]), indices_are_sorted=False)))


@case("STABLEHLO_SCATTER rows")
def scatter_rows(rng):
    """The same way into a tensor; what falls outside is left out."""
    rows, width, count = (int(v) for v in rng.integers(2, 8, 3))
    indices = Tensor([count], "int32")

    def expected(x, i, updates):
        y = x.copy()
        for row, update in zip(i, updates):
            if 0 <= row < rows:
                y[row] += update
        return y

    return single("STABLEHLO_SCATTER", [Tensor([rows, width]), indices, Tensor([count, width])], [rows, width], "float32", expected, (
        "StablehloScatterOptions", dict(indices_are_sorted=False, update_window_dims=longs([1]), inserted_window_dims=longs([0]),
                                        scatter_dims_to_operand_dims=longs([0]), index_vector_dim=1, unique_indices=False,
                                        update_computation_subgraph_index=1)), [body("STABLEHLO_ADD", "float32")])
