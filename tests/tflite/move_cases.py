"""More cases: operators that move elements, change types, resize images, hold state or have subgraphs."""

import numpy as np

from op_cases import CASES, F32, INT8, INT16, UINT8, act_tensor, case, dims, ints, one, scale, weights, zero, bias
from tflite_writer import Graph, Op, Tensor


def like(t, shape):
    return Tensor(shape, t.dtype, scale=t.scale, zero=t.zero)


@case("CONCATENATION", F32, INT8, UINT8, INT16)
def concatenation(rng, kind):
    shape, axis = dims(rng, 3), int(rng.integers(-3, 3))
    parts = []
    for _ in range(int(rng.integers(1, 4))):
        part = list(shape)
        part[axis % 3] = int(rng.integers(1, 5))
        parts.append(act_tensor(rng, part, kind) if kind == UINT8 or not parts else like(parts[0], part))
    out = list(shape)
    out[axis % 3] = sum(t.shape[axis % 3] for t in parts)
    y = act_tensor(rng, out, kind) if kind == UINT8 else like(parts[0], out)
    return one("CONCATENATION", parts, [y], ("ConcatenationOptions", dict(axis=axis, fused_activation_function=0)))


@case("PACK", F32, INT8)
def pack(rng, kind):
    shape, axis = dims(rng, 2), int(rng.integers(0, 3))
    x = act_tensor(rng, shape, kind)
    out = shape[:axis] + [2] + shape[axis:]
    return one("PACK", [x, like(x, shape)], [like(x, out)], ("PackOptions", dict(values_count=2, axis=axis)))


@case("UNPACK", F32, INT8)
def unpack(rng, kind):
    shape, axis = dims(rng, 3), int(rng.integers(-3, 3))
    x = act_tensor(rng, shape, kind)
    out = [v for i, v in enumerate(shape) if i != axis % 3]
    n = shape[axis % 3]
    return one("UNPACK", [x], [like(x, out) for _ in range(n)], ("UnpackOptions", dict(num=n, axis=axis)))


@case("SPLIT", F32, INT8)
def split(rng, kind):
    n, shape, axis = int(rng.integers(1, 4)), dims(rng, 3), int(rng.integers(0, 3))
    out = list(shape)
    shape[axis] *= n
    x = act_tensor(rng, shape, kind)
    return one("SPLIT", [ints(axis), x], [like(x, out) for _ in range(n)], ("SplitOptions", dict(num_splits=n)))


@case("SPLIT_V", F32)
def split_v(rng, kind):
    shape, axis = dims(rng, 3), int(rng.integers(0, 3))
    sizes = [int(v) for v in rng.integers(1, 4, 3)]
    shape[axis] = sum(sizes)
    outs = [Tensor(shape[:axis] + [s] + shape[axis + 1:]) for s in sizes]
    written = list(sizes)
    if rng.integers(2):
        written[int(rng.integers(3))] = -1
    return one("SPLIT_V", [Tensor(shape), ints(*written), ints(axis)], outs, ("SplitVOptions", dict(num_splits=3)))


def padded(rng, kind):
    shape = dims(rng, 4)
    pads = rng.integers(0, 3, (4, 2)).astype(np.int32)
    x = act_tensor(rng, shape, kind)
    return x, pads, like(x, [int(v) for v in np.array(shape) + pads.sum(1)])


for _kind in (F32, INT8, UINT8):
    def _pad(rng, kind=_kind):
        x, pads, y = padded(rng, kind)
        return one("PAD", [x, Tensor.const(pads)], [y])

    CASES[f"PAD {_kind}"] = _pad

for _kind in (F32, INT8):
    def _padv2(rng, kind=_kind):
        x, pads, y = padded(rng, kind)
        value = Tensor.const(np.array(3, kind), scale=x.scale, zero=x.zero)
        return one("PADV2", [x, Tensor.const(pads), value], [y])

    CASES[f"PADV2 {_kind}"] = _padv2


@case("MIRROR_PAD", F32, INT8)
def mirror_pad(rng, kind):
    shape = dims(rng, 3, 3)
    pads = rng.integers(0, 3, (3, 2)).astype(np.int32)
    x = act_tensor(rng, shape, kind)
    y = like(x, [int(v) for v in np.array(shape) + pads.sum(1)])
    return one("MIRROR_PAD", [x, Tensor.const(pads)], [y], ("MirrorPadOptions", dict(mode=int(rng.integers(2)))))


@case("TRANSPOSE", F32, INT8)
def transpose(rng, kind):
    rank = int(rng.integers(2, 6))
    shape, perm = dims(rng, rank), [int(v) for v in rng.permutation(rank)]
    x = act_tensor(rng, shape, kind)
    return one("TRANSPOSE", [x, ints(*perm)], [like(x, [shape[p] for p in perm])])


@case("STRIDED_SLICE", F32, INT8, "masks")
def strided_slice(rng, kind):
    dtype = F32 if kind == "masks" else kind
    shape = dims(rng, 3, 3, 8)
    begin = [int(rng.integers(0, v)) for v in shape]
    end = [int(rng.integers(b + 1, v + 1)) for b, v in zip(begin, shape)]
    step = [int(v) for v in rng.integers(1, 3, 3)]
    if rng.integers(3) == 0:
        begin[0], end[0], step[0] = shape[0] - 1, -shape[0] - 1, -1
    shrink = int(rng.integers(8)) if kind == "masks" else 0
    begin_mask, end_mask = (int(rng.integers(8)), int(rng.integers(8))) if kind == "masks" else (0, 0)
    for i in range(3):
        if shrink >> i & 1:
            step[i], begin_mask, end_mask = 1, begin_mask & ~(1 << i), end_mask & ~(1 << i)
            begin[i] = min(begin[i], shape[i] - 1)
            end[i] = begin[i] + 1
    index = tuple(begin[i] if shrink >> i & 1 else slice(None if begin_mask >> i & 1 else begin[i],
                  None if end_mask >> i & 1 or (step[i] < 0 and end[i] < -shape[i]) else end[i], step[i]) for i in range(3))
    out = list(np.zeros(shape)[index].shape)
    x = act_tensor(rng, shape, dtype)
    return one("STRIDED_SLICE", [x, ints(*begin), ints(*end), ints(*step)], [like(x, out)], ("StridedSliceOptions", dict(
        begin_mask=begin_mask, end_mask=end_mask, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=shrink)))


@case("SLICE", F32, INT8)
def slice_(rng, kind):
    shape = dims(rng, 3, 2, 7)
    begin = [int(rng.integers(0, v)) for v in shape]
    size = [int(rng.integers(1, v - b + 1)) for b, v in zip(begin, shape)]
    out = list(size)
    if rng.integers(2):
        size[1], out[1] = -1, shape[1] - begin[1]
    x = act_tensor(rng, shape, kind)
    return one("SLICE", [x, ints(*begin), ints(*size)], [like(x, out)])


@case("GATHER", F32, INT8)
def gather(rng, kind):
    shape, axis = dims(rng, 3), int(rng.integers(0, 3))
    x = act_tensor(rng, shape, kind)
    idx = rng.integers(0, shape[axis], (2, 3)).astype(np.int32)
    return one("GATHER", [x, Tensor.const(idx)], [like(x, shape[:axis] + [2, 3] + shape[axis + 1:])], ("GatherOptions", dict(axis=axis)))


@case("GATHER_ND", F32)
def gather_nd(rng, kind):
    shape = dims(rng, 3, 2)
    idx = np.stack([rng.integers(0, shape[0], 4), rng.integers(0, shape[1], 4)], 1).astype(np.int32)
    return one("GATHER_ND", [Tensor(shape), Tensor.const(idx)], [Tensor([4, shape[2]])])


@case("SCATTER_ND", F32)
def scatter_nd(rng, kind):
    idx = rng.integers(0, 5, (4, 1)).astype(np.int32)
    return one("SCATTER_ND", [Tensor.const(idx), Tensor([4, 3]), ints(5, 3)], [Tensor([5, 3])])


@case("TILE", F32)
def tile(rng, kind):
    shape, n = dims(rng, 3), [int(v) for v in rng.integers(1, 4, 3)]
    return one("TILE", [Tensor(shape), ints(*n)], [Tensor([a * b for a, b in zip(shape, n)])])


@case("BROADCAST_TO", F32)
def broadcast_to(rng, kind):
    shape = dims(rng, 3)
    return one("BROADCAST_TO", [Tensor([shape[1], 1]), ints(*shape)], [Tensor(shape)])


@case("REVERSE_V2", F32)
def reverse(rng, kind):
    shape = dims(rng, 3)
    return one("REVERSE_V2", [Tensor(shape), ints(int(rng.integers(0, 3)))], [Tensor(shape)])


@case("TOPK_V2", F32, INT8)
def top_k(rng, kind):
    shape = dims(rng, 2, 3, 9)
    x = act_tensor(rng, shape, kind)
    return one("TOPK_V2", [x, Tensor.const(np.array(2, np.int32))], [like(x, [shape[0], 2]), Tensor([shape[0], 2], "int32")])


@case("ONE_HOT", F32)
def one_hot(rng, kind):
    idx = Tensor.const(rng.integers(-1, 6, (2, 3)).astype(np.int32))
    c = [Tensor.const(np.array(v, t)) for v, t in ((5, np.int32), (2.5, np.float32), (-1, np.float32))]
    x, hot, y = Tensor([2, 3, 5]), Tensor([2, 3, 5]), Tensor([2, 3, 5])
    ops = [Op("ONE_HOT", [idx] + c, [hot], ("OneHotOptions", dict(axis=-1))), Op("ADD", [x, hot], [y], ("AddOptions", {}))]
    return [Graph(ops, [x], [y])]


@case("DEPTH_TO_SPACE", F32, INT8)
def depth_to_space(rng, kind):
    x = act_tensor(rng, [1, 2, 3, 8], kind)
    return one("DEPTH_TO_SPACE", [x], [like(x, [1, 4, 6, 2])], ("DepthToSpaceOptions", dict(block_size=2)))


@case("SPACE_TO_DEPTH", F32, INT8)
def space_to_depth(rng, kind):
    x = act_tensor(rng, [1, 4, 6, 2], kind)
    return one("SPACE_TO_DEPTH", [x], [like(x, [1, 2, 3, 8])], ("SpaceToDepthOptions", dict(block_size=2)))


@case("SPACE_TO_BATCH_ND", F32, INT8)
def space_to_batch(rng, kind):
    x = act_tensor(rng, [1, 5, 4, 2], kind)
    return one("SPACE_TO_BATCH_ND", [x, ints(2, 2), Tensor.const(np.array([[1, 0], [1, 1]], np.int32))], [like(x, [4, 3, 3, 2])])


@case("BATCH_TO_SPACE_ND", F32, INT8)
def batch_to_space(rng, kind):
    x = act_tensor(rng, [4, 3, 3, 2], kind)
    return one("BATCH_TO_SPACE_ND", [x, ints(2, 2), Tensor.const(np.array([[1, 0], [1, 1]], np.int32))], [like(x, [1, 5, 4, 2])])


@case("RESHAPE", F32, INT8)
def reshape(rng, kind):
    shape = dims(rng, 3)
    x = act_tensor(rng, shape, kind)
    n = int(np.prod(shape))
    new = [shape[0], n // shape[0]]
    return one("RESHAPE", [x, ints(-1, new[1])] if rng.integers(2) else [x], [like(x, new)], ("ReshapeOptions", dict(new_shape=new)))


@case("SQUEEZE", F32)
def squeeze(rng, kind):
    return one("SQUEEZE", [Tensor([1, 3, 1, 2])], [Tensor([3, 2])] if (a := rng.integers(2)) else [Tensor([1, 3, 2])],
               ("SqueezeOptions", {} if a else dict(squeeze_dims=[2])))


@case("EXPAND_DIMS", F32)
def expand_dims(rng, kind):
    return one("EXPAND_DIMS", [Tensor([3, 2]), ints(-1)], [Tensor([3, 2, 1])])


@case("CAST", (F32, "int32"), ("int32", F32), (F32, "bool"), ("bool", F32), (UINT8, F32), ("int64", "int32"))
def cast(rng, a, b):
    shape = dims(rng, 3)
    codes = {F32: 0, "int32": 2, UINT8: 3, "int64": 4, "bool": 6}
    return one("CAST", [Tensor(shape, a)], [Tensor(shape, b)], ("CastOptions", dict(in_data_type=codes[a], out_data_type=codes[b])))


@case("FILL", F32)
def fill(rng, kind):
    return one("FILL", [ints(2, 3), Tensor([], kind)], [Tensor([2, 3], kind)])


@case("SHAPE", F32)
def shape_(rng, kind):
    return one("SHAPE", [Tensor([2, 5, 3])], [Tensor([3], "int32")], ("ShapeOptions", dict(out_type=2)))


@case("MATRIX_DIAG", F32)
def matrix_diag(rng, kind):
    return one("MATRIX_DIAG", [Tensor([2, 3])], [Tensor([2, 3, 3])])


@case("REVERSE_SEQUENCE", F32)
def reverse_sequence(rng, kind):
    return one("REVERSE_SEQUENCE", [Tensor([3, 5, 2]), ints(2, 5, 1)], [Tensor([3, 5, 2])],
               ("ReverseSequenceOptions", dict(seq_dim=1, batch_dim=0)))


@case("EMBEDDING_LOOKUP", F32, INT8)
def embedding(rng, kind):
    ids, table = Tensor.const(rng.integers(0, 7, 5).astype(np.int32)), weights(rng, [7, 4], kind)
    x, rows, y = Tensor([5, 4]), Tensor([5, 4]), Tensor([5, 4])
    return [Graph([Op("EMBEDDING_LOOKUP", [ids, table], [rows]), Op("ADD", [x, rows], [y], ("AddOptions", {}))], [x], [y])]


# --- types and images ---


@case("QUANTIZE", (F32, INT8), (F32, UINT8), (F32, INT16), (INT8, INT8), (UINT8, INT8), (INT8, UINT8), (INT16, INT8),
      (INT8, INT16), (INT16, INT16))
def quantize(rng, a, b):
    shape = dims(rng, 3)
    return one("QUANTIZE", [act_tensor(rng, shape, a)], [act_tensor(rng, shape, b)])


@case("DEQUANTIZE", INT8, UINT8, INT16, "float16")
def dequantize(rng, kind):
    shape = dims(rng, 3)
    return one("DEQUANTIZE", [act_tensor(rng, shape, kind)], [Tensor(shape)])


def resize_case(code, options, kind):
    def make(rng):
        h, w, c, oh, ow = (int(v) for v in rng.integers(1, 8, 5))
        mode = int(rng.integers(3))
        x = act_tensor(rng, [1, h, w, c], kind)
        return one(code, [x, ints(oh, ow)], [like(x, [1, oh, ow, c])],
                   (options, dict(align_corners=mode == 1, half_pixel_centers=mode == 2)))

    return make


for _kind in (F32, INT8, UINT8, INT16):
    CASES[f"RESIZE_BILINEAR {_kind}"] = resize_case("RESIZE_BILINEAR", "ResizeBilinearOptions", _kind)
for _kind in (F32, INT8, UINT8):
    CASES[f"RESIZE_NEAREST_NEIGHBOR {_kind}"] = resize_case("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions", _kind)


@case("FAKE_QUANT", F32)
def fake_quant(rng, kind):
    shape = dims(rng, 3)
    return one("FAKE_QUANT", [Tensor(shape)], [Tensor(shape)],
               ("FakeQuantOptions", dict(min=-0.8, max=0.9, num_bits=8, narrow_range=False)))


@case("QUANTIZE int4", "QUANTIZE", "CAST")
def four_bits(rng, code):
    """Through 4 bits, saturated, and moved there."""
    shape, axes = dims(rng, 3), [int(v) for v in rng.permutation(3)]
    s = dict(scale=float(np.float32(rng.uniform(0.1, 0.3))), zero=int(rng.integers(-3, 4))) if code == "QUANTIZE" else {}
    x, a, y = Tensor(shape), Tensor(shape, "int4", **s), Tensor([shape[i] for i in axes])
    b = Tensor(y.shape, "int4", **s)
    back = Op("DEQUANTIZE" if code == "QUANTIZE" else "CAST", [b], [y])
    return [Graph([Op(code, [x], [a]), Op("TRANSPOSE", [a, ints(*axes)], [b]), back], [x], [y])]


# --- control flow and state ---


@case("IF")
def if_(rng):
    c, x, y = Tensor([1], "bool"), Tensor([2, 3]), Tensor([2, 3])
    main = Graph([Op("IF", [c, x], [y], ("IfOptions", dict(then_subgraph_index=1, else_subgraph_index=2)))], [c, x], [y])
    a, b = Tensor([2, 3]), Tensor([2, 3])
    p, q = Tensor([2, 3]), Tensor([2, 3])
    return [main, Graph([Op("EXP", [a], [b])], [a], [b]), Graph([Op("ABS", [p], [q])], [p], [q])]


@case("WHILE")
def while_(rng):
    i, x, j, y = Tensor([], "int32"), Tensor([2, 3]), Tensor([], "int32"), Tensor([2, 3])
    start = Tensor.const(np.array(0, np.int32))
    main = Graph([Op("WHILE", [start, x], [j, y], ("WhileOptions", dict(cond_subgraph_index=1, body_subgraph_index=2)))], [x], [j, y])
    ci, cx, go = Tensor([], "int32"), Tensor([2, 3]), Tensor([], "bool")
    cond = Graph([Op("LESS", [ci, Tensor.const(np.array(5, np.int32))], [go])], [ci, cx], [go])
    bi, bx, bj, by = Tensor([], "int32"), Tensor([2, 3]), Tensor([], "int32"), Tensor([2, 3])
    body = Graph([Op("ADD", [bi, Tensor.const(np.array(1, np.int32))], [bj], ("AddOptions", {})),
                  Op("MUL", [bx, Tensor.const(np.array(1.5, np.float32))], [by], ("MulOptions", {}))], [bi, bx], [bj, by])
    return [main, cond, body]


@case("VARIABLE")
def variable(rng):
    handle, h2 = Tensor([], "resource"), Tensor([], "resource")
    x, old, new, y = Tensor([2, 3]), Tensor([2, 3]), Tensor([2, 3]), Tensor([2, 3])
    name = ("VarHandleOptions", dict(shared_name="v"))
    main = Graph([Op("CALL_ONCE", [], [], ("CallOnceOptions", dict(init_subgraph_index=1))), Op("VAR_HANDLE", [], [handle], name),
                  Op("READ_VARIABLE", [handle], [old]), Op("ADD", [old, x], [new], ("AddOptions", {})),
                  Op("ASSIGN_VARIABLE", [handle, new], []), Op("MUL", [old, new], [y], ("MulOptions", {}))], [x], [y])
    first = Tensor.const(rng.uniform(-1, 1, (2, 3)).astype(np.float32))
    return [main, Graph([Op("VAR_HANDLE", [], [h2], name), Op("ASSIGN_VARIABLE", [h2, first], [])], [], [])]


@case("NON_MAX_SUPPRESSION", "V4", "V5", "V5 soft")
def non_max_suppression(rng, version):
    count, most = int(rng.integers(1, 30)), int(rng.integers(1, 20))
    corners = np.sort(rng.uniform(0, 1, (count, 2, 2)), axis=1)[:, ::int(rng.choice([1, -1]))].reshape(count, 4)
    corners[rng.integers(count)] = corners[0]
    boxes = Tensor.const(corners.astype(np.float32))
    scores = Tensor([count])
    thresholds = [Tensor.const(np.float32(v)) for v in (rng.choice([0.3, 0.5, 1.0]), rng.uniform(-0.5 if version != "V5 soft" else 0, 0.5))]
    inputs = [boxes, scores, Tensor.const(np.array(most, np.int32)), *thresholds]
    indices, values, valid = Tensor([most], "int32"), Tensor([most]), Tensor([], "int32")
    if version != "V4":
        sigma = np.float32(rng.uniform(0.1, 1) if version == "V5 soft" else 0)
        return one("NON_MAX_SUPPRESSION_V5", [*inputs, Tensor.const(sigma)], [indices, values, valid],
                   ("NonMaxSuppressionV5Options", {}))
    return one("NON_MAX_SUPPRESSION_V4", inputs, [indices, valid], ("NonMaxSuppressionV4Options", {}))


@case("STABLEHLO", "ADD", "MAXIMUM", "MINIMUM", "MULTIPLY")
def stablehlo(rng, name):
    shape, dtype = dims(rng, 3), str(rng.choice(["float32", "int32"]))
    return one("STABLEHLO_" + name, [Tensor(shape, dtype), Tensor(shape, dtype)], [Tensor(shape, dtype)])
