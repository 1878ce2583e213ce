#!/usr/bin/env python3
"""Bytes of constants that weight-only schemes leave, against tests/budgets.json.

weight_bytes.py --mote COMMAND --models FOLDER
Every shared model with 1 MB of f32 weights and more: int8 and int4 beside the same model in f32 (without Winograd, whose weights are
larger). Weights that come as f16 count as f32. Models that come quantized are named and left out.
Exit codes: 0 within the budgets, 1 not, 77 skipped (no models here).
"""
import json
import pathlib
import sys
import tempfile

from model_list import Models

SCHEMES = ("int8-weights", "int8-dynamic", "int4-weights")


def constants(models, model, options, folder):
    """Bytes, or None where nothing can be quantized."""
    made = models.compile(model, [*models.options(model), *options], folder)
    if made.returncode == 0:
        return json.loads(made.stdout)["constant_bytes"]
    if "nothing to quantize" in made.stdout + made.stderr:
        return None
    sys.exit(f"{model.name} {' '.join(map(str, options))}: {(made.stderr + made.stdout).strip()[-400:]}")


def main():
    models = Models()
    budgets = models.budgets["weights_over_f32"]
    failed, seen = [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for model in models.files:
            whole = constants(models, model, ["--exact"], folder)
            if whole < 500_000:
                continue
            halves = constants(models, model, ["--quantize", "fp16-weights"], folder)
            if halves is None:
                print(f"{model.name:42} comes quantized")
                continue
            whole *= 2 if halves > 0.9 * whole else 1  # its weights are f16
            if whole < 1_000_000:
                continue
            seen += 1
            text = ""
            for scheme in SCHEMES:
                ratio = constants(models, model, ["--quantize", scheme], folder) / whole
                allowed = budgets["above"].get(model.name, budgets)[scheme[:4]]
                text += f"  {scheme} {ratio:.3f} of {allowed}"
                if ratio > allowed:
                    failed.append(f"{model.name}: {scheme} leaves {ratio:.4f} of f32's constants, allowed {allowed}")
            print(f"{model.name:42} {whole:10} B as f32{text}", flush=True)
    print(f"{seen} models, {len(failed)} figures above the budget")
    sys.exit("\n".join(failed) if failed else 0)


if __name__ == "__main__":
    main()
