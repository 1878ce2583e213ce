"""Mote and its peers quantize torchvision's MobileNetV2 with the same images; cosine of the logits and same top-1 beside f32.

  peers.py --mote BIN --model MODEL.onnx --images DIR --ort PYTHON --openvino PYTHON --litert PYTHON --executorch PYTHON

Each PYTHON is an interpreter with that peer (peer_child.py says which packages, and what an interpreter lacks is said before anything
runs); those not given are left out. This script needs numpy and Pillow. Two tables: calibrated and measured on all images; calibrated on
the first half, measured on the other.
"""
import argparse
import glob
import os
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

MEAN, STD = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])


def load(path):
    """As torchvision prepares images: the shorter side to 256, the middle 224."""
    image = Image.open(path).convert("RGB")
    w, h = image.size
    scale = 256 / min(w, h)
    image = image.resize((max(256, round(w * scale)), max(256, round(h * scale))), Image.BILINEAR)
    left, top = (image.width - 224) // 2, (image.height - 224) // 2
    x = np.asarray(image.crop((left, top, left + 224, top + 224)), np.float32) / 255
    return ((x - MEAN) / STD).transpose(2, 0, 1)


def mote_logits(binary, model, calibrate, test, folder, options):
    program = os.path.join(folder, "q.mote")
    subprocess.run([binary, "compile", model, "-o", program, "--quantize", "int8", "--calibrate", calibrate, "--golden-examples", "0",
                    *options], check=True, stdout=subprocess.DEVNULL)
    rows = []
    for x in np.load(test):
        one = os.path.join(folder, "x.npy")
        np.save(one, x[None])
        subprocess.run([binary, "run", program, "--input", one, "--output", folder], check=True, stdout=subprocess.DEVNULL)
        rows.append(np.load(os.path.join(folder, "logits.npy")))
    return np.concatenate(rows)


def missing_packages(child, kinds):
    """Prints which version of what each interpreter has; says what is missing, in words that can be acted on."""
    missing = []
    for name, (kind, python) in kinds.items():
        if not python:
            continue
        try:
            done = subprocess.run([python, child, kind], check=True, capture_output=True, text=True)
        except OSError as e:
            missing.append(f"{name}: no interpreter at {python} ({e.strerror})")
            continue
        except subprocess.CalledProcessError as e:
            missing.append(f"{name}: {python} does not start: {e.stderr.strip().splitlines()[-1]}")
            continue
        packages = [line.split() for line in done.stdout.splitlines()]
        print(f"{name}: " + ", ".join(" ".join(p) for p in packages if len(p) == 2), flush=True)
        lacks = [p[0] for p in packages if len(p) == 1]
        if lacks:
            missing.append(f"{name}: {python} lacks {', '.join(lacks)}: {python} -m pip install {' '.join(lacks)}")
    return missing


def figures(found, expected):
    cosine = np.sum(found * expected, 1) / np.linalg.norm(found, axis=1) / np.linalg.norm(expected, axis=1)
    sqnr = 10 * np.log10(np.sum(expected**2) / np.sum((found - expected) ** 2))
    return cosine.mean(), sqnr, np.mean(found.argmax(1) == expected.argmax(1))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("mote", "model", "images", "ort"):
        p.add_argument("--" + name, required=True)
    for name in ("openvino", "litert", "executorch"):
        p.add_argument("--" + name)
    p.add_argument("--mote-option", action="append", default=[], help="passed on to mote compile")
    args = p.parse_args()
    child = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peer_child.py")
    images = [load(f) for f in sorted(glob.glob(os.path.join(args.images, "*.jpg")))]
    half = len(images) // 2
    kinds = {"ONNX Runtime, min-max": ("ort", args.ort), "OpenVINO / NNCF": ("openvino", args.openvino),
             "LiteRT / AI Edge Quantizer": ("litert", args.litert), "ExecuTorch XNNPACK PT2E": ("executorch", args.executorch)}
    missing = missing_packages(child, kinds)
    if len(images) < 2:
        missing.append(f"{args.images}: {len(images)} images (*.jpg), 2 or more are needed")
    if missing:
        sys.exit("\n".join(missing))
    for title, calibrate, test in (
        (f"calibrated and measured on {len(images)} images", images, images),
        (f"calibrated on {half} images, measured on {len(images) - half} others", images[:half], images[half:]),
    ):
        print(f"\n{title}\n\n| quantizer | cosine | SQNR dB | same top-1 |\n|---|---|---|---|", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            c, t, out = (os.path.join(folder, n) for n in ("c.npy", "t.npy", "o.npy"))
            np.save(c, np.stack(calibrate))
            np.save(t, np.stack(test))

            def peer(kind, python):
                subprocess.run([python, child, kind, args.model, c, t, out], check=True, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
                return np.load(out)

            expected = peer("f32", args.ort)

            def row(name, make):
                try:
                    cosine, sqnr, top1 = figures(make(), expected)
                    print(f"| {name} | {cosine:.5f} | {sqnr:.1f} | {100 * top1:.1f} % |", flush=True)
                except subprocess.CalledProcessError as e:
                    print(f"| {name} | failed | | |", flush=True)
                    print((e.stderr or str(e))[-2000:], file=sys.stderr)

            row("Mote", lambda: mote_logits(args.mote, args.model, c, t, folder, args.mote_option))
            for name, (kind, python) in kinds.items():
                if python:
                    row(name, lambda: peer(kind, python))


if __name__ == "__main__":
    main()
