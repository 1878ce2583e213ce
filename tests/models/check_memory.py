#!/usr/bin/env python3
"""Memory that programs need, from the figures of `mote compile`, against tests/budgets.json.

check_memory.py --mote COMMAND --models FOLDER
On 9 of 10 shared models the planned peak is within 1.05 of the lower bound (the largest sum of live bytes for the order chosen). The
MLPerf Tiny models, with inputs and outputs in the arena as TFLite Micro has them, take at most 0.75 of its whole arena.
Exit codes: 0 within the budgets, 1 not, 77 skipped (no models here).
"""
import json
import pathlib
import sys
import tempfile

from model_list import Models


def figures(models, model, options, folder):
    """Peak and lower bound in bytes."""
    made = models.compile(model, options, folder)
    if made.returncode != 0:
        sys.exit(f"{model.name}: {made.stderr.strip()[-400:]}")
    facts = json.loads(made.stdout)
    return facts["peak_bytes"], facts["lower_bound_bytes"]


def main():
    models = Models()
    budgets = models.budgets
    failed, near = [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for model in models.files:
            peak, bound = figures(models, model, models.options(model), folder)
            good = peak <= budgets["peak_over_lower_bound"] * bound
            near += good
            print(f"{model.name:42} {peak:10} of at least {bound:10} {'' if good else 'above the budget'}", flush=True)
        for name, arena in budgets["tflite_micro_arena_bytes"].items():
            peak, _ = figures(models, models.files[0].parent / name, ["--io-in-arena"], folder)
            allowed = budgets["peak_over_tflite_micro_arena"] * arena
            print(f"{name:42} {peak:10} with inputs and outputs; TFLite Micro {arena}, allowed {allowed:.0f}", flush=True)
            if peak > allowed:
                failed.append(f"{name}: peak {peak} bytes, allowed {allowed:.0f}")
    needed = budgets["peak_over_lower_bound_share"] * len(models.files)
    print(f"peak within {budgets['peak_over_lower_bound']} of the lower bound on {near} of {len(models.files)} models")
    if near < needed:
        failed.append(f"expected at least {needed:.1f} models near the lower bound, found {near}")
    sys.exit("\n".join(failed) if failed else 0)


if __name__ == "__main__":
    main()
