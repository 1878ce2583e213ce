#!/usr/bin/env python3
"""What each runtime costs per operator: a chain of add/mul over (1, 16) f32, one thread, interleaved rounds, best of each.

    overhead.py --mote build/release/bin/overhead_bench [--rounds 5] [--peers onnxruntime,litert]

A peer is measured in a process of its own with the Python that runs this script, or with --python NAME=PATH where it is installed
elsewhere (onnxruntime: packages onnxruntime, onnx; litert: packages ai-edge-litert, tflite, flatbuffers). The cost of one operator is the
slope between a chain of 200 and one of 1000, so that the call from Python is not counted. Peers may merge operators; ours does not.
"""
import argparse
import json
import os
import subprocess
import sys
import time

WIDTH = 16
SHORT, LONG = 200, 1000


def best_ns(call, batches=60, runs=30):
    for _ in range(10):
        call()
    best = float("inf")
    for _ in range(batches):
        start = time.perf_counter_ns()
        for _ in range(runs):
            call()
        best = min(best, (time.perf_counter_ns() - start) / runs)
    return best


def onnxruntime_call(ops):
    import numpy as np
    import onnx
    import onnxruntime as ort
    from onnx import helper, numpy_helper
    nodes, at = [], "x"
    for i in range(ops):
        nodes.append(helper.make_node("Add" if i % 2 == 0 else "Mul", [at, "c"], [f"t{i}"]))
        at = f"t{i}"
    value = lambda name: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, WIDTH])
    constant = numpy_helper.from_array(np.full((1, WIDTH), 1.0009765625, np.float32), "c")
    graph = helper.make_graph(nodes, "chain", [value("x")], [value(at)], [constant])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    x = {"x": np.zeros((1, WIDTH), np.float32)}
    return lambda: session.run(None, x)


def tflite_chain(ops):
    import flatbuffers
    import numpy as np
    import tflite
    b = flatbuffers.Builder(65536)

    def vector(items, start):
        start(b, len(items))
        for item in reversed(items):
            b.PrependUOffsetTRelative(item)
        return b.EndVector()

    def ints(items):
        return b.CreateNumpyVector(np.array(items, np.int32))

    def tensor(name, buffer):
        text, shape = b.CreateString(name), ints([1, WIDTH])
        tflite.TensorStart(b)
        tflite.TensorAddShape(b, shape)
        tflite.TensorAddType(b, tflite.TensorType.FLOAT32)
        tflite.TensorAddBuffer(b, buffer)
        tflite.TensorAddName(b, text)
        return tflite.TensorEnd(b)

    def operator(index, a, out, options_type):
        ins, outs = ints([a, 0]), ints([out])
        (tflite.AddOptionsStart if index == 0 else tflite.MulOptionsStart)(b)
        options = (tflite.AddOptionsEnd if index == 0 else tflite.MulOptionsEnd)(b)
        tflite.OperatorStart(b)
        tflite.OperatorAddOpcodeIndex(b, index)
        tflite.OperatorAddInputs(b, ins)
        tflite.OperatorAddOutputs(b, outs)
        tflite.OperatorAddBuiltinOptionsType(b, options_type)
        tflite.OperatorAddBuiltinOptions(b, options)
        return tflite.OperatorEnd(b)

    def code(value):
        tflite.OperatorCodeStart(b)
        tflite.OperatorCodeAddDeprecatedBuiltinCode(b, value)
        tflite.OperatorCodeAddBuiltinCode(b, value)
        tflite.OperatorCodeAddVersion(b, 1)
        return tflite.OperatorCodeEnd(b)

    data = b.CreateNumpyVector(np.full(WIDTH, 1.0009765625, np.float32).view(np.uint8))
    tflite.BufferStart(b)
    empty = tflite.BufferEnd(b)
    tflite.BufferStart(b)
    tflite.BufferAddData(b, data)
    constant = tflite.BufferEnd(b)
    kinds = [tflite.BuiltinOptions.AddOptions, tflite.BuiltinOptions.MulOptions]
    tensors = [tensor("c", 1), tensor("x", 0)] + [tensor(f"t{i}", 0) for i in range(ops)]
    operators = [operator(i % 2, i + 1, i + 2, kinds[i % 2]) for i in range(ops)]
    tensors = vector(tensors, tflite.SubGraphStartTensorsVector)
    operators = vector(operators, tflite.SubGraphStartOperatorsVector)
    ins, outs = ints([1]), ints([ops + 1])
    tflite.SubGraphStart(b)
    tflite.SubGraphAddTensors(b, tensors)
    tflite.SubGraphAddInputs(b, ins)
    tflite.SubGraphAddOutputs(b, outs)
    tflite.SubGraphAddOperators(b, operators)
    subgraphs = vector([tflite.SubGraphEnd(b)], tflite.ModelStartSubgraphsVector)
    codes = vector([code(tflite.BuiltinOperator.ADD), code(tflite.BuiltinOperator.MUL)], tflite.ModelStartOperatorCodesVector)
    buffers = vector([empty, constant], tflite.ModelStartBuffersVector)
    tflite.ModelStart(b)
    tflite.ModelAddVersion(b, 3)
    tflite.ModelAddOperatorCodes(b, codes)
    tflite.ModelAddSubgraphs(b, subgraphs)
    tflite.ModelAddBuffers(b, buffers)
    b.Finish(tflite.ModelEnd(b), file_identifier=b"TFL3")
    return bytes(b.Output())


def litert_call(ops):
    import numpy as np
    from ai_edge_litert.interpreter import Interpreter
    interpreter = Interpreter(model_content=tflite_chain(ops), num_threads=1)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], np.zeros((1, WIDTH), np.float32))
    return interpreter.invoke


CALLS = {"onnxruntime": onnxruntime_call, "litert": litert_call}


def measure_here(peer):
    short, long = CALLS[peer](SHORT), CALLS[peer](LONG)
    times = [float("inf"), float("inf")]
    for _ in range(4):
        times = [min(times[0], best_ns(short)), min(times[1], best_ns(long))]
    print(json.dumps({"ns_per_op": (times[1] - times[0]) / (LONG - SHORT)}))


def quiet(command):
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")] if done.returncode == 0 else done.stderr[-400:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mote", help="the overhead_bench program")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", default="onnxruntime,litert")
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--one", choices=CALLS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        return measure_here(args.one)
    pythons = dict(p.split("=", 1) for p in args.python)
    rows, failed = {}, {}
    for _ in range(args.rounds):
        for peer in filter(None, args.peers.split(",")):
            found = quiet([pythons.get(peer, sys.executable), __file__, "--one", peer])
            if isinstance(found, str):
                failed[peer] = found.strip().splitlines()[-1] if found.strip() else "failed"
            else:
                rows.setdefault(peer, []).append((found[-1]["ns_per_op"], 0.0))
        if args.mote:
            found = quiet([args.mote, "--json"])
            if isinstance(found, str):
                failed["mote"] = found
            else:
                row = next(r for r in found if r["width"] == WIDTH)
                rows.setdefault("mote", []).append((row["ns_per_op"], row["arithmetic_ns_per_op"]))
    print(f"chain of add/mul over (1, {WIDTH}) f32, 1 thread, ns per operator, best of {args.rounds} interleaved rounds")
    arithmetic = min((a for _, a in rows.get("mote", [])), default=0.0)
    for name, values in sorted(rows.items(), key=lambda r: min(r[1])):
        total = min(v for v, _ in values)
        print(f"  {name:12} {total:8.1f}   beyond the arithmetic ({arithmetic:.1f}): {total - arithmetic:8.1f}")
    for name, why in failed.items():
        print(f"  {name:12} not measured: {why}")


if __name__ == "__main__":
    main()
