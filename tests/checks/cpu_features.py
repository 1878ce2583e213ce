#!/usr/bin/env python3
"""Fails when kernels are compiled for something that mote/core/isa.def does not detect.

For each ISA variant there: the compiler, given the flags of that variant, defines macros for what it may use from then on, implied
features among them. Each must be a MOTE_CPUID row, under a feature that the variant needs.
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def normal(name):
    """Compilers spell AMX_INT8 and AMXINT8."""
    return name.replace("_", "")


def macros(compiler, flags):
    out = subprocess.run([compiler, *flags, "-x", "c", "-dM", "-E", "/dev/null"], check=True, capture_output=True, text=True).stdout
    names = re.findall(r"^#define __([A-Z][A-Z0-9_]*?)__ 1$", out, re.M)
    return {normal(n) for n in names}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("sets", nargs="+", help="NAME=FLAGS of each ISA variant that is built")
    options = parser.parse_args()
    asked = {}  # macro -> feature
    table = (ROOT / "mote/core/isa.def").read_text()
    for feature, name in re.findall(r"^MOTE_CPUID\((\w+), (\w+),", table, re.M):
        asked[normal(name)] = feature
    needs = {}
    for isa, base, own in re.findall(r"^MOTE_ISA\((\w+), \w+, (\w+), ([\w| ]+),", table, re.M):
        needs[isa] = {f.strip() for f in own.split("|")} | needs.get(base, set())
    base, found, compared = macros(options.compiler, []), [], 0
    for item in options.sets:
        isa, _, flags = item.partition("=")
        features = needs[isa]
        for macro in sorted(macros(options.compiler, [f for f in flags.split(",") if f.startswith("-m")]) - base):
            compared += 1
            if asked.get(macro) not in features:
                found.append(f"{isa}: compiled with __{macro}__, which isa.def does not detect under {' or '.join(sorted(features))}")
    print(f"{len(options.sets)} ISA variants, {compared} features compared, {len(found)} not asked for")
    if found or compared < 15 * len(options.sets):
        sys.exit("\n".join(found) or "the compiler defines too few macros to compare")


if __name__ == "__main__":
    main()
