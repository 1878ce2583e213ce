#!/usr/bin/env python3
"""Measures the stripped shared library, with every kernel and operator, and fails when it is over its budget.

    library_size.py --strip strip --nm nm --budget libmote_x86_64_bytes BUILD/lib/libmote.so [--largest]

The budget is what must not be exceeded; `libmote_x86_64_goal_bytes` beside it is where it shall get.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def stripped_bytes(strip, library):
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "stripped.so"
        subprocess.run([strip, "-o", copy, library], check=True)
        return copy.stat().st_size


def parts(nm, library):
    """Bytes of functions and constants by instruction set, or by module."""
    out = subprocess.run([nm, "-S", "-C", library], check=True, capture_output=True, text=True).stdout
    sizes = collections.Counter()
    for line in out.splitlines():
        words = line.split(maxsplit=3)
        if len(words) == 4 and re.fullmatch("[0-9a-f]{16}", words[1]):
            found = re.search(r"mote::(kernels::\w+|ops|api|\w+)::", words[3])
            sizes[found.group(1) if found else "other"] += int(words[1], 16)
    return sizes


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("library")
    parser.add_argument("--strip", default="strip")
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--budget", default="libmote_x86_64_bytes")
    parser.add_argument("--largest", action="store_true", help="show what takes the space")
    options = parser.parse_args()
    budgets = json.loads((ROOT / "tests/budgets.json").read_text())
    budget, goal = budgets[options.budget], budgets.get(options.budget.replace("_bytes", "_goal_bytes"))
    size = stripped_bytes(options.strip, options.library)
    print(f"{options.library}, stripped: {size} bytes, budget {budget}" + (f", goal {goal}" if goal else ""))
    over = size > budget
    if options.largest or over:
        for name, bytes_ in parts(options.nm, options.library).most_common(12):
            print(f"  {bytes_:9d} {name}")
    if over:
        sys.exit(f"over budget by {size - budget} bytes")


if __name__ == "__main__":
    main()
