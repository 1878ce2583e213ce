#!/usr/bin/env python3
"""Measures the core (load, verify, execute, registries; no kernels) and fails when it is over its budget.

    core_size.py --target thumbv7em|x86_64 --include BUILD/gen --include BUILD/third_party_include

Compiles mote/core, mote/format and mote/runtime with -Os, links what core_probe.cc reaches with --gc-sections, and adds up
the code and constants of the result. libc and the compiler's own helpers are left out: every program has those already.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEVICE = "-std=c++17 -Os -DNDEBUG -ffp-contract=off -ffunction-sections -fdata-sections -fno-exceptions -fno-rtti " \
         "-fno-threadsafe-statics -fno-asynchronous-unwind-tables -fno-unwind-tables".split()
TARGETS = {
    "thumbv7em": ("arm-none-eabi-", ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]),
    "x86_64": ("", ["-fno-pie", "-fno-stack-protector"]),
}


def sources():
    for module in ("core", "format", "runtime"):
        for path in sorted((ROOT / "mote" / module).glob("*.cc")):
            if not path.stem.endswith(("_test", "_bench", "_fuzz")):
                yield path


def link(target, include, work):
    prefix, cpu = TARGETS[target]
    objects = []
    for path in [*sources(), ROOT / "tests/checks/core_probe.cc"]:
        objects.append(work / (path.stem + ".o"))
        command = [prefix + "g++", *cpu, *DEVICE, f"-I{ROOT}", *[f"-I{i}" for i in include], "-c", path, "-o", objects[-1]]
        subprocess.run(command, check=True)
    elf = work / "core.elf"
    subprocess.run([prefix + "g++", *cpu, "-nostdlib", "-static", "-Wl,--gc-sections", "-Wl,--entry=probe", "-Wl,--build-id=none",
                    "-Wl,--unresolved-symbols=ignore-all", f"-Wl,-Map={work / 'core.map'}", *objects, "-o", elf], check=True)
    return prefix, elf


def section_sizes(prefix, elf):
    out = subprocess.run([prefix + "size", "-A", elf], check=True, capture_output=True, text=True).stdout
    sizes = {}
    for line in out.splitlines():
        words = line.split()
        if len(words) == 3 and words[0].startswith("."):
            sizes[words[0]] = int(words[1])
    return sizes


def print_largest(prefix, elf):
    out = subprocess.run([prefix + "nm", "-S", "--size-sort", "-C", elf], check=True, capture_output=True, text=True).stdout
    for line in reversed(out.splitlines()[-80:]):
        words = line.split(maxsplit=3)
        print(f"  {int(words[1], 16):6d} {words[3]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--target", choices=TARGETS, required=True)
    parser.add_argument("--include", action="append", default=[], help="folder with generated or third-party headers")
    parser.add_argument("--largest", action="store_true", help="list the largest functions")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        prefix, elf = link(options.target, options.include, pathlib.Path(folder))
        sizes = section_sizes(prefix, elf)
        if options.largest:
            print(sizes)
            print_largest(prefix, elf)
    total = sum(size for name, size in sizes.items() if name.startswith((".text", ".rodata")))
    budget = json.loads((ROOT / "tests/budgets.json").read_text())[f"core_{options.target}_bytes"]
    print(f"core, {options.target}, -Os: .text + .rodata {total} bytes, budget {budget}")
    if total > budget:
        sys.exit(f"over budget by {total - budget} bytes; run with --largest to see where they are")


if __name__ == "__main__":
    main()
