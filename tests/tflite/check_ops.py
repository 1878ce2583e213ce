#!/usr/bin/env python3
"""Random single-operator models: LiteRT's reference kernels against `mote compile` and a run.

check_ops.py --mote COMMAND --library libmote.so [--only PREFIX] [--count N] [--seconds S]
Exit codes: 0 all agree, 1 not, 77 skipped (a package is missing).
"""
import argparse
import os
import sys
import tempfile
import time
import zlib

try:
    import flatbuffers  # noqa: F401
    import numpy as np
    import tflite  # noqa: F401
    from ai_edge_litert import interpreter as _litert  # noqa: F401
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

import fourier_cases  # noqa: F401
import move_cases  # noqa: F401
import numpy_cases  # noqa: F401
import recurrent_cases  # noqa: F401
import stablehlo_cases  # noqa: F401
from op_cases import CASES
from reference import agrees, interpreter, litert, mote, random_inputs
from tflite_writer import write

# LiteRT 2.3.0's reference kernels leave these out or get them wrong (LOCAL_RESPONSE_NORMALIZATION drops the last channel of its
# window); its other kernels are what TensorFlow means. Its int8 SUM takes the bytes for u8 and has no case here.
OPTIMIZED = {"ELU float32", "ELU int8", "CEIL float32", "ROUND float32", "LOCAL_RESPONSE_NORMALIZATION", "STABLEHLO_CASE",
             "STABLEHLO_AND bool", "STABLEHLO_AND int32", "STABLEHLO_AND int8", "SEGMENT_SUM float32", "SEGMENT_SUM int32"}


def one(name, number, args, folder):
    """None, or what differs."""
    rng = np.random.default_rng([number, zlib.crc32(name.encode())])
    graphs = CASES[name](rng)
    data = write(graphs)
    details = [(t.shape, "bool" if t.dtype == "bool" else t.dtype) for t in graphs[0].inputs]
    runs = [random_inputs(details, rng) for _ in range(3)]
    own = graphs[0].expected
    expected = [own(*run) for run in runs] if own else litert(interpreter(data, name in OPTIMIZED), runs)
    path = os.path.join(folder, f"case{number}.tflite")
    with open(path, "wb") as file:
        file.write(data)
    try:
        return agrees(expected, mote(args.mote, args.library, path, folder, runs))
    except RuntimeError as error:
        return str(error)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mote", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--count", type=int, default=2, help="models for each case")
    parser.add_argument("--seconds", type=float, default=0, help="stop after this time; 0: never")
    args = parser.parse_args()
    start, failed, done = time.time(), 0, 0
    names = [n for n in CASES if n.startswith(args.only)]
    with tempfile.TemporaryDirectory() as folder:
        for number in range(args.count):
            for name in names:
                if args.seconds and time.time() - start > args.seconds:
                    break
                problem = one(name, number, args, folder)
                done += 1
                if problem:
                    failed += 1
                    print(f"FAILED {name} #{number}: {problem}", flush=True)
    print(f"{len(names)} cases, {done} models, {failed} failed, {time.time() - start:.0f} s")
    return 1 if failed or done == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
