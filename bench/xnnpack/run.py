#!/usr/bin/env python3
"""Instructions of MobileNetV2's layers on 64-bit Arm, Mote beside XNNPACK: run.py PROGRAM [--sysroot DIR] [--cpu CPU ...] [--json FILE].

PROGRAM is xnnpack_bench of an aarch64 build; the README tells how to get there. Nothing is timed: QEMU counts."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def count(args, plugin, cpu, kind, isa):
    """The layers, as dictionaries."""
    libraries = os.path.join(args.sysroot, "usr/lib/aarch64-linux-gnu")
    command = ["qemu-aarch64", "-L", args.loader, "-E", "LD_LIBRARY_PATH=" + libraries, "-cpu", cpu, "-plugin", plugin, args.program, kind]
    done = subprocess.run(command + isa, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed with {done.returncode}:\n{done.stderr[-2000:]}")
    counts = [int(line.split()[1]) for line in done.stderr.splitlines() if line.startswith("instructions ")]
    first, *lines = done.stdout.splitlines()
    if len(counts) != 2 * len(lines):
        sys.exit(f"{len(lines)} layers, but {len(counts)} counts")
    layers = []
    for i, line in enumerate(lines):
        *name, times = line.split()
        layers.append({"layer": " ".join(name), "times": int(times), "mote": counts[2 * i], "xnnpack": counts[2 * i + 1]})
    return first.split()[1], layers


def show(cpu, kind, isa, layers):
    print(f"\n{kind}, -cpu {cpu}, kernels {isa}: instructions of one run of each layer\n")
    print(f"{'layer':<36}{'times':>6}{'Mote':>14}{'XNNPACK':>14}{'ratio':>8}")
    for l in layers:
        print(f"{l['layer']:<36}{l['times']:>6}{l['mote']:>14,}{l['xnnpack']:>14,}{l['mote'] / l['xnnpack']:>8.3f}")
    mote, peer = (sum(l[k] * l["times"] for l in layers) for k in ("mote", "xnnpack"))
    print(f"{'all layers of the model':<42}{mote:>14,}{peer:>14,}{mote / peer:>8.3f}")
    return mote / peer


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--sysroot", default="/", help="folder with XNNPACK's usr/lib/aarch64-linux-gnu (default: installed packages)")
    parser.add_argument("--loader", default="/usr/aarch64-linux-gnu", help="folder with the C library of the cross compiler")
    parser.add_argument("--cpu", nargs="*", default=["cortex-a72", "max"])
    parser.add_argument("--type", nargs="*", default=["f32", "int8"])
    parser.add_argument("--isa", help="Mote's kernels (default: the best that the processor has)")
    parser.add_argument("--json", help="write everything there")
    args = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as folder:
        plugin = os.path.join(folder, "count.so")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", os.path.join(HERE, "count.c"), "-o", plugin], check=True)
        for cpu in args.cpu:
            for kind in args.type:
                isa, layers = count(args, plugin, cpu, kind, [args.isa] if args.isa else [])
                ratio = show(cpu, kind, isa, layers)
                results.append({"cpu": cpu, "type": kind, "isa": isa, "ratio": ratio, "layers": layers})
    print()
    for r in results:
        print(f"{r['type']:<5} -cpu {r['cpu']:<12} {r['isa']:<10} Mote / XNNPACK {r['ratio']:.3f}")
    if args.json:
        with open(args.json, "w") as f:
            json.dump(results, f, indent=1)


if __name__ == "__main__":
    main()
