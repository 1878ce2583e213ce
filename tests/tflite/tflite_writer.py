"""Writes small TensorFlow Lite files for tests, with the PyPI packages `tflite` and `flatbuffers`."""

import flatbuffers
import numpy as np
import tflite

TYPES = {
    "float32": 0, "float16": 1, "int32": 2, "uint8": 3, "int64": 4, "bool": 6, "int16": 7, "complex64": 8, "int8": 9, "float64": 10,
    "resource": 13, "uint64": 12, "uint32": 15, "uint16": 16, "int4": 17,
}

VERSIONS = {"BROADCAST_TO": 2}  # the first one interpreters know
# What LiteRT has and the package `tflite` does not: an operator's code, and the number of its table among the second options.
CODES, OPTIONS2 = {"STABLEHLO_CASE": 209}, {"StablehloCaseOptions": 23}


class Tensor:
    """A tensor of a subgraph. data: a numpy array makes it a constant. scale and zero may be lists (one per index of `axis`)."""

    def __init__(self, shape, dtype="float32", data=None, scale=None, zero=0, axis=0, variable=False, name=None, signature=None):
        self.shape, self.dtype, self.data, self.scale, self.zero, self.axis = list(shape), dtype, data, scale, zero, axis
        self.variable, self.name, self.signature = variable, name, signature

    @staticmethod
    def const(data, **kw):
        data = np.asarray(data)
        return Tensor(data.shape, str(data.dtype), data, **kw)


class Op:
    """options, options2: (name of the options table, {field as in the schema: value})."""

    def __init__(self, code, inputs, outputs, options=None, custom=None, custom_options=b"", intermediates=(), options2=None):
        self.code, self.inputs, self.outputs, self.options, self.options2 = code, inputs, outputs, options, options2
        self.custom, self.custom_options, self.intermediates = custom, custom_options, intermediates


class Graph:
    def __init__(self, ops, inputs, outputs):
        self.ops, self.inputs, self.outputs = ops, inputs, outputs
        self.tensors, self.expected = [], None  # expected: arrays to what a run must give, where LiteRT cannot tell
        for t in inputs + outputs + [t for o in ops for t in list(o.inputs) + list(o.outputs) + list(o.intermediates)]:
            if t is not None and not any(t is u for u in self.tensors):
                self.tensors.append(t)

    def index(self, t):
        return -1 if t is None else next(i for i, u in enumerate(self.tensors) if u is t)


def _vector(b, values, start, prepend):
    start(b, len(values))
    for v in reversed(values):
        prepend(v)
    return b.EndVector()


def _ints(b, values):
    return b.CreateNumpyVector(np.asarray(values, np.int32))


def _camel(name):
    return "".join(p[:1].upper() + p[1:] for p in name.split("_"))


def _field(b, v):
    if isinstance(v, np.ndarray):
        return b.CreateNumpyVector(v)
    if isinstance(v, (list, tuple)):
        return b.CreateNumpyVector(np.asarray(v, np.float32)) if v and isinstance(v[0], float) else _ints(b, v)
    return b.CreateString(v) if isinstance(v, str) else v


def _options(b, name, fields):
    if name == "StablehloCaseOptions":
        branches = _ints(b, fields["branch_subgraph_indices"])
        b.StartObject(1)
        b.PrependUOffsetTRelativeSlot(0, branches, 0)
        return b.EndObject()
    made = {k: _field(b, v) for k, v in fields.items()}
    getattr(tflite, name + "Start")(b)
    for k, v in made.items():
        getattr(tflite, name + "Add" + _camel(k))(b, v)
    return getattr(tflite, name + "End")(b)


def _quantization(b, t):
    if t.scale is None:
        return None
    scales = t.scale if isinstance(t.scale, (list, np.ndarray)) else [t.scale]
    zeros = t.zero if isinstance(t.zero, (list, np.ndarray)) else [t.zero] * len(scales)
    s, z = b.CreateNumpyVector(np.asarray(scales, np.float32)), b.CreateNumpyVector(np.asarray(zeros, np.int64))
    tflite.QuantizationParametersStart(b)
    tflite.QuantizationParametersAddScale(b, s)
    tflite.QuantizationParametersAddZeroPoint(b, z)
    tflite.QuantizationParametersAddQuantizedDimension(b, t.axis)
    return tflite.QuantizationParametersEnd(b)


def _pack(t):
    data = np.ascontiguousarray(t.data)
    if t.dtype != "int4":
        return data.tobytes()
    flat = data.reshape(-1).astype(np.uint8) & 15
    flat = np.append(flat, np.zeros(flat.size % 2, np.uint8))
    return (flat[0::2] | flat[1::2] << 4).astype(np.uint8).tobytes()


def write(graphs):
    """The bytes of a model with these subgraphs."""
    b = flatbuffers.Builder(1024)
    buffers, codes = [b""], []
    made_graphs = []
    for number, g in enumerate(graphs):
        tensors = []
        for i, t in enumerate(g.tensors):
            buffer = 0
            if t.data is not None:
                buffers.append(_pack(t))
                buffer = len(buffers) - 1
            name = b.CreateString(t.name or f"t{number}_{i}")
            shape, q = _ints(b, t.shape), _quantization(b, t)
            signature = _ints(b, t.signature) if t.signature else None
            tflite.TensorStart(b)
            tflite.TensorAddShape(b, shape)
            tflite.TensorAddType(b, TYPES[t.dtype])
            tflite.TensorAddBuffer(b, buffer)
            tflite.TensorAddName(b, name)
            tflite.TensorAddIsVariable(b, t.variable)
            if q is not None:
                tflite.TensorAddQuantization(b, q)
            if signature is not None:
                tflite.TensorAddShapeSignature(b, signature)
            tensors.append(tflite.TensorEnd(b))
        ops = []
        for o in g.ops:
            key = (o.code, o.custom)
            if key not in codes:
                codes.append(key)
            ins, outs = _ints(b, [g.index(t) for t in o.inputs]), _ints(b, [g.index(t) for t in o.outputs])
            intermediates = _ints(b, [g.index(t) for t in o.intermediates]) if o.intermediates else None
            table = _options(b, *o.options) if o.options else None
            table2 = _options(b, *o.options2) if o.options2 else None
            custom = b.CreateByteVector(o.custom_options) if o.custom else None
            tflite.OperatorStart(b)
            tflite.OperatorAddOpcodeIndex(b, codes.index(key))
            tflite.OperatorAddInputs(b, ins)
            tflite.OperatorAddOutputs(b, outs)
            if table is not None:
                tflite.OperatorAddBuiltinOptionsType(b, getattr(tflite.BuiltinOptions, o.options[0]))
                tflite.OperatorAddBuiltinOptions(b, table)
            if table2 is not None:
                kind = o.options2[0]
                tflite.OperatorAddBuiltinOptions2Type(b, OPTIONS2.get(kind) or getattr(tflite.BuiltinOptions2, kind))
                tflite.OperatorAddBuiltinOptions2(b, table2)
            if custom is not None:
                tflite.OperatorAddCustomOptions(b, custom)
            if intermediates is not None:
                tflite.OperatorAddIntermediates(b, intermediates)
            ops.append(tflite.OperatorEnd(b))
        tv = _vector(b, tensors, tflite.SubGraphStartTensorsVector, b.PrependUOffsetTRelative)
        ov = _vector(b, ops, tflite.SubGraphStartOperatorsVector, b.PrependUOffsetTRelative)
        ins, outs = _ints(b, [g.index(t) for t in g.inputs]), _ints(b, [g.index(t) for t in g.outputs])
        tflite.SubGraphStart(b)
        tflite.SubGraphAddTensors(b, tv)
        tflite.SubGraphAddInputs(b, ins)
        tflite.SubGraphAddOutputs(b, outs)
        tflite.SubGraphAddOperators(b, ov)
        made_graphs.append(tflite.SubGraphEnd(b))
    made_codes = []
    for code, custom in codes:
        text = b.CreateString(custom) if custom else None
        number = CODES.get(code) or getattr(tflite.BuiltinOperator, code)
        tflite.OperatorCodeStart(b)
        tflite.OperatorCodeAddDeprecatedBuiltinCode(b, min(number, 127))
        tflite.OperatorCodeAddBuiltinCode(b, number)
        tflite.OperatorCodeAddVersion(b, VERSIONS.get(code, 1))
        if text is not None:
            tflite.OperatorCodeAddCustomCode(b, text)
        made_codes.append(tflite.OperatorCodeEnd(b))
    made_buffers = []
    for data in buffers:
        b.StartVector(1, len(data), 16)
        b.head -= len(data)
        b.Bytes[b.head:b.head + len(data)] = data
        v = b.EndVector()
        tflite.BufferStart(b)
        tflite.BufferAddData(b, v)
        made_buffers.append(tflite.BufferEnd(b))
    cv = _vector(b, made_codes, tflite.ModelStartOperatorCodesVector, b.PrependUOffsetTRelative)
    gv = _vector(b, made_graphs, tflite.ModelStartSubgraphsVector, b.PrependUOffsetTRelative)
    bv = _vector(b, made_buffers, tflite.ModelStartBuffersVector, b.PrependUOffsetTRelative)
    tflite.ModelStart(b)
    tflite.ModelAddVersion(b, 3)
    tflite.ModelAddOperatorCodes(b, cv)
    tflite.ModelAddSubgraphs(b, gv)
    tflite.ModelAddBuffers(b, bv)
    b.Finish(tflite.ModelEnd(b), file_identifier=b"TFL3")
    return bytes(b.Output())
