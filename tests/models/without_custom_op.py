#!/usr/bin/env python3
"""Writes a TFLite model with MediaPipe's Convolution2DTransposeBias said as TRANSPOSE_CONV, which LiteRT has. Needs ai-edge-litert.

without_custom_op.py MODEL.tflite OUT.tflite
"""
import sys

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema


def main(source, target):
    with open(source, "rb") as file:
        model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(file.read(), 0))
    graph = model.subgraphs[0]
    code = schema.OperatorCodeT()
    code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.TRANSPOSE_CONV
    code.version = 3  # the first with a bias
    model.operatorCodes.append(code)
    changed = 0
    for op in graph.operators:
        if model.operatorCodes[op.opcodeIndex].customCode != b"Convolution2DTransposeBias":
            continue
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(np.asarray(graph.tensors[op.outputs[0]].shape, np.int32).tobytes(), np.uint8)
        model.buffers.append(buffer)
        shape = schema.TensorT()
        shape.name, shape.type, shape.shape, shape.buffer = b"output_shape", schema.TensorType.INT32, [4], len(model.buffers) - 1
        graph.tensors.append(shape)
        padding, stride_w, stride_h = np.frombuffer(bytes(op.customOptions), np.int32)
        options = schema.TransposeConvOptionsT()
        # MediaPipe counts from unknown, same, valid; LiteRT from same, valid.
        options.padding, options.strideW, options.strideH = int(padding) - 1, int(stride_w), int(stride_h)
        image, weights, bias = op.inputs
        op.inputs = np.array([len(graph.tensors) - 1, weights, image, bias], np.int32)
        op.builtinOptionsType, op.builtinOptions = schema.BuiltinOptions.TransposeConvOptions, options
        op.customOptions, op.opcodeIndex = None, len(model.operatorCodes) - 1
        changed += 1
    if changed == 0:
        sys.exit("no such operator in the model")
    builder = flatbuffers.Builder(1 << 20)
    builder.Finish(model.Pack(builder), b"TFL3")
    with open(target, "wb") as file:
        file.write(builder.Output())


if __name__ == "__main__":
    main(*sys.argv[1:])
