#!/usr/bin/env python3
"""Whole models: what `mote compile --emit tosa` writes of them in TOSA's reference model, against Mote's own program.

check_models.py --mote COMMAND --library libmote.so [--runs N] [--seconds S] [--table FILE] MODEL...
Integers must have the same bits, but where `mote compile` names operators that round otherwise; floats agree within --tolerance.
A model that is refused is a failure unless every reason names an operator. Exit codes: 0 all agree, 1 not, 77 skipped.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

try:
    import ml_dtypes  # noqa: F401
    import numpy as np
    import tosa_reference_model
except ImportError as error:
    print(f"skipped: {error} (the package tosa-tools has it)")
    sys.exit(77)

from tosa_graph import mote_library, quietly

SIGNED = {np.dtype(np.uint8): np.int8, np.dtype(np.uint16): np.int16}


def shape_of(info):
    return [max(1, int(d)) for d in info.dims[:info.rank]]


def random_input(rng, info):
    dtype, shape = np.dtype(mote_library.DTYPES[info.dtype]), shape_of(info)
    if dtype.kind == "f":
        return rng.uniform(-1, 1, shape).astype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    bounds = np.iinfo(dtype) if dtype.itemsize == 1 else None
    return rng.integers(bounds.min if bounds else 0, bounds.max + 1 if bounds else 256, shape).astype(dtype)


def reference(data, arrays, like):
    """The reference model's outputs, with the types and shapes of Mote's; ValueError where it does not run the file."""
    os.environ["PATH"] = ""
    stored = [a.view(SIGNED.get(a.dtype, a.dtype)) for a in arrays]
    raw, status = quietly(tosa_reference_model.run, data, stored)
    if status != tosa_reference_model.GraphStatus.TOSA_VALID:
        raise ValueError(f"the reference model says {status}")
    return [np.frombuffer(r.tobytes(), o.dtype).reshape(o.shape) for r, o in zip(raw, like)]


def compare(ours, theirs):
    """(integers that differ, of how many, most by, largest difference of floats relative to the largest value)."""
    wrong, count, most, real = 0, 0, 0, 0.0
    for a, b in zip(ours, theirs):
        if a.dtype.kind == "f":
            scale = max(float(np.max(np.abs(a), initial=0)), 1e-6)
            real = max(real, float(np.max(np.abs(a.astype(np.float64) - b), initial=0)) / scale)
        else:
            d = np.abs(a.astype(np.int64) - b.astype(np.int64))
            wrong, count, most = wrong + int((d != 0).sum()), count + d.size, max(most, int(d.max(initial=0)))
    return wrong, count, most, real


def check(path, args, folder):
    """(words for the table, good)."""
    program, out = os.path.join(folder, "model.mote"), os.path.join(folder, "model.tosa")
    made = subprocess.run([args.mote, "compile", str(path), "-o", out, "--emit", "tosa"], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        lines = made.stderr.splitlines()[2:]
        named = bool(lines) and all("(" in line or "states" in line for line in lines)
        kinds = sorted({line.split(" (", 1)[1].split(")")[0] for line in lines if " (" in line})
        return "refused: " + ", ".join(kinds or made.stderr.splitlines()[:1]), named
    rounds = sum(line.startswith("  ") for line in made.stdout.splitlines())
    subprocess.run([args.mote, "compile", str(path), "-o", program, "--golden-examples", "0"], check=True, capture_output=True)
    p, rng, data = mote_library.Program(args.library, program), np.random.default_rng(1), pathlib.Path(out).read_bytes()
    worst = (0, 0, 0, 0.0)
    for _ in range(args.runs):
        arrays = [random_input(rng, info) for info in p.inputs]
        ours = p.run(*arrays)
        try:
            theirs = reference(data, arrays, ours)
        except ValueError as error:
            return str(error), False
        wrong, count, most, real = compare(ours, theirs)
        worst = (worst[0] + wrong, worst[1] + count, max(worst[2], most), max(worst[3], real))
    wrong, count, most, real = worst
    words, good = [], True
    if count:
        words.append(f"{count} integers, same bits" if wrong == 0 else f"{wrong} of {count} integers differ, by {most} at most")
        good = wrong == 0 or rounds > 0
    if any(np.dtype(mote_library.DTYPES[o.dtype]).kind == "f" for o in p.outputs):
        words.append(f"floats within {real:.1e}")
        good = good and (real <= args.tolerance or rounds > 0)
    if rounds:
        words.append(f"{rounds} operators round otherwise")
    return "; ".join(words), good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mote", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--tolerance", type=float, default=5e-4, help="of floats, relative to the largest value")
    parser.add_argument("--seconds", type=float, default=0, help="start no more models after this time; 0: never")
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    args.mote, args.library = os.path.abspath(args.mote), os.path.abspath(args.library)
    start, failed = time.time(), 0
    with tempfile.TemporaryDirectory() as folder:
        if not all(path.exists() for path in args.models):
            print(f"skipped: {next(p for p in args.models if not p.exists())} is not there")
            return 77
        for path in args.models:
            if args.seconds and time.time() - start > args.seconds:
                print(f"{path.name}: not run, time is up")
                continue
            begin = time.time()
            words, good = check(path, args, folder)
            failed += not good
            print(f"{'' if good else 'FAILED '}{path.name}: {words} ({time.time() - begin:.0f} s)", flush=True)
    print(f"{len(args.models)} models, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
