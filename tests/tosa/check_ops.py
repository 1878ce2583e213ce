#!/usr/bin/env python3
"""Random single-operator graphs: TOSA's reference model against `mote compile` and a run.

check_ops.py --mote COMMAND --library libmote.so [--only PREFIX] [--count N] [--seconds S] [--emit] [--table FILE [--write]]
--table: what became of every operator (round_trip.py), compared with FILE or written to it; implies --emit and all cases.
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
from round_trip import Table, operators_of
from tosa_graph import compile_model, difference, mote, reference


# The stages of a case, in order: where it fails, those behind it are not reached.
STAGES = ("read", "written", "read again")


def one(name, number, args, folder, table):
    """("agrees" | "unpredictable" | what differs). The stages that were good go into the table."""
    rng = np.random.default_rng([number, zlib.crc32(name.encode())])
    graph = CASES[name](rng)
    data, runs = graph.bytes(), [graph.arrays]
    try:
        expected = reference(data, runs, graph.outputs)
    except ValueError as error:
        return f"the case is wrong: {error}"
    if expected is None:
        return "unpredictable"
    loose, stages = 100 if "FFT" in name else 1, []
    try:
        wrong = difference(expected, mote(args.mote, args.library, data, folder, runs), loose)
        stages += [] if wrong else ["read"]
        if not wrong and args.emit:
            wrong = written(args, folder, graph, expected, loose, stages, table.operators(name))
    except RuntimeError as error:
        wrong = str(error)
    table.add(name, stages)
    return wrong or "agrees"


def written(args, folder, graph, expected, loose, stages, operators):
    """The same for what `mote compile --emit tosa` writes of the graph that was read: run by the reference model, and by Mote again."""
    out = os.path.join(folder, "out.tosa")
    try:
        compile_model(args.mote, os.path.join(folder, "case.tosa"), out, "--emit", "tosa")
        with open(out, "rb") as file:
            data = file.read()
        again = reference(data, [graph.arrays], graph.outputs)
    except (RuntimeError, ValueError) as error:
        return f"written: {error}"
    if again is None:
        return "written: unpredictable"
    wrong = difference(expected, again, 10 * loose)
    if wrong:
        return f"written: {wrong}"
    stages.append("written")
    operators |= operators_of(data)
    wrong = difference(expected, mote(args.mote, args.library, data, folder, [graph.arrays]), 10 * loose)
    stages += [] if wrong else ["read again"]
    return f"read again: {wrong}" if wrong else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mote", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--emit", action="store_true", help="also write each graph again and run that")
    parser.add_argument("--table", metavar="FILE", help="the page to compare with")
    parser.add_argument("--write", action="store_true", help="write the page instead")
    parser.add_argument("--only", default="")
    parser.add_argument("--count", type=int, default=2, help="graphs for each case")
    parser.add_argument("--seconds", type=float, default=0, help="stop after this time; 0: never")
    args = parser.parse_args()
    args.mote, args.library = os.path.abspath(args.mote), os.path.abspath(args.library)
    start, failed, unpredictable, done = time.time(), 0, 0, collections.Counter()
    args.emit = args.emit or args.table is not None
    names, table = [n for n in CASES if n.startswith(args.only)], Table(STAGES)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(args.count):
            for name in names:
                if args.seconds and time.time() - start > args.seconds:
                    break
                result = one(name, number, args, folder, table)
                unpredictable += result == "unpredictable"
                done[name.split()[0]] += result == "agrees"
                if result not in ("agrees", "unpredictable"):
                    failed += 1
                    print(f"FAILED {name} #{number}: {result}", flush=True)
    print(", ".join(f"{k} {n}" for k, n in sorted(done.items())))
    agree, seconds = sum(done.values()), time.time() - start
    print(f"{len(names)} cases, {agree} graphs agree, {failed} failed, {unpredictable} unpredictable, {seconds:.0f} s")
    stale = args.table is not None and not table.matches(args.table, args.write)
    return 1 if failed or stale or not done else 0


if __name__ == "__main__":
    sys.exit(main())
