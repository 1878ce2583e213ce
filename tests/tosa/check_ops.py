#!/usr/bin/env python3
"""Random single-operator graphs: TOSA's reference model against `mote compile` and a run.

check_ops.py --mote COMMAND --library libmote.so [--only PREFIX] [--count N] [--seconds S] [--emit]
Exit codes: 0 all agree, 1 not, 77 skipped (a package is missing).
"""
import argparse
import collections
import os
import sys
import tempfile
import time
import zlib

try:
    import ml_dtypes  # noqa: F401
    import numpy as np
    import tosa_reference_model  # noqa: F401
    import tosa_serializer  # noqa: F401
except ImportError as error:
    print(f"skipped: {error} (the package tosa-tools has it)")
    sys.exit(77)

import nn_cases  # noqa: F401
from op_cases import CASES
from tosa_graph import compile_model, difference, mote, reference


# What has no way back: regions, transforms, arithmetic on sums of 48 bits.
NOT_WRITTEN = {"COND_IF", "WHILE_LOOP", "FFT2D", "RFFT2D", "CONV2D deep i16", "RESIZE BILINEAR i16", "TRANSPOSE_CONV2D i16"}


def one(name, number, args, folder):
    """("agrees" | "unpredictable" | what differs)."""
    rng = np.random.default_rng([number, zlib.crc32(name.encode())])
    graph = CASES[name](rng)
    data, runs = graph.bytes(), [graph.arrays]
    try:
        expected = reference(data, runs, graph.outputs)
    except ValueError as error:
        return f"the case is wrong: {error}"
    if expected is None:
        return "unpredictable"
    try:
        found = mote(args.mote, args.library, data, folder, runs)
    except RuntimeError as error:
        return str(error)
    loose = 100 if "FFT" in name else 1
    wrong = difference(expected, found, loose)
    if wrong or not args.emit or name in NOT_WRITTEN or name.split()[0] in NOT_WRITTEN:
        return wrong or "agrees"
    return written(name, args, folder, graph, expected, loose)


def written(name, args, folder, graph, expected, loose):
    """The same for what `mote compile --emit tosa` writes of the graph that was read, run by the reference model."""
    out = os.path.join(folder, "out.tosa")
    try:
        compile_model(args.mote, os.path.join(folder, "case.tosa"), out, "--emit", "tosa")
        with open(out, "rb") as file:
            again = reference(file.read(), [graph.arrays], graph.outputs)
    except (RuntimeError, ValueError) as error:
        return f"written again: {error}"
    if again is None:
        return "written again: unpredictable"
    wrong = difference(expected, again, 10 * loose)
    return f"written again: {wrong}" if wrong else "agrees"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mote", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--emit", action="store_true", help="also write each graph again and run that")
    parser.add_argument("--only", default="")
    parser.add_argument("--count", type=int, default=2, help="graphs for each case")
    parser.add_argument("--seconds", type=float, default=0, help="stop after this time; 0: never")
    args = parser.parse_args()
    args.mote, args.library = os.path.abspath(args.mote), os.path.abspath(args.library)
    start, failed, unpredictable, done = time.time(), 0, 0, collections.Counter()
    names = [n for n in CASES if n.startswith(args.only)]
    with tempfile.TemporaryDirectory() as folder:
        for number in range(args.count):
            for name in names:
                if args.seconds and time.time() - start > args.seconds:
                    break
                result = one(name, number, args, folder)
                unpredictable += result == "unpredictable"
                done[name.split()[0]] += result == "agrees"
                if result not in ("agrees", "unpredictable"):
                    failed += 1
                    print(f"FAILED {name} #{number}: {result}", flush=True)
    print(", ".join(f"{k} {n}" for k, n in sorted(done.items())))
    agree, seconds = sum(done.values()), time.time() - start
    print(f"{len(names)} cases, {agree} graphs agree, {failed} failed, {unpredictable} unpredictable, {seconds:.0f} s")
    return 1 if failed or not done else 0


if __name__ == "__main__":
    sys.exit(main())
