#!/usr/bin/env python3
"""Instructions (callgrind) that a build spends on running, loading and compiling: figures that hold on a busy machine.

    count.py BUILD_DIR [--model FILE ...] [--budgets FILE] [--json]

A model (.onnx, .tflite, .pt2) is compiled by that build, a .mote file is taken as it is; both are counted for one run. With --budgets
the exit code is 1 when a figure exceeds the budget of its name. Without valgrind: exit code 77, which tests take as skipped.
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def instructions(command, work):
    out = work / "callgrind.out"
    call = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *map(str, command)]
    done = subprocess.run(call, capture_output=True, text=True)
    found = re.search(r"^(?:summary|totals): (\d+)", out.read_text() if out.exists() else "", re.M)
    if done.returncode != 0 or not found:
        sys.exit(f"{' '.join(map(str, command))} failed under valgrind:\n{done.stderr[-2000:]}")
    return int(found[1])


def per_run(command, work):
    """Of one run more: what a run costs without all that stands around it."""
    return round((instructions([*command, "--runs", 11], work) - instructions([*command, "--runs", 1], work)) / 10)


def count(build, models, work):
    """Yields (name, instructions)."""
    tools = pathlib.Path(build) / "bin"
    for name, what in (("overhead", "run"), ("load", "load")):
        few, many = (per_run([tools / f"{name}_bench", "--ops", ops], work) for ops in (100, 200))
        yield f"{what}: each operator of a chain", round((many - few) / 100)
        yield f"{what}: chain of 200 operators", many
    digits = ROOT / "examples/digits/digits.onnx"
    program = work / "digits.mote"
    yield "compile: digits", instructions([tools / "mote", "compile", digits, "-o", program], work)
    for kernels in ([], ["--kernels", "portable"]):
        yield f"run: digits, {'portable' if kernels else 'fast'} kernels", per_run([tools / "mote", "bench", program, *kernels], work)
    for model in map(pathlib.Path, models):
        program = model
        if model.suffix != ".mote":
            program = work / "model.mote"
            subprocess.run([tools / "mote", "compile", model, "-o", program, "--golden-examples", "0"], check=True, capture_output=True)
        yield f"run: {model.name}", per_run([tools / "mote", "bench", program], work)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build")
    parser.add_argument("--model", action="append", default=[])
    parser.add_argument("--budgets")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        print("valgrind is not installed")
        sys.exit(77)
    budgets = json.loads(pathlib.Path(options.budgets).read_text()) if options.budgets else {}
    with tempfile.TemporaryDirectory() as folder:
        figures = dict(count(options.build, options.model, pathlib.Path(folder)))
    if options.json:
        print(json.dumps(figures, indent=2))
    else:
        for name, found in figures.items():
            print(f"{name:34} {found:14,}" + (f"   budget {budgets[name]:14,}" if name in budgets else ""))
    failed = [f"{n}: expected at most {most:,}, found {figures.get(n, 'nothing')}" for n, most in budgets.items()
              if not figures.get(n, most + 1) <= most]
    if failed:
        sys.exit("over budget:\n" + "\n".join(failed))


if __name__ == "__main__":
    main()
