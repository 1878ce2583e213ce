#!/usr/bin/env python3
"""Writes svdf.tflite beside this file: a streaming model that takes one frame of 40 features and keeps its memory in a variable tensor
(SVDF, then a layer and softmax). The weights are made up. Needs numpy, flatbuffers and ai-edge-litert (its schema)."""

from pathlib import Path

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as tfl

FRAME, UNITS, RANK, MEMORY, CLASSES = 40, 8, 2, 10, 4
rng = np.random.default_rng(3)
graph, model = tfl.SubGraphT(), tfl.ModelT()
graph.tensors, graph.operators, model.buffers, model.operatorCodes = [], [], [tfl.BufferT()], []


def tensor(name, dtype, shape, scale, zero=0, data=None, variable=False):
    t = tfl.TensorT()
    t.name, t.type, t.shape, t.isVariable = name, dtype, list(shape), variable
    t.quantization = tfl.QuantizationParametersT()
    t.quantization.scale, t.quantization.zeroPoint = [np.float32(scale)], [zero]
    if data is not None or variable:
        buffer = tfl.BufferT()
        if data is not None:
            buffer.data = np.frombuffer(data.tobytes(), np.uint8)
        t.buffer = len(model.buffers)
        model.buffers.append(buffer)
    graph.tensors.append(t)
    return len(graph.tensors) - 1


def operator(code, kind, options, inputs, output):
    o, c = tfl.OperatorT(), tfl.OperatorCodeT()
    c.builtinCode = c.deprecatedBuiltinCode = code
    o.opcodeIndex, o.inputs, o.outputs, o.builtinOptionsType, o.builtinOptions = len(graph.operators), inputs, [output], kind, options
    model.operatorCodes.append(c)
    graph.operators.append(o)
    return output


def numbers(dtype, shape, most):
    return rng.integers(-most, most + 1, shape).astype(dtype)


int8, int16, int32 = tfl.TensorType.INT8, tfl.TensorType.INT16, tfl.TensorType.INT32
x = tensor("features", int8, [1, FRAME], 26 / 255, -128)
svdf, dense, softmax = tfl.SVDFOptionsT(), tfl.FullyConnectedOptionsT(), tfl.SoftmaxOptionsT()
svdf.rank, svdf.fusedActivationFunction, softmax.beta = RANK, tfl.ActivationFunctionType.RELU, 1.0
filters = UNITS * RANK
state_scale, feature_scale, time_scale = 0.01, 0.01, 0.0001
h = operator(tfl.BuiltinOperator.SVDF, tfl.BuiltinOptions.SVDFOptions, svdf,
             [x, tensor("feature_weights", int8, [filters, FRAME], feature_scale, 0, numbers(np.int8, (filters, FRAME), 127)),
              tensor("time_weights", int16, [filters, MEMORY], time_scale, 0, numbers(np.int16, (filters, MEMORY), 9000)),
              tensor("bias", int32, [UNITS], state_scale * time_scale, 0, numbers(np.int32, (UNITS,), 500000)),
              tensor("state", int16, [1, filters * MEMORY], state_scale, 0, None, True)],
             tensor("hidden", int8, [1, UNITS], 0.25, -128))
logits = operator(tfl.BuiltinOperator.FULLY_CONNECTED, tfl.BuiltinOptions.FullyConnectedOptions, dense,
                  [h, tensor("weights", int8, [CLASSES, UNITS], 0.0008, 0, numbers(np.int8, (CLASSES, UNITS), 127)),
                   tensor("class_bias", int32, [CLASSES], 0.0002, 0, numbers(np.int32, (CLASSES,), 400))],
                  tensor("logits", int8, [1, CLASSES], 0.05, 0))
scores = operator(tfl.BuiltinOperator.SOFTMAX, tfl.BuiltinOptions.SoftmaxOptions, softmax, [logits],
                  tensor("scores", int8, [1, CLASSES], 1 / 256, -128))
graph.inputs, graph.outputs, model.subgraphs, model.version = [x], [scores], [graph], 3
builder = flatbuffers.Builder(1 << 14)
builder.Finish(model.Pack(builder), b"TFL3")
(Path(__file__).resolve().parent / "svdf.tflite").write_bytes(bytes(builder.Output()))
