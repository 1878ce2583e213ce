#!/usr/bin/env python3
"""Mote and its peers on the same models: one fresh, pinned process per measurement, rounds interleaved, medians, ratios.

    run.py --models DIR --build build/release [--only mobilenet_v2,mlp] [--sets fp32,int8,int8-any] [--threads 1,2] [--rounds 9]
           [--seconds 0.5] [--peers onnxruntime,litert] [--venvs DIR] [--python PEER=PATH] [--cold] [--out DIR]

DIR holds NAME.fp32.onnx and what convert.py made of it. A peer runs with the Python named by --python, else with DIR/PEER/bin/python of
--venvs, else with this one; what is missing is said with what to install. Writes results.json (every measurement), summary.json
and report.html to --out. A ratio below 1 means that Mote takes less. Compare only within one run.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import time

import page
import report
from runtimes import PACKAGES

HERE = os.path.dirname(os.path.abspath(__file__))
# What is compared with what: the files of one set do the same arithmetic, as far as runtimes agree.
SETS = {
    "fp32": {"mote": "fp32.onnx", "onnxruntime": "fp32.onnx", "openvino": "fp32.onnx", "ncnn": "fp32.ncnn.param", "mnn": "fp32.mnn",
             "litert": "fp32.tflite", "executorch": "fp32.pte", "iree": "fp32.vmfb", "pytorch": "pt"},
    # s8 x s8 with full 8-bit weights: exact
    "int8": {"mote": "int8.tflite", "litert": "int8.tflite", "executorch": "int8.pte"},
    # any arithmetic that meets the accuracy
    "int8-any": {"mote": "int8.onnx", "onnxruntime": "int8.onnx", "openvino": "int8.onnx", "mnn": "int8.mnn", "pytorch": "int8.pt"},
}
VENVS = {"onnxruntime": ("onnxruntime", "ort", "exp"), "openvino": ("openvino", "ov"), "executorch": ("executorch", "exp"),
         "pytorch": ("pytorch", "torch")}


class Runner:
    def __init__(self, options):
        self.options = options
        self.pythons = dict(p.split("=", 1) for p in options.python)
        self.env = {**os.environ, "MOTE_LIBRARY": os.path.join(os.path.abspath(options.build), "lib", "libmote.so")}
        self.refused = {}

    def python(self, runtime):
        if runtime in self.pythons:
            return self.pythons[runtime]
        for name in VENVS.get(runtime, (runtime,)) if self.options.venvs else ():
            path = os.path.join(self.options.venvs, name, "bin", "python")
            if os.path.exists(path):
                return path
        return sys.executable

    def missing(self, runtime):
        """Why a runtime cannot be measured; None when it can."""
        if runtime == "mote":
            library = self.env["MOTE_LIBRARY"]
            return None if os.path.exists(library) else f"{library} is not there: cmake --build --preset release"
        package, module = PACKAGES[runtime]
        found = subprocess.run([self.python(runtime), "-c", f"import numpy, {module}"], capture_output=True)
        return None if found.returncode == 0 else f"not installed: {self.python(runtime)} -m pip install {package} numpy"

    def model(self, runtime, name, kind):
        """The file a runtime loads, or None with the reason kept."""
        path = os.path.join(self.options.models, f"{name}.{SETS[kind][runtime]}")
        if not os.path.exists(path):
            return self.refuse(runtime, name, kind, f"{os.path.basename(path)} is not there: convert.py makes it")
        return path if runtime != "mote" else self.compiled(path, name, kind)

    def compiled(self, source, name, kind):
        out = os.path.join(self.options.out, f"{name}.{kind}.mote")
        command = [os.path.join(self.options.build, "bin", "mote"), "compile", source, "-o", out, *self.options.compile]
        done = subprocess.run(command, capture_output=True, text=True)
        return out if done.returncode == 0 else self.refuse("mote", name, kind, (done.stderr.strip().splitlines() or ["failed"])[0])

    def refuse(self, runtime, name, kind, why):
        self.refused.setdefault((runtime, name, kind), why)

    def measure(self, runtime, path, name, threads, cold):
        command = [self.python(runtime), os.path.join(HERE, "child.py"), runtime, path, "--threads", str(threads), "--seconds",
                   str(0 if cold else self.options.seconds)]
        reference = os.path.join(self.options.models, name + ".ref.npz")
        if os.path.exists(reference):
            command += ["--reference", reference]
        if cold:
            command.append("--cold")
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=self.env)
            return json.loads(done.stdout.strip().splitlines()[-1])
        except subprocess.TimeoutExpired:
            return {"error": "no result within 300 s"}
        except (IndexError, ValueError):
            return {"error": f"the process ended with {done.returncode}: {done.stderr.strip()[-200:]}"}


def jobs(runner, options, runtimes):
    names = options.only or sorted({f[:-len(".fp32.onnx")] for f in os.listdir(options.models) if f.endswith(".fp32.onnx")})
    for kind in options.sets:
        for name in names:
            files = {r: runner.model(r, name, kind) for r in runtimes if r in SETS[kind]}
            yield kind, name, {r: f for r, f in files.items() if f}


def run(runner, options, runtimes, rows):
    """Adds to rows; whole after each round, so that a run that is stopped leaves what it found."""
    work = list(jobs(runner, options, runtimes))
    begin = time.time()
    for number in range(options.rounds + int(options.cold)):
        cold = number == options.rounds
        for kind, name, files in work:
            for threads in options.threads[:1] if cold else options.threads:
                order = [r for r in files if (r, name, kind) not in runner.refused]
                random.Random(number).shuffle(order)
                for runtime in order:
                    row = runner.measure(runtime, files[runtime], name, threads, cold)
                    if "error" in row:
                        runner.refuse(runtime, name, kind, row["error"])
                        continue
                    rows.append({"set": kind, "model": name, "runtime": runtime, "threads": threads, "round": number, "cold": cold,
                                 "file_bytes": os.path.getsize(files[runtime]), **row})
            if sys.stderr.isatty():
                print(f"\rround {number + 1}: {kind} {name:30} {time.time() - begin:6.0f} s", end="", file=sys.stderr, flush=True)
        write(options.out, rows, runner.refused)


def write(folder, rows, refused, absent=None):
    summary = report.summarize(rows)
    summary["left_out"] = [{"runtime": r, "model": "", "set": "", "why": w} for r, w in (absent or {}).items()]
    summary["left_out"] += [{"runtime": r, "model": m, "set": s, "why": w} for (r, m, s), w in sorted(refused.items())]
    for name, content in (("results.json", json.dumps(rows, indent=1)), ("summary.json", json.dumps(summary, indent=1)),
                          ("report.html", page.render(summary))):
        with open(os.path.join(folder, name + ".new"), "w") as f:
            f.write(content)
        os.replace(f.name, os.path.join(folder, name))
    return summary


def words(text):
    return [w for w in text.split(",") if w]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", required=True, metavar="DIR")
    parser.add_argument("--build", default="build/release", help="folder with bin/mote and lib/libmote.so")
    parser.add_argument("--only", type=words, default=[])
    parser.add_argument("--sets", type=words, default=list(SETS))
    parser.add_argument("--threads", type=lambda t: [int(n) for n in words(t)], default=[1, 2])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--peers", type=words, default=list(PACKAGES))
    parser.add_argument("--venvs", default="")
    parser.add_argument("--python", action="append", default=[], metavar="PEER=PATH")
    parser.add_argument("--compile", action="append", default=[], metavar="FLAG", help="passed to mote compile")
    parser.add_argument("--cold", action="store_true", help="one more round with the files out of the system's cache")
    parser.add_argument("--out", default="build/peers")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    runner = Runner(options)
    absent = {r: why for r in ["mote", *options.peers] if (why := runner.missing(r))}
    for runtime, why in absent.items():
        print(f"{runtime} is left out: {why}")
    if "mote" in absent:
        sys.exit(1)
    rows = []
    try:
        run(runner, options, [r for r in ["mote", *options.peers] if r not in absent], rows)
    except KeyboardInterrupt:
        print("stopped: what follows is of the rounds so far")
    summary = write(options.out, rows, runner.refused, absent)
    print(report.text(summary))


if __name__ == "__main__":
    main()
