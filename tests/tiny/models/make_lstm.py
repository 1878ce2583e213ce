#!/usr/bin/env python3
"""Writes lstm.tflite beside this file: an LSTM of 32 cells over 20 frames of 40 features, then a layer and softmax, all of 8 bits. The
weights are made up. Needs numpy, flatbuffers and tflite (MOTE_PYTHON)."""

import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent.parent / "tflite"))
from tflite_writer import Graph, Op, Tensor, write  # noqa: E402

FRAMES, FEATURES, CELLS, CLASSES = 20, 40, 32, 4
rng = np.random.default_rng(5)


def weights(*shape, scale):
    return Tensor.const(rng.integers(-127, 128, shape).astype(np.int8), scale=scale, zero=0)


def bias(n, scale, most):
    return Tensor.const(rng.integers(-most, most, n).astype(np.int32), scale=scale, zero=0)


x = Tensor([1, FRAMES, FEATURES], "int8", scale=0.03, zero=-4, name="features")
hidden = Tensor([1, CELLS], "int8", scale=1 / 128, zero=0, variable=True)
cell = Tensor([1, CELLS], "int16", scale=2.0 ** -11, zero=0, variable=True)
h = Tensor([1, FRAMES, CELLS], "int8", scale=1 / 128, zero=0, name="hidden")
ins = [weights(CELLS, FEATURES, scale=0.003) for _ in range(4)] + [weights(CELLS, CELLS, scale=0.004) for _ in range(4)] + [None] * 3
ins += [bias(CELLS, 0.03 * 0.003, 3000) for _ in range(4)] + [None] * 2
middle = [Tensor([], "int8", scale=1.0, zero=0) for _ in range(4)] + [Tensor([], "int8", scale=1 / 128, zero=0)]
lstm = Op("UNIDIRECTIONAL_SEQUENCE_LSTM", [x] + ins + [hidden, cell] + [None] * 4, [h],
          ("UnidirectionalSequenceLSTMOptions", dict(fused_activation_function=4, cell_clip=10.0, proj_clip=0.0, time_major=False)),
          intermediates=middle)
flat = Tensor([1, FRAMES * CELLS], "int8", scale=1 / 128, zero=0)
reshape = Op("RESHAPE", [h, Tensor.const(np.array([1, FRAMES * CELLS], np.int32))], [flat], ("ReshapeOptions", {}))
logits = Tensor([1, CLASSES], "int8", scale=0.05, zero=0)
dense = Op("FULLY_CONNECTED", [flat, weights(CLASSES, FRAMES * CELLS, scale=0.002), bias(CLASSES, 0.002 / 128, 4000)], [logits],
           ("FullyConnectedOptions", {}))
scores = Tensor([1, CLASSES], "int8", scale=1 / 256, zero=-128, name="scores")
softmax = Op("SOFTMAX", [logits], [scores], ("SoftmaxOptions", dict(beta=1.0)))
(HERE / "lstm.tflite").write_bytes(write([Graph([lstm, reshape, dense, softmax], [x], [scores])]))
