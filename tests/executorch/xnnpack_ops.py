"""xnnpack_ops.py RUNNER [--only NAME] [--kind f32,f16,bf16,int8,dynamic,four]: payloads of single operators against ExecuTorch's runtime.

f32 within 1e-4, static int8 equal, dynamic int8, 4-bit weights and 16-bit floats within LIMITS of the largest output: there a value that
lies between two numbers may be rounded to the other one."""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch

import xnnpack_cases as cases
import xnnpack_export as et


def all_cases(kind):
    torch.manual_seed(7)
    if kind == "f32":
        for part in (cases.unary_cases, cases.binary_cases, cases.layer_cases):
            for name, (module, inputs) in part().items():
                yield name, lambda m=module, i=inputs: et.export(m.eval(), i), inputs
    if kind in ("f16", "bf16"):
        dtype = torch.float16 if kind == "f16" else torch.bfloat16
        for name, (module, inputs) in cases.half_cases(kind).items():
            narrow = tuple(x.to(dtype) for x in inputs)
            yield name, lambda m=module, i=narrow: et.export(m.to(dtype).eval(), i), narrow
    if kind == "int8":
        for name, (module, inputs) in cases.quantized_cases().items():
            yield name, lambda m=module, i=inputs: et.export(et.quantized(m.eval(), i), i), inputs
    if kind == "dynamic":
        for name, (module, inputs) in cases.dynamic_cases().items():
            yield name, lambda m=module, i=inputs: et.export(et.quantized(m.eval(), i, dynamic=True), i), inputs
    if kind == "four":
        for name, (module, inputs, group) in cases.four_bit_cases().items():
            yield name, lambda m=module, i=inputs, g=group: et.export(et.four_bits(m.eval(), g), i), inputs


LIMITS = {"dynamic": 0.01, "four": 0.01, "f16": 2e-3, "bf16": 1e-2}


def compare(kind, got, expected):
    """Empty, or what differs."""
    if got.shape != tuple(expected.shape):
        return f"shape {got.shape}, expected {tuple(expected.shape)}"
    g, e = got.astype(np.float64), expected.astype(np.float64)
    error, scale = (float(np.nanmax(np.abs(g - e))), float(np.max(np.abs(e)))) if g.size else (0.0, 0.0)
    if kind == "int8":
        return f"{int(np.sum(g != e))} of {g.size} differ, by at most {error:g} (largest {scale:g})" if error != 0 else ""
    limit = 1e-4 * max(scale, 1) if kind == "f32" else LIMITS[kind] * max(scale, 1e-6)
    return f"error {error:g} (largest {scale:g})" if not error <= limit else ""


class Runner:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def check(self, folder, kind):
        """What is wrong with a case that lies in a folder."""
        self.process.stdin.write(str(folder) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer.startswith("ok"):
            return [answer or "the runner ended"]
        texts = [(i, compare(kind, np.load(folder / f"out_{i}.npy"), np.load(folder / f"exp_{i}.npy")))
                 for i in range(int(answer.split()[1])) if (folder / f"exp_{i}.npy").exists()]
        return [f"output {i}: {t}" for i, t in texts if t]


def make_case(folder, make, inputs):
    """Exports a case into a folder, with what ExecuTorch computes; the reason when that cannot be."""
    try:
        pte = make()
        expected = et.run(pte, inputs)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.pte").write_bytes(pte)
        order = et.write_case(folder, pte, inputs)
    except et.NotWhole as why:
        return f"not compared, {why}"
    except Exception as why:  # the exporter refuses it
        return f"ExecuTorch: {(str(why).splitlines() or [type(why).__name__])[0][:200]}"
    for i, e in enumerate(expected):
        np.save(folder / f"exp_{order[i]}.npy", e.numpy())
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runner")
    parser.add_argument("--only", default="")
    parser.add_argument("--kind", default="f32,f16,bf16,int8,dynamic,four")
    parser.add_argument("--keep", default="", help="a folder for the cases")
    a = parser.parse_args()
    torch.set_num_threads(1)
    runner, root, counts = Runner(a.runner), pathlib.Path(a.keep or tempfile.mkdtemp()), {}
    for kind in a.kind.split(","):
        for name, make, inputs in all_cases(kind):
            if a.only and a.only != name:
                continue
            folder = root / f"{kind}_{name}"
            why = make_case(folder, make, inputs)
            found = [] if why else runner.check(folder, kind)
            print(f"{kind} {name}: {why or '; '.join(found) or 'equal'}", flush=True)
            result = "not compared" if why else "wrong" if found else "equal"
            counts[kind, result] = counts.get((kind, result), 0) + 1
    print(counts)
    return 1 if any(result == "wrong" for _, result in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
