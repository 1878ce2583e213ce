"""The operators that came with StableHLO, and those like them: windows, gathers and scatters of windows, tables of keys."""

import numpy as np

from op_cases import act_tensor, case, dims, one
from tflite_writer import Graph, Op, Tensor

TYPES = ["float32", "int32", "int8", "uint8", "int16", "int64"]
BODIES = {"ADD": 1, "MUL": 2, "MINIMUM": 3, "MAXIMUM": 4, "ALL": 5, "ANY": 6}
BODY_OPS = {"ADD": "ADD", "MUL": "MUL", "MINIMUM": "MINIMUM", "MAXIMUM": "MAXIMUM", "ALL": "LOGICAL_AND", "ANY": "LOGICAL_OR"}
BODY_OPTIONS = {"ADD": ("AddOptions", {}), "MUL": ("MulOptions", {})}


def longs(values):
    return np.asarray(values, np.int64)


def number(rng, dtype, neutral=None):
    """A scalar constant."""
    if neutral is not None and rng.integers(2):
        return Tensor.const(np.array(neutral).astype(dtype))
    value = rng.uniform(-1, 1) if dtype == "float32" else rng.integers(0, 2) if dtype == "bool" else rng.integers(0, 5)
    return Tensor.const(np.array(value).astype(dtype))


def body(code, dtype):
    """A subgraph that combines two numbers; None gives the second."""
    a, b, y = Tensor([], dtype), Tensor([], dtype), Tensor([], dtype)
    if code is None:
        return Graph([], [a, b], [b])
    return Graph([Op(code, [a, b], [y], BODY_OPTIONS.get(code))], [a, b], [y])


def windows(rng, shape, most=5):
    """Sizes, strides and dilations of windows that fit."""
    sizes = [int(rng.integers(1, min(most, s) + 1)) for s in shape]
    gaps = [int(rng.integers(1, max(2, (s - 1) // max(1, k - 1) + 1))) if k > 1 else 1 for s, k in zip(shape, sizes)]
    gaps = [min(g, 3) for g in gaps]
    strides = [int(rng.integers(1, 4)) for _ in shape]
    return sizes, strides, gaps


def reduced(shape, sizes, strides, gaps):
    return [(s - (k - 1) * g - 1) // t + 1 for s, k, t, g in zip(shape, sizes, strides, gaps)]


def choose_type(rng, function):
    if function in ("ALL", "ANY"):
        return "bool"
    return str(rng.choice(TYPES if function != "MUL" else ["float32", "int32", "int64"]))


NEUTRAL = {"ADD": 0, "MUL": 1, "ALL": 1, "ANY": 0}


@case("REDUCE_WINDOW", *BODIES)
def reduce_window(rng, function):
    dtype, shape = choose_type(rng, function), dims(rng, int(rng.integers(1, 5)), 1, 9)
    if rng.integers(4) == 0:
        shape[-1] = int(rng.integers(20, 70))
    sizes, strides, gaps = windows(rng, shape, 40)
    if dtype == "float32" and function == "MUL":
        sizes = [min(s, 3) for s in sizes]
    y = Tensor(reduced(shape, sizes, strides, gaps), dtype)
    op = Op("REDUCE_WINDOW", [Tensor(shape, dtype), number(rng, dtype, NEUTRAL.get(function)), *(Tensor.const(longs(v)) for v in
                                                                                          (sizes, strides, gaps))],
            [y], options2=("ReduceWindowOptions", dict(reduce_function=BODIES[function])))
    return [Graph([op], [op.inputs[0]], [y])]


@case("STABLEHLO_REDUCE_WINDOW", *BODIES)
def stablehlo_reduce_window(rng, function):
    dtype, shape = choose_type(rng, function), dims(rng, int(rng.integers(1, 5)), 1, 7)
    apart = [int(rng.integers(1, 3)) for _ in shape]
    wide = [(s - 1) * a + 1 for s, a in zip(shape, apart)]
    padding = [(int(rng.integers(-1 if w > 3 else 0, 3)), int(rng.integers(-1 if w > 3 else 0, 3))) for w in wide]
    padded = [w + a + b for w, (a, b) in zip(wide, padding)]
    sizes, strides, gaps = windows(rng, padded, 3 if function == "MUL" else 5)
    y = Tensor(reduced(padded, sizes, strides, gaps), dtype)
    op = Op("STABLEHLO_REDUCE_WINDOW", [Tensor(shape, dtype), number(rng, dtype, NEUTRAL.get(function))], [y], options2=(
        "StablehloReduceWindowOptions", dict(window_dimensions=longs(sizes), window_strides=longs(strides), base_dilations=longs(apart),
                                             window_dilations=longs(gaps), padding=longs(padding).reshape(-1), body_subgraph_index=1)))
    return [Graph([op], [op.inputs[0]], [y]), body(BODY_OPS[function], dtype)]


@case("DILATE")
def dilate(rng):
    dtype, shape = str(rng.choice(TYPES)), dims(rng, int(rng.integers(1, 5)))
    steps = [int(rng.integers(1, 4)) for _ in shape]
    y = Tensor([(s - 1) * t + 1 for s, t in zip(shape, steps)], dtype)
    return one("DILATE", [Tensor(shape, dtype), Tensor.const(np.int32(steps)), number(rng, dtype)], [y])


@case("STABLEHLO_PAD")
def pad(rng):
    dtype, shape = str(rng.choice(TYPES)), dims(rng, int(rng.integers(1, 5)), 2, 6)
    between = [int(rng.integers(0, 3)) for _ in shape]
    low, high = ([int(rng.integers(-2, 4)) for _ in shape] for _ in range(2))
    sizes = [s + (s - 1) * b + i + j for s, b, i, j in zip(shape, between, low, high)]
    for i, size in enumerate(sizes):
        if size < 1:
            low[i], sizes[i] = low[i] + 1 - size, 1
    op = Op("STABLEHLO_PAD", [Tensor(shape, dtype), number(rng, dtype)], [Tensor(sizes, dtype)], options2=(
        "StablehloPadOptions", dict(edge_padding_low=longs(low), edge_padding_high=longs(high), interior_padding=longs(between))))
    return [Graph([op], [op.inputs[0]], list(op.outputs))]


def index_tensor(rng, batch, vector_dim, limits, constant):
    """Index tuples, whose numbers also lie outside; the numbers of a tuple along axis `vector_dim`."""
    rows = np.stack([rng.integers(-2, max(1, limit) + 2, batch) for limit in limits], -1).astype(rng.choice([np.int32, np.int64]))
    rows = np.moveaxis(rows, -1, vector_dim)
    return Tensor.const(rows) if constant else Tensor(rows.shape, str(rows.dtype))


@case("STABLEHLO_GATHER")
def gather(rng):
    dtype, shape = str(rng.choice(TYPES)), dims(rng, int(rng.integers(1, 5)))
    rank = len(shape)
    mapped = [int(v) for v in rng.permutation(rank)[:int(rng.integers(1, rank + 1))]]
    sizes = [int(rng.integers(1, s + 1)) if i in mapped or rng.integers(3) == 0 else s for i, s in enumerate(shape)]
    gone = [i for i in range(rank) if sizes[i] == 1 and rng.integers(3) > 0]
    batch = dims(rng, int(rng.integers(0, 3)), 1, 5)
    vector_dim = int(rng.integers(0, len(batch) + 1))
    indices = index_tensor(rng, batch, vector_dim, [shape[i] for i in mapped], rng.integers(2) == 0)
    kept = [sizes[i] for i in range(rank) if i not in gone]
    offset = sorted(int(v) for v in rng.permutation(len(batch) + len(kept))[:len(kept)])
    rest, inner = iter(batch), iter(kept)
    y = Tensor([next(inner) if i in offset else next(rest) for i in range(len(batch) + len(kept))], dtype)
    op = Op("STABLEHLO_GATHER", [Tensor(shape, dtype), indices], [y], options2=("StablehloGatherOptions", dict(
        offset_dims=longs(offset), collapsed_slice_dims=longs(gone), start_index_map=longs(mapped), index_vector_dim=vector_dim,
        slice_sizes=longs(sizes), indices_are_sorted=False)))
    return [Graph([op], [t for t in op.inputs if t.data is None], [y])]


@case("STABLEHLO_SCATTER", "SET", "ADD", "MULTIPLY", "MINIMUM", "MAXIMUM")
def scatter(rng, function):
    """Windows that are set lie apart from each other: which of two comes last is not said."""
    dtype, shape = str(rng.choice(TYPES if function != "MULTIPLY" else ["float32", "int32"])), dims(rng, int(rng.integers(1, 5)), 2, 7)
    rank = len(shape)
    mapped = [int(v) for v in rng.permutation(rank)[:int(rng.integers(1, rank + 1))]]
    sizes = [int(rng.integers(1, s + 1)) if i in mapped or rng.integers(3) == 0 else s for i, s in enumerate(shape)]
    inserted = [i for i in range(rank) if sizes[i] == 1 and rng.integers(3) > 0]
    batch = dims(rng, int(rng.integers(0, 3)), 1, 4) if function != "SET" else []
    vector_dim = int(rng.integers(0, len(batch) + 1))
    constant = rng.integers(2) == 0
    indices = index_tensor(rng, batch, vector_dim, [shape[i] for i in mapped], constant)
    if constant and rng.integers(2):
        indices.data[...] = 0
    kept = [sizes[i] for i in range(rank) if i not in inserted]
    window = sorted(int(v) for v in rng.permutation(len(batch) + len(kept))[:len(kept)])
    rest, inner = iter(batch), iter(kept)
    updates = Tensor([next(inner) if i in window else next(rest) for i in range(len(batch) + len(kept))], dtype)
    op = Op("STABLEHLO_SCATTER", [Tensor(shape, dtype), indices, updates], [Tensor(shape, dtype)], options2=(
        "StablehloScatterOptions", dict(indices_are_sorted=False, update_window_dims=longs(window), inserted_window_dims=longs(inserted),
                                        scatter_dims_to_operand_dims=longs(mapped), index_vector_dim=vector_dim, unique_indices=False,
                                        update_computation_subgraph_index=1)))
    return [Graph([op], [t for t in op.inputs if t.data is None], list(op.outputs)),
            body(None if function == "SET" else "STABLEHLO_" + function, dtype)]


@case("EMBEDDING_LOOKUP_SPARSE", "SUM", "MEAN", "SQRTN")
def embedding_lookup_sparse(rng, combiner):
    count, rank = int(rng.integers(1, 12)), int(rng.integers(1, 4))
    dense = dims(rng, rank, 1, 5)
    table = Tensor([int(rng.integers(9, 14)), *dims(rng, int(rng.integers(1, 3)))])
    places = rng.integers(0, dense, (count, rank)).astype(np.int32)
    places = places[np.lexsort(places.T[::-1])]
    weights = Tensor.const(rng.uniform(0.1, 2, count).astype(np.float32)) if rng.integers(2) else Tensor([count])
    if combiner == "MEAN" and weights.data is None:
        weights = Tensor.const(rng.uniform(0.1, 2, count).astype(np.float32))
    y = Tensor(dense[:-1] + table.shape[1:])
    return one("EMBEDDING_LOOKUP_SPARSE", [Tensor([count], "int32"), Tensor.const(places), Tensor.const(np.int32(dense)), weights, table],
               [y], ("EmbeddingLookupSparseOptions", dict(combiner=["SUM", "MEAN", "SQRTN"].index(combiner))))


@case("HASHTABLE_LOOKUP")
def hashtable_lookup(rng):
    count, dtype = int(rng.integers(1, 40)), str(rng.choice([*TYPES, "bool"]))
    keys = np.sort(rng.choice(np.arange(-5, 60), count, replace=False)).astype(np.int32)
    shape = dims(rng, int(rng.integers(0, 3)))
    wanted = Tensor([int(rng.integers(1, 9))], "int32")
    return one("HASHTABLE_LOOKUP", [wanted, Tensor.const(keys), Tensor([count, *shape], dtype)],
               [Tensor([wanted.shape[0], *shape], dtype), Tensor([wanted.shape[0]], "uint8")])


@case("STABLEHLO_AND", "bool", "int32", "int8")
def stablehlo_and(rng, dtype):
    shape = dims(rng, 3)
    return one("STABLEHLO_AND", [Tensor(shape, dtype), Tensor(shape, dtype)], [Tensor(shape, dtype)])


@case("STABLEHLO_CASE")
def choose(rng):
    """Branches with one input; numbers that name no branch too."""
    codes = [str(c) for c in rng.choice(["ABS", "EXP", "NEG", "SIN", "TANH", "LOGISTIC"], int(rng.integers(1, 15)))]
    index, x, y = Tensor([1] if rng.integers(2) else [], "int32"), Tensor([2, 3]), Tensor([2, 3])
    branches = []
    for code in codes:
        a, b = Tensor([2, 3]), Tensor([2, 3])
        branches.append(Graph([Op(code, [a], [b])], [a], [b]))
    op = Op("STABLEHLO_CASE", [index, x], [y], options2=("StablehloCaseOptions",
                                                         dict(branch_subgraph_indices=list(range(1, len(codes) + 1)))))
    return [Graph([op], [index, x], [y]), *branches]


@case("STABLEHLO_RNG_BIT_GENERATOR", "PHILOX", "THREEFRY", "DEFAULT")
def rng_bit_generator(rng, algorithm):
    """Also counters whose lower word ends."""
    count = int(rng.integers(2, 4)) if algorithm != "THREEFRY" else 2
    state = rng.integers(0, 1 << 63, count).astype(np.uint64)
    state[1] = (state[1] & np.uint64(0xffffffff00000000)) | np.uint64(rng.choice([5, 0xfffffffe, 0xffffffff, 77]))
    dtype = str(rng.choice(["int32", "uint32", "int64", "uint64"]))
    x, y = Tensor.const(state) if rng.integers(2) else Tensor([count], "uint64"), Tensor(dims(rng, int(rng.integers(1, 4))), dtype)
    op = Op("STABLEHLO_RNG_BIT_GENERATOR", [x], [Tensor([count], "uint64"), y], options2=(
        "StablehloRngBitGeneratorOptions", dict(algorithm=["DEFAULT", "PHILOX", "THREEFRY"].index(algorithm))))
    return [Graph([op], [] if x.data is not None else [x], list(op.outputs))]


@case("DIV", "int8", "uint8")
def div(rng, dtype):
    """Divisors that are not 0, which LiteRT refuses: one constant, several, or computed ones. Output scales for which its last shift is one
    that C++ defines."""
    shape = dims(rng, int(rng.integers(1, 4)))
    x, z = act_tensor(rng, shape, dtype), act_tensor(rng, [1] if rng.integers(2) else shape, dtype)
    y = act_tensor(rng, shape, dtype, s=float(np.float32(x.scale / z.scale / rng.uniform(65, 400))))
    least, most = (-128, 128) if dtype == "int8" else (0, 256)
    quotient = Op("DIV", [x, z], [y], ("DivOptions", dict(fused_activation_function=int(rng.integers(0, 4)))))
    if rng.integers(2):
        values = rng.integers(least, most, z.shape)
        z.data = np.where(values == z.zero, z.zero + 1, values).astype(dtype)
        return [Graph([quotient], [x], [y])]
    given, floor = Tensor(z.shape, dtype, scale=z.scale, zero=z.zero), Tensor(z.shape, dtype, scale=z.scale, zero=z.zero)
    floor.data = np.full(z.shape, z.zero + 1, dtype)
    return [Graph([Op("MAXIMUM", [given, floor], [z], ("MaximumMinimumOptions", {})), quotient], [x, given], [y])]


@case("NEG", "int8", "int16")
def negate(rng, dtype):
    shape = dims(rng, 3)
    return one("NEG", [act_tensor(rng, shape, dtype)], [act_tensor(rng, shape, dtype)])


@case("RIGHT_SHIFT", "int8", "uint8", "int16", "uint16", "int32", "uint32")
def right_shift(rng, dtype):
    shape = dims(rng, 3)
    return one("RIGHT_SHIFT", [Tensor(shape, dtype), Tensor(shape, dtype)], [Tensor(shape, dtype)])


@case("SUM bool")
def sum_bool(rng):
    x = Tensor(dims(rng, 3), "bool")
    code = str(rng.choice(["SUM", "REDUCE_PROD"]))
    return one(code, [x, Tensor.const(np.int32([1]))], [Tensor([x.shape[0], x.shape[2]], "bool")], ("ReducerOptions", {}))


@case("SEGMENT_SUM", "float32", "int32")
def segment_sum(rng, dtype):
    ids = np.cumsum(rng.integers(0, 2, int(rng.integers(1, 9)))).astype(np.int32)
    ids -= ids[0]
    x = Tensor([len(ids), *dims(rng, int(rng.integers(0, 3)))], dtype)
    return one("SEGMENT_SUM", [x, Tensor.const(ids)], [Tensor([int(ids[-1]) + 1, *x.shape[1:]], dtype)])


@case("UNSORTED_SEGMENT", "SUM", "PROD", "MIN", "MAX")
def unsorted_segment(rng, function):
    """Ids below 0 leave rows out; computed ones too."""
    count, dtype = int(rng.integers(1, 9)), str(rng.choice(["float32", "int32"]))
    x, segments = Tensor([count, *dims(rng, int(rng.integers(0, 3)))], dtype), int(rng.integers(9, 12))
    ids = Tensor([count], "int32") if rng.integers(2) else Tensor.const(rng.integers(-2, segments, count).astype(np.int32))
    return one("UNSORTED_SEGMENT_" + function, [x, ids, Tensor.const(np.int32(segments))], [Tensor([segments, *x.shape[1:]], dtype)])
