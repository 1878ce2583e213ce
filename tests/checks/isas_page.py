#!/usr/bin/env python3
"""Writes docs/generated/isas.md to stdout: the ISA variants of mote/core/isa.def, what they need, and which kernels they have.

`./do format` calls it, and check_generated.sh compares. It reads the two lists only, so that the page is the same on every machine.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ARCHITECTURES = {"x86": "x86-64", "arm": "Arm, 32 bits", "arm64": "Arm, 64 bits", "wasm": "WebAssembly"}
# The sets of kernels, as mote/kernels/sources.cmake builds them.
SETS = {
    "all": "`float` and `int8`",
    "float": "float operators, and data movement of any type",
    "int8": "quantized operators",
    "dot": "8-bit convolutions and matrix products",
    "maddubs": "8-bit convolutions and matrix products with weights whose adjacent products fit 16 bits",
    "table": "quantized operators as lookups in registers (byte permutation)",
    "tile": "matrix products in tile registers: 8-bit, and f32 with bf16 weights",
}
INTRODUCTION = """\
Written by `./do format` from `mote/core/isa.def` and `mote/kernels/kernels.def`. Of the variants of a processor family the last one is used
whose features the processor has. An operator that it has no kernel for is dispatched to the variant that it extends, and finally to the
portable kernel. A variant also needs the features of what it extends. [How to add one](../adding-an-isa.md).
"""


def rows(name, table):
    """The arguments of every `name(...)` row; rows are one line each."""
    for text in re.findall(rf"^{name}\((.*)\)$", table, re.M):
        yield [a.strip().strip('"') for a in re.findall(r'"[^"]*"|[^,]+', text)]


def feature_name(name):
    return name.removeprefix("kCpu")


def isa_rows(table):
    for kind in re.finditer(r"^(MOTE_ISA|MOTE_ISA_PART)(\(.*\))$", table, re.M):
        yield kind[1] == "MOTE_ISA_PART", next(rows(kind[1], kind[0]))


def variants(table):
    yield "| variant | processor | extends | features | kernels | tests run on |"
    yield "|---|---|---|---|---|---|"
    for part, (name, arch, extends, features, kernels, _, _, tested) in isa_rows(table):
        if arch not in ARCHITECTURES or kernels not in SETS:
            sys.exit(f"isas_page.py: {name}: '{arch}' or '{kernels}' is not known here")
        needs = ", ".join(feature_name(f.strip()) for f in features.split("|"))
        base = f"part of `{extends}`, tried before it" if part else "-" if extends == "none" else f"`{extends}`"
        yield f"| `{name}` | {ARCHITECTURES[arch]} | {base} | {needs} | {kernels} | {tested} |"


def features(table):
    detected = {}
    for feature, macro, *_ in rows("MOTE_CPUID", table):
        detected.setdefault(feature, []).append(macro)
    for word, where in (("MOTE_HWCAP_ARM64", "64-bit"), ("MOTE_HWCAP_ARM", "32-bit")):
        for feature, number, bit in rows(word, table):
            detected.setdefault(feature, []).append(f"{where} Linux: AT_HWCAP{'' if number == '1' else number} bit {bit}")
    detected.get("kCpuNeon", []).append("64-bit: always there")
    yield "| feature | requires | detected by |"
    yield "|---|---|---|"
    for name, _, requires, states in rows("MOTE_FEATURE", table):
        how = ", ".join(detected.get(name, ["the build"]))
        how += f"; XCR0 & {states}" if states != "0" else ""
        yield f"| {feature_name(name)} | {'-' if requires == '0' else feature_name(requires)} | {how} |"


def kernel_sets(kernels):
    operators = {name: [] for name in SETS}
    for _, op, sets in rows("MOTE_KERNEL", kernels):
        for name in sets.split():
            operators[name].append(op)
    yield "| kernels | what | operators |"
    yield "|---|---|---|"
    for name, what in SETS.items():
        ops = operators[name]
        yield f"| {name} | {what} | {', '.join(f'`{op}`' for op in ops) if ops else '-'} |"


def main():
    table = (ROOT / "mote/core/isa.def").read_text()
    kernels = (ROOT / "mote/kernels/kernels.def").read_text()
    print("# ISA variants\n")
    print(INTRODUCTION)
    for line in variants(table):
        print(line)
    print("\n## Features\n")
    for line in features(table):
        print(line)
    print("\n## Kernels\n")
    print("Operators with fast kernels in each set. Which element types and layouts are supported is decided for the operands at hand.\n")
    for line in kernel_sets(kernels):
        print(line)


if __name__ == "__main__":
    main()
