#!/usr/bin/env python3
"""Fails when an object compiled for an instruction set defines a function that the linker could take for another one's.

Inline functions and template instances are weak: of several with one name the linker keeps any. Every one in such an object must
therefore carry the instruction set in its name (namespace mote::kernels::<isa>, or an argument of a template that lives there).

    kernel_symbols.py [--nm NM] OBJECT...    paths as CMake makes them, .../mote_kernels_<isa>.dir/...
"""
import argparse
import re
import subprocess
import sys


def weak_functions(nm, path):
    """Names of the weak functions an object defines; weak data ('V', 'u') is the same for every instruction set."""
    out = subprocess.run([nm, "-P", "--defined-only", path], check=True, capture_output=True, text=True).stdout
    for line in out.splitlines():
        words = line.split()
        if len(words) >= 2 and words[1] == "W":
            yield words[0]


def demangled(names):
    if not names:
        return []
    done = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True)
    return done.stdout.splitlines() if done.returncode == 0 else names


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nm", default="nm")
    parser.add_argument("objects", nargs="+", metavar="OBJECT")
    options = parser.parse_args()
    found, seen = [], 0
    for path in options.objects:
        isa = re.search(r"mote_kernels_(\w+)\.dir", path)[1]
        own = re.compile(rf"4mote7kernels{len(isa)}{isa}")
        names = list(weak_functions(options.nm, path))
        seen += len(names)
        where = path.split("CMakeFiles/")[-1]
        found += [f"{where}: {name}" for name in demangled([n for n in names if not own.search(n)])]
    print(f"{seen} weak functions in {len(options.objects)} objects, {len(found)} that another instruction set could share")
    if found:
        sys.exit("\n".join(found) + "\nmake them MOTE_INLINE or static, or write them in the kernels' namespace")


if __name__ == "__main__":
    main()
