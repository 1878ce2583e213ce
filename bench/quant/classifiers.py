#!/usr/bin/env python3
"""Small labelled classifiers quantized to int8: the first 200 samples calibrate, the others measure.

    classifiers.py --mote build/release/bin/mote --models DIR --data DIR [--only PART] [--corrections] [-- OPTIONS of mote compile]

--corrections: also without any correction, with each alone, and with all but each. Models and how their inputs are made are those of
tests/models/accuracy.py, whose needs are this script's too."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/models"))
import accuracy  # noqa: E402

CALIBRATE = 200
MODELS = ("mlperf_ic_resnet8_fp32.onnx", "cifar10_resnet20_fp32.onnx", "mlperf_kws_dscnn_fp32.tflite")
OFF = {"equalisation": "--no-equalise", "weight scales": "--no-weight-scales", "adaptive rounding": "--no-adaptive-rounding",
       "bias correction": "--no-bias-correction"}


def variants(all_of_them):
    yield "all corrections", []
    if not all_of_them:
        return
    yield "none", list(OFF.values())
    for name in OFF:
        yield f"{name} alone", [o for n, o in OFF.items() if n != name]
    for name in OFF:
        yield f"all but {name}", [OFF[name]]


def measure(args, model, folder, options):
    command = [args.mote, "compile", args.models / model, "-o", folder / "q.mote",
               "--quantize", "int8", "--calibrate", folder / "calibrate",
               "--test", folder / "test", "--truth", folder / "truth.npy", "--golden-examples", "0", "--json"]
    command += accuracy.OPTIONS.get(model, []) + options
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{model}: {done.stderr or done.stdout}")
    return json.loads(done.stdout)["quantization"]["outputs"][0]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--mote", required=True)
    p.add_argument("--models", required=True, type=pathlib.Path)
    p.add_argument("--data", required=True, type=pathlib.Path)
    p.add_argument("--only", default="")
    p.add_argument("--corrections", action="store_true")
    p.add_argument("options", nargs="*")
    args = p.parse_args()
    print("| model | | f32 | int8 | drop | as it comes | cosine | SQNR dB |\n|---|---|---|---|---|---|---|---|")
    for model in MODELS:
        if args.only not in model:
            continue
        x, y = dict(accuracy.CLASSIFIERS)[model](args.data)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for part, samples in (("calibrate", x[:CALIBRATE]), ("test", x[CALIBRATE:])):
                (folder / part).mkdir()
                np.save(folder / part / "x.npy", samples[:, 0])
            np.save(folder / "truth.npy", y[CALIBRATE:].astype(np.int64))
            for what, options in variants(args.corrections):
                m = measure(args, model, folder, options + args.options)
                before, after, own = m["accuracy_f32"], m["accuracy"], m.get("accuracy_as_it_comes")
                print(f"| {model} | {what} | {100 * before:.2f} % | {100 * after:.2f} % | {100 * (before - after):.2f} | "
                      f"{'' if own is None else f'{100 * own:.2f} %'} | {m['cosine']:.5f} | {m['sqnr_db']:.1f} |", flush=True)


if __name__ == "__main__":
    main()
