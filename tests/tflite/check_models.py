#!/usr/bin/env python3
"""Every shared .tflite model, several runs one after the other (state carries over): bit-exact where its outputs are integers.

check_models.py --mote COMMAND --library libmote.so --models FOLDER [--only PART] [--runs N]
The references are LiteRT's reference kernels; TFLite Micro where LiteRT refuses the model; the same graph with a TRANSPOSE_CONV
where it has MediaPipe's custom operator. Exit codes: 0 all agree, 1 not, 77 skipped (no models, or a package is missing).
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from ai_edge_litert import interpreter as _litert  # noqa: F401
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

from reference import agrees, difference, interpreter, litert, mote, random_inputs

HERE = pathlib.Path(__file__).resolve().parent


def micro(model, runs):
    """TFLite Micro on a model with one input and one output."""
    from tflite_micro.python.tflite_micro import runtime

    m = runtime.Interpreter.from_file(str(model))
    out = []
    for arrays in runs:
        m.set_input(arrays[0], 0)
        m.invoke()
        out.append([m.get_output(0)])
    return out


def picture(path, shape):
    from PIL import Image

    image = Image.open(path).convert("RGB").resize((int(shape[2]), int(shape[1])), Image.BILINEAR)
    return np.asarray(image, np.float32)[None] / np.float32(255)


def reference(model, folder, runs_wanted, rng):
    """(inputs of each run, outputs of each run)"""
    if "person_detect" in model.name:
        runs = [[rng.integers(-128, 128, (1, 96, 96, 1)).astype(np.int8)] for _ in range(runs_wanted)]
        return runs, micro(model, runs)
    source = model
    if "selfie" in model.name:
        source = folder / "plain.tflite"
        subprocess.run([sys.executable, HERE.parent / "models" / "without_custom_op.py", model, source], check=True)
    it = interpreter(source)
    details = [(d["shape"], d["dtype"]) for d in it.get_input_details()]
    if "selfie" in model.name:  # this network amplifies every rounding of noise; on pictures it does what it was trained for
        runs = [[picture(model.parent.parent / "data" / "images" / name, details[0][0])] for name in ("face.jpg", "pets.jpg")]
        return runs, litert(it, runs)
    # Images and spectra lie between 0 and 1; far outside, networks amplify every rounding.
    runs = [random_inputs(details, rng, 0, 1) for _ in range(runs_wanted)]
    return runs, litert(it, runs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mote", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    models = sorted(m for m in args.models.glob("*.tflite") if args.only in m.name) if args.models.is_dir() else []
    if not models:
        print(f"skipped: no .tflite models in {args.models}")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for model in models:
            try:
                runs, expected = reference(model, folder, args.runs if model.stat().st_size < 1_000_000 else 1, np.random.default_rng(1))
                found = mote(args.mote, args.library, model, folder, runs)
                problem = agrees(expected, found)
                exact, worst, _ = difference(expected, found)
                result = problem and "FAILED " + problem or ("bit-exact" if exact else f"{worst:.2g}")
            except (RuntimeError, ValueError, ImportError, OSError, subprocess.CalledProcessError) as error:
                problem, result = True, f"FAILED {error}"
            failed += bool(problem)
            print(f"{model.name:45} {result}", flush=True)
    print(f"{len(models)} models, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
