#!/usr/bin/env python3
"""Bytes of constants that weight-only schemes leave, against tests/budgets.json.

weight_bytes.py --mote COMMAND --models FOLDER
Every shared model with 1 MB of f32 weights and more: int8 and int4 beside the same model in f32 (without Winograd, whose weights are
larger). Weights that come as f16 count as f32. Models that come quantized are named and left out.
Exit codes: 0 within the budgets, 1 not, 77 skipped (no models here).
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SCHEMES = ("int8-weights", "int8-dynamic", "int4-weights")


def constants(mote, model, options, folder):
    """Bytes, or None where nothing can be quantized."""
    command = [mote, "compile", model, "-o", folder / "out.mote", "--json", "--golden-examples", "0", *options]
    made = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if made.returncode == 0:
        return json.loads(made.stdout)["constant_bytes"]
    if "nothing to quantize" in made.stdout + made.stderr:
        return None
    sys.exit(f"{model.name} {' '.join(map(str, options))}: {(made.stderr + made.stdout).strip()[-400:]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mote", required=True)
    parser.add_argument("--models", required=True, type=pathlib.Path)
    args = parser.parse_args()
    models = sorted(p for p in args.models.glob("*") if p.suffix in (".onnx", ".tflite"))
    if not models:
        print(f"SKIPPED: no models in {args.models}")
        sys.exit(77)
    entries = json.loads((HERE / "models.json").read_text())
    budgets = json.loads((HERE.parent / "budgets.json").read_text())["weights_over_f32"]
    failed, seen = [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for model in models:
            options = entries.get(model.name, {}).get("options", [])
            whole = constants(args.mote, model, [*options, "--exact"], folder)
            if whole < 500_000:
                continue
            halves = constants(args.mote, model, [*options, "--quantize", "fp16-weights"], folder)
            if halves is None:
                print(f"{model.name:42} comes quantized")
                continue
            whole *= 2 if halves > 0.9 * whole else 1  # its weights are f16
            if whole < 1_000_000:
                continue
            seen += 1
            text = ""
            for scheme in SCHEMES:
                ratio = constants(args.mote, model, [*options, "--quantize", scheme], folder) / whole
                allowed = budgets["above"].get(model.name, budgets)[scheme[:4]]
                text += f"  {scheme} {ratio:.3f} of {allowed}"
                if ratio > allowed:
                    failed.append(f"{model.name}: {scheme} leaves {ratio:.4f} of f32's constants, allowed {allowed}")
            print(f"{model.name:42} {whole:10} B as f32{text}", flush=True)
    print(f"{seen} models, {len(failed)} figures above the budget")
    sys.exit("\n".join(failed) if failed else 0)


if __name__ == "__main__":
    main()
