#!/usr/bin/env python3
"""Latency of Mote and its peers on the same models: one fresh process per measurement, rounds interleaved, medians, ratios.

    latency.py --mote build/release/bin/mote MODEL.onnx MODEL.tflite ... [--threads 1,2] [--rounds 5] [--seconds 1]
               [--python onnxruntime=venv/bin/python] [--peers onnxruntime,openvino,litert] [--kernels avx2] [--json out.json]

Peers: onnxruntime and openvino read ONNX files, litert reads TFLite files; each is a PyPI package of the Python that runs this script, or
of the one named with --python. What is missing is named and left out. A ratio below 1 means that Mote is faster. Compare only within
one run.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

PEERS = {"onnxruntime": ".onnx", "openvino": ".onnx", "litert": ".tflite"}


def measure(call, seconds):
    for _ in range(3):
        call()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 5 or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def filled(shape, dtype):
    import numpy as np
    shape = [d if isinstance(d, int) and d > 0 else 1 for d in shape]
    random = np.random.default_rng(1)
    kind = np.dtype(dtype)
    return (random.standard_normal(shape) if kind.kind == "f" else random.integers(0, 100, shape)).astype(kind)


def onnxruntime_call(model, threads):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    types = {"tensor(float)": "float32", "tensor(int64)": "int64", "tensor(int32)": "int32", "tensor(uint8)": "uint8",
             "tensor(int8)": "int8", "tensor(float16)": "float16", "tensor(bool)": "bool", "tensor(double)": "float64"}
    feed = {i.name: filled(i.shape, types[i.type]) for i in session.get_inputs()}
    return lambda: session.run(None, feed)


def openvino_call(model, threads):
    import openvino as ov
    core = ov.Core()
    compiled = core.compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY",
                                                 "INFERENCE_PRECISION_HINT": "f32"})
    request = compiled.create_infer_request()
    feed = {i: filled([d.get_length() if d.is_static else 1 for d in i.partial_shape], i.element_type.to_dtype()) for i in compiled.inputs}
    return lambda: request.infer(feed)


def litert_call(model, threads):
    from ai_edge_litert.interpreter import Interpreter
    interpreter = Interpreter(model_path=model, num_threads=threads)
    interpreter.allocate_tensors()
    for i in interpreter.get_input_details():
        interpreter.set_tensor(i["index"], filled(i["shape"].tolist(), i["dtype"]))
    return interpreter.invoke


def run_peer(arguments):
    """The child process: prints one number."""
    call = {"onnxruntime": onnxruntime_call, "openvino": openvino_call, "litert": litert_call}[arguments.child](arguments.models[0],
                                                                                                       int(arguments.threads))
    print(measure(call, arguments.seconds))


class Runner:
    def __init__(self, arguments, folder):
        self.a, self.folder = arguments, folder
        self.pythons = dict(p.split("=", 1) for p in arguments.python)
        self.refused = {}

    def program(self, model):
        out = os.path.join(self.folder, os.path.basename(model) + ".mote")
        if not os.path.exists(out):
            command = [self.a.mote, "compile", model, "-o", out, *self.a.compile]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                return self.refuse("mote", model, done.stderr)
        return out

    def refuse(self, who, model, text):
        lines = [line for line in text.strip().splitlines() if line.strip()]
        self.refused.setdefault((who, os.path.basename(model)), lines[-1] if lines else "failed")
        return None

    def mote(self, model, threads):
        program = self.program(model)
        if program is None:
            return None
        command = [self.a.mote, "bench", program, "--threads", str(threads), "--duration", str(self.a.seconds), "--json"]
        if self.a.kernels:
            command += ["--kernels", self.a.kernels]
        done = subprocess.run(command, capture_output=True, text=True)
        return json.loads(done.stdout)["p50_us"] if done.returncode == 0 else self.refuse("mote", model, done.stderr)

    def peer(self, name, model, threads):
        command = [self.pythons.get(name, sys.executable), os.path.abspath(__file__), "--child", name, "--threads", str(threads),
                   "--seconds", str(self.a.seconds), model]
        done = subprocess.run(command, capture_output=True, text=True)
        try:
            return float(done.stdout.split()[-1])
        except (ValueError, IndexError):
            return self.refuse(name, model, done.stderr)


def table(rows, peers, threads):
    widths = [max(24, max(len(r["model"]) for r in rows)), *[12] * (len(peers) + 2)]
    print(f"\nmedian of rounds, us, {threads} thread{'s' if threads != 1 else ''}")
    heads = ["model", "mote", *peers, "mote/best"]
    print("  ".join(text.rjust(w) if i else text.ljust(w) for i, (text, w) in enumerate(zip(heads, widths))))
    ratios = []
    for r in rows:
        best = min((r[p] for p in peers if r.get(p)), default=None)
        ratio = r["mote"] / best if best and r.get("mote") else None
        if ratio:
            ratios.append(ratio)
        cells = [f"{r[p]:.1f}" if r.get(p) else "-" for p in ["mote", *peers]] + [f"{ratio:.2f}" if ratio else "-"]
        print("  ".join([r["model"].ljust(widths[0]), *[c.rjust(w) for c, w in zip(cells, widths[1:])]]))
    if ratios:
        print(f"geometric mean of mote/best: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}, largest {max(ratios):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--mote", default="build/release/bin/mote")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--python", action="append", default=[], metavar="PEER=PATH")
    parser.add_argument("--kernels", default="")
    parser.add_argument("--compile", action="append", default=[], metavar="FLAG", help="passed to mote compile")
    parser.add_argument("--json", default="")
    parser.add_argument("--child", default="", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        return run_peer(arguments)
    everything = []
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(arguments, folder)
        for threads in [int(t) for t in arguments.threads.split(",")]:
            names = [p for p in arguments.peers.split(",") if p]
            samples = {}
            for round_number in range(arguments.rounds):
                for model in arguments.models:
                    progress = f"\rround {round_number + 1} of {arguments.rounds}: {os.path.basename(model):40}"
                    print(progress, end="", file=sys.stderr, flush=True)
                    samples.setdefault((model, "mote"), []).append(runner.mote(model, threads))
                    for name in names:
                        if model.endswith(PEERS[name]) and (name, os.path.basename(model)) not in runner.refused:
                            samples.setdefault((model, name), []).append(runner.peer(name, model, threads))
            print("\r" + " " * 70 + "\r", end="", file=sys.stderr)
            rows = []
            for model in arguments.models:
                row = {"model": os.path.basename(model), "threads": threads}
                for name in ["mote", *names]:
                    times = [t for t in samples.get((model, name), []) if t is not None]
                    row[name] = statistics.median(times) if times else None
                rows.append(row)
            table(rows, names, threads)
            everything += rows
        for (who, model), why in runner.refused.items():
            print(f"{who} left out on {model}: {why}")
    if arguments.json:
        with open(arguments.json, "w") as f:
            json.dump(everything, f, indent=1)


if __name__ == "__main__":
    main()
