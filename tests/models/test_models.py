#!/usr/bin/env python3
"""Compiles every shared model and compares it with its reference, as a user would: mote compile, selftest, validate.

test_models.py --mote COMMAND --models FOLDER [--data FOLDER] [--only PART] [--report FILE.json]
ONNX Runtime, LiteRT and numpy are taken from $MOTE_PYTHON; without them the reference is Mote's own unoptimised evaluation.
Exit codes: 0 all right, 1 not, 77 skipped (no models here).
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def run(command, **more):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, **more)


def make_inputs(kind, model, data, folder):
    """Inputs that mean something, made by real_inputs.py under $MOTE_PYTHON; [] when that cannot be."""
    python = os.environ.get("MOTE_PYTHON")
    if not kind or not python or not data:
        return []
    made = run([python, HERE / "real_inputs.py", kind, model, data, folder])
    if made.returncode != 0:
        print(f"  no real inputs for {model.name}: {made.stderr.strip().splitlines()[-1:]}")
        return []
    return [word for line in made.stdout.splitlines() for word in ("--input", line)]


def check(mote, model, entry, data, folder):
    """One line of the table: a dict with what was measured, and 'failed' with the reason."""
    program = folder / (model.name + ".mote")
    row = {"model": model.name}
    made = run([mote, "compile", model, "-o", program, "--json", *entry.get("options", [])])
    if made.returncode != 0:
        return {**row, "failed": "compile: " + made.stderr.strip().split("\n", 1)[-1].strip()[:300]}
    facts = json.loads(made.stdout)
    row.update(peak=facts["peak_bytes"], bound=facts["lower_bound_bytes"], seconds=facts["compile_s"], golden=facts["golden_examples"])
    if facts["golden_examples"]:
        tested = run([mote, "selftest", program])
        if tested.returncode != 0:
            return {**row, "failed": "selftest: " + (tested.stderr or tested.stdout).strip()[-300:]}
    reference = reference_model(model, folder)
    inputs = make_inputs(entry.get("inputs"), model, data, folder) or ["--samples", "1"]
    validated = run([mote, "validate", reference, program, "--json", *inputs])
    try:
        result = json.loads(validated.stdout)
    except ValueError:
        return {**row, "failed": "validate: " + validated.stderr.strip()[-300:]}
    if "error" in result:
        return {**row, "failed": "validate: " + result["error"]["message"][:300]}
    row["reference"] = result["reference"]
    worst = max(result["outputs"], key=lambda o: o["largest_error"] / (o["largest_expected"] or 1))
    row["error"] = worst["largest_error"] / (worst["largest_expected"] or 1)
    row["sqnr_db"] = min((o["sqnr_db"] for o in result["outputs"] if o["sqnr_db"] is not None), default=None)
    if not result["passed"]:
        first = result.get("first_difference")
        row["failed"] = "differs" + (f", first at '{first['value']}' from {first['node']}" if first else "")
    return row


def reference_model(model, folder):
    """The model the reference can run: LiteRT does not have MediaPipe's transposed convolution with bias."""
    if model.name != "mp_selfie_seg.tflite" or not os.environ.get("MOTE_PYTHON"):
        return model
    out = folder / "reference_selfie_seg.tflite"
    made = run([os.environ["MOTE_PYTHON"], HERE / "without_custom_op.py", model, out])
    if made.returncode != 0:
        print(f"  {model.name}: no reference without the custom operator: {made.stderr.strip()[-200:]}")
    return out if made.returncode == 0 else model


def show(row):
    ratio = row["peak"] / row["bound"] if row.get("bound") else 0
    quality = "bits" if row.get("error") == 0 else f"{row['error']:.1e}" if "error" in row else "-"
    sqnr = f"{row['sqnr_db']:.0f}" if row.get("sqnr_db") is not None else "-"
    print(f"{row['model']:42} {row.get('seconds', 0):7.2f} {row.get('peak', 0):10} {ratio:6.3f} {quality:>8} {sqnr:>5} "
          f"{row.get('reference', '-')[:22]:22} {row.get('failed', 'ok')}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mote", required=True)
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--only", default="", help="part of a model's name")
    parser.add_argument("--report", type=pathlib.Path)
    args = parser.parse_args()
    models = sorted(p for p in args.models.glob("*") if p.suffix in (".onnx", ".tflite") and args.only in p.name)
    if not models:
        print(f"SKIPPED: no models in {args.models}")
        sys.exit(77)
    entries = json.loads((HERE / "models.json").read_text())
    print(f"{'model':42} {'compile':>7} {'peak':>10} {'/bound':>6} {'error':>8} {'SQNR':>5} reference")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for model in models:
            rows.append(check(args.mote, model, entries.get(model.name, {}), args.data, pathlib.Path(folder)))
            show(rows[-1])
            for file in pathlib.Path(folder).glob("*"):
                if file.is_file():
                    file.unlink()
    if args.report:
        args.report.write_text(json.dumps(rows, indent=1))
    failed = [r for r in rows if "failed" in r]
    print(f"{len(rows) - len(failed)} of {len(rows)} models right")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
