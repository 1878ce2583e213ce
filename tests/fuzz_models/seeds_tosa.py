#!/usr/bin/env python3
"""Writes small TOSA graphs for the fuzzers, the cases of tests/tosa: seeds_tosa.py FOLDER. Needs the package tosa-tools."""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tosa"))
import nn_cases  # noqa: E402,F401
from op_cases import CASES  # noqa: E402

# Operators whose element types take different ways through the front end.
MANY_WAYS = ("CONV2D", "RESCALE", "MATMUL", "AVG_POOL2D", "RESIZE", "CAST")


def main(folder):
    chosen = {}
    for name in CASES:
        code = name.split()[0]
        chosen[name if code in MANY_WAYS else code] = name
    for name, case in chosen.items():
        data = CASES[case](np.random.default_rng(1)).bytes()
        (pathlib.Path(folder) / f"{name.replace(' ', '_')}.tosa").write_bytes(data)


if __name__ == "__main__":
    main(sys.argv[1])
