#!/usr/bin/env python3
"""How long compiling takes: Mote, and OpenVINO where it is installed, interleaved, processor and wall time of whole processes.

compile_bench.py --mote COMMAND MODEL... [--rounds N]
Processor time holds on a busy machine; wall time is what a user waits.
"""
import argparse
import importlib.util
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

OPENVINO = "import sys, openvino as ov; core = ov.Core(); core.compile_model(sys.argv[1], 'CPU', {'INFERENCE_NUM_THREADS': 1})"


def timed(command):
    """Wall and processor seconds of a process; None when it failed."""
    before, begin = os.times(), time.perf_counter()
    done = subprocess.run([str(c) for c in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    wall, after = time.perf_counter() - begin, os.times()
    if done.returncode != 0:
        print(done.stderr.decode(errors="replace")[-400:], file=sys.stderr)
        return None
    return wall, after.children_user + after.children_system - before.children_user - before.children_system


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mote", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    print(f"{'model':40} {'who':>20} {'wall s':>8} {'processor s':>12}")
    with tempfile.TemporaryDirectory() as folder:
        for model in args.models:
            out = pathlib.Path(folder) / "out.mote"
            mote = [args.mote, "compile", model, "-o", out]
            runs = {"mote": mote, "mote, no example": [*mote, "--golden-examples", "0"]}
            if importlib.util.find_spec("openvino"):
                runs["openvino + import"] = [sys.executable, "-c", OPENVINO, model]
            times = {who: [] for who in runs}
            for _ in range(args.rounds):
                for who, command in runs.items():
                    measured = timed(command)
                    if measured:
                        times[who].append(measured)
            for who, measured in times.items():
                if measured:
                    wall, processor = (statistics.median(m[i] for m in measured) for i in (0, 1))
                    print(f"{model.name:40} {who:>20} {wall:8.3f} {processor:12.3f}")


if __name__ == "__main__":
    main()
