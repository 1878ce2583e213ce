#!/usr/bin/env python3
"""What one call of a tiny program costs from Python: Mote, ONNX Runtime and LiteRT in one process, interleaved rounds, best of each.

    call.py [--rounds 20]

The program adds two (1, 16) f32 arrays. Packages: mote-runtime, onnx, numpy; onnxruntime and ai-edge-litert where they are installed
(peers/overhead.py has the tflite model).
"""
import argparse
import json
import pathlib
import sys
import time

import numpy as np
import onnx
from onnx import helper

import mote

WIDTH = 16


def add_model():
    value = lambda name: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, WIDTH])
    graph = helper.make_graph([helper.make_node("Add", ["a", "b"], ["y"])], "add", [value("a"), value("b")], [value("y")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def mote_calls(model, a, b):
    program = mote.compile(model)
    bound = program.bind(a, b)
    assert np.array_equal(program(a, b), a + b) and np.array_equal(bound(), a + b)
    calls = {"mote": lambda: program(a, b), "mote, by name": lambda: program.run({"a": a, "b": b}), "mote, bound": bound}
    try:
        import torch
    except ImportError:
        return calls
    s, t = torch.from_numpy(a), torch.from_numpy(b)
    return {**calls, "mote, torch tensors": lambda: program(s, t)}


def onnxruntime_calls(model, a, b):
    try:
        import onnxruntime as ort
    except ImportError:
        return {}
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    binding, out = session.io_binding(), np.empty((1, WIDTH), np.float32)
    for name, array in (("a", a), ("b", b)):
        binding.bind_input(name, "cpu", 0, np.float32, array.shape, array.ctypes.data)
    binding.bind_output("y", "cpu", 0, np.float32, out.shape, out.ctypes.data)
    return {"onnxruntime": lambda: session.run(None, {"a": a, "b": b}), "onnxruntime, bound": lambda: session.run_with_iobinding(binding)}


def litert_calls(a):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
    try:
        from ai_edge_litert.interpreter import Interpreter
        from overhead import tflite_chain

        interpreter = Interpreter(model_content=bytes(tflite_chain(1)), num_threads=1)
    except ImportError:
        return {}
    interpreter.allocate_tensors()
    x, y = interpreter.get_input_details()[0]["index"], interpreter.get_output_details()[0]["index"]

    def whole():
        interpreter.set_tensor(x, a)
        interpreter.invoke()
        return interpreter.get_tensor(y)

    return {"litert, set invoke get": whole, "litert, invoke": interpreter.invoke}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    a, b = (np.random.default_rng(k).normal(size=(1, WIDTH)).astype(np.float32) for k in (1, 2))
    model = add_model()
    calls = {**mote_calls(model, a, b), **onnxruntime_calls(model, a, b), **litert_calls(a)}
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(options.rounds):
        for name, call in calls.items():
            runs = 2000
            start = time.perf_counter_ns()
            for _ in range(runs):
                call()
            best[name] = min(best[name], (time.perf_counter_ns() - start) / runs)
    if options.json:
        print(json.dumps({name: ns / 1e3 for name, ns in best.items()}))
        return
    for name, ns in best.items():
        print(f"{name:24} {ns / 1e3:8.2f} us")


if __name__ == "__main__":
    main()
