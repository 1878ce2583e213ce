#!/usr/bin/env python3
"""Fails when the linker could give one kernel object the code of another.

Inline functions and template instances are weak: of several with one name the linker keeps any, and which one depends on link order. So
- every weak function of an object compiled for an ISA variant carries the variant in its name (namespace mote::kernels::<isa>, or an
  argument of a template that lives there): another variant has no symbol of that name;
- weak functions of one name have the same code in all objects, whatever they were compiled for: files compiled for speed and files
  compiled for size, or two types of one name, would differ.

    kernel_symbols.py [--nm NM] [--objdump OBJDUMP] OBJECT...    paths as CMake makes them, .../mote_kernels_<isa>.dir/...
"""
import argparse
import collections
import re
import subprocess
import sys


def weak_functions(nm, path):
    """Names of the weak functions an object defines; weak data ('V', 'u') is the same for every variant."""
    out = subprocess.run([nm, "-P", "--defined-only", path], check=True, capture_output=True, text=True).stdout
    for line in out.splitlines():
        words = line.split()
        if len(words) >= 2 and words[1] == "W":
            yield words[0]


def code_of(objdump, path, names):
    """name -> its instructions and relocations, without addresses."""
    out = subprocess.run([objdump, "-dr", "--no-show-raw-insn", path], check=True, capture_output=True, text=True).stdout
    code, name = {}, None
    for line in out.splitlines():
        head = re.match(r"[0-9a-f]+ <(.*)>:$", line)
        if head:
            name = head[1] if head[1] in names else None
            if name:
                code[name] = []
        elif name and "\t" in line:
            # Calls within a section name their target with an offset from some symbol, relocations carry the real one.
            # Constants of an object have numbers of its own.
            code[name].append(re.sub(r"^\s*[0-9a-f]+:|<[^>]*>|(?<=\.LC)\d+|(?<=CSWTCH\.)\d+", "", line))
    return {name: "\n".join(lines) for name, lines in code.items()}


def demangled(names):
    if not names:
        return []
    done = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True)
    return done.stdout.splitlines() if done.returncode == 0 else names


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--objdump", default="objdump")
    parser.add_argument("objects", nargs="+", metavar="OBJECT")
    options = parser.parse_args()
    shared, weak = [], {}
    for path in options.objects:
        isa = re.search(r"mote_kernels_(\w+)\.dir", path)[1]
        own = re.compile(rf"4mote7kernels{len(isa)}{isa}")
        weak[path] = set(weak_functions(options.nm, path))
        where = path.split("CMakeFiles/")[-1]
        shared += [f"{where}: {name}" for name in demangled(sorted(n for n in weak[path] if not own.search(n)))]
    # Only names that occur twice are disassembled.
    count = collections.Counter(name for names in weak.values() for name in names)
    twice = {name for name, n in count.items() if n > 1}
    first, different = {}, set()
    for path, names in weak.items():
        if not names & twice:
            continue
        for name, code in code_of(options.objdump, path, names & twice).items():
            if first.setdefault(name, code) != code:
                different.add(name)
    total = sum(len(names) for names in weak.values())
    print(f"{total} weak functions in {len(options.objects)} objects, {len(twice)} defined more than once: "
          f"{len(shared)} that another variant could share, {len(different)} whose code differs")
    if shared:
        sys.exit("\n".join(shared) + "\nmake them MOTE_INLINE or static, or write them in the kernels' namespace")
    if different:
        sys.exit("\n".join(demangled(sorted(different))) + "\nmake them MOTE_INLINE, or instantiate them in one file (common/loops.cc)")


if __name__ == "__main__":
    main()
