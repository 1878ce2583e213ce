#!/usr/bin/env python3
"""Accuracy with real data, Mote beside the reference runtime on the same samples. Needs numpy, onnxruntime, ai-edge-litert.

accuracy.py --mote COMMAND --library libmote.so --models FOLDER --data FOLDER [--limit N] [--only PART]
MOTE_FULL_DATA=1 in the environment takes every sample, whatever --limit says.
Fails when an accuracy differs from the reference's by more than 0.1 point (or, with few samples, by more than one sample).
"""
import argparse
import csv
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

from mote_library import Program
from wordpiece import WordPiece


class OnnxReference:
    def __init__(self, path):
        import onnxruntime as ort

        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self.names = [i.name for i in self.session.get_inputs()]

    def run(self, *arrays):
        return self.session.run(None, dict(zip(self.names, arrays)))


class LiteReference:
    def __init__(self, path):
        from ai_edge_litert.interpreter import Interpreter, OpResolverType

        self.interpreter = Interpreter(str(path), experimental_op_resolver_type=OpResolverType.BUILTIN_REF, num_threads=1)
        self.interpreter.allocate_tensors()

    def run(self, *arrays):
        for detail, array in zip(self.interpreter.get_input_details(), arrays):
            self.interpreter.set_tensor(detail["index"], array)
        self.interpreter.invoke()
        return [self.interpreter.get_tensor(d["index"]) for d in self.interpreter.get_output_details()]


def images(data, name):
    arrays = np.load(data / name)
    return arrays["x"], arrays["y"]


# Each gives (samples, labels): what goes into the model and what should come out.
def cifar_plain(data):
    x, y = images(data, "cifar10_2000.npz")
    return x[:, None].astype(np.float32), y


def cifar_int8(data):
    x, y = images(data, "cifar10_2000.npz")
    return (x[:, None].astype(np.int16) - 128).astype(np.int8), y


def cifar_planes(data):
    x, y = cifar_plain(data)
    return x.transpose(0, 1, 4, 2, 3), y


def cifar_torch(data):
    x, y = images(data, "cifar10_2000.npz")
    x = (x.astype(np.float32) / 255 - np.float32([0.485, 0.456, 0.406])) / np.float32([0.229, 0.224, 0.225])
    return np.ascontiguousarray(x.transpose(0, 3, 1, 2))[:, None], y


def keywords_int8(data):
    x, y = images(data, "kws01.npz")
    return x[:, None], y


def keywords_float(data):
    # The float model was fed what the int8 model's input stands for: scale 0.5847029, zero point 83.
    x, y = images(data, "kws01.npz")
    return ((x.astype(np.float32) - 83) * np.float32(0.5847029))[:, None], y


def digits_cntk(data):
    x, y = images(data, "mnist_2000.npz")
    return x[:, None, None].astype(np.float32), y


def digits_torch(data):
    x, y = digits_cntk(data)
    return (x / np.float32(255) - np.float32(0.1307)) / np.float32(0.3081), y


CLASSIFIERS = [
    ("mlperf_ic_resnet8_fp32.tflite", cifar_plain), ("mlperf_ic_resnet8_int8.tflite", cifar_int8),
    ("mlperf_ic_resnet8_fp32.onnx", cifar_planes), ("cifar10_resnet20_fp32.onnx", cifar_torch),
    ("mlperf_kws_dscnn_fp32.tflite", keywords_float), ("mlperf_kws_dscnn_int8.tflite", keywords_int8),
    ("mnist_cntk.onnx", digits_cntk), ("ort_cnn_mnist_pytorch.onnx", digits_torch),
]
OPTIONS = {"cifar10_resnet20_fp32.onnx": ["--dim", "N=1"], "minilm_l6_v2_dynint8.onnx": ["--dim", "batch=1", "--dim", "seq=1..128"]}


def compiled(args, model, folder):
    program = folder / (model.name + ".mote")
    subprocess.run([args.mote, "compile", model, "-o", program, *OPTIONS.get(model.name, [])], check=True, stdout=subprocess.DEVNULL)
    return Program(args.library, program)


def open_reference(model):
    return OnnxReference(model) if model.suffix == ".onnx" else LiteReference(model)


def classify(args, model, make, folder):
    samples, labels = make(args.data)
    samples, labels = samples[: args.limit], labels[: args.limit]
    program, reference = compiled(args, model, folder), open_reference(model)
    found = np.array([np.argmax(program.run(x)[0]) for x in samples])
    expected = np.array([np.argmax(reference.run(x)[0]) for x in samples])
    return 100 * np.mean(found == labels), 100 * np.mean(expected == labels), 100 * np.mean(found == expected), len(samples)


def spearman(a, b):
    def ranks(v):
        order = np.argsort(v, kind="stable")
        r = np.empty(len(v))
        r[order] = np.arange(len(v))
        for value in np.unique(v):
            same = v == value
            r[same] = r[same].mean()
        return r

    return np.corrcoef(ranks(np.asarray(a)), ranks(np.asarray(b)))[0, 1]


def similarity(args, model, folder):
    with open(args.data / "text" / "stsb-en-test.csv", encoding="utf-8", newline="") as file:
        rows = [r for r in csv.reader(file) if len(r) >= 3][: args.limit]
    tokenizer = WordPiece(args.data / "text" / "vocab.txt")
    scores = [float(r[2]) for r in rows]
    program, reference = compiled(args, model, folder), open_reference(model)

    def embed(run, text):
        ids = np.array([tokenizer.encode(text)], np.int64)
        v = run.run(ids, np.ones_like(ids), np.zeros_like(ids))[-1][0]
        return v / np.linalg.norm(v)

    results = []
    for run in (program, reference):
        results.append([float(embed(run, r[0]) @ embed(run, r[1])) for r in rows])
    agreement = 100 * spearman(*results)
    return 100 * spearman(results[0], scores), 100 * spearman(results[1], scores), agreement, len(rows)


def main():
    parser = argparse.ArgumentParser()
    for name in ("--mote", "--library"):
        parser.add_argument(name, required=True)
    for name in ("--models", "--data"):
        parser.add_argument(name, required=True, type=pathlib.Path)
    parser.add_argument("--limit", type=int, help="samples of each (default: all)")
    parser.add_argument("--only", default="", help="part of a model's name")
    args = parser.parse_args()
    if os.environ.get("MOTE_FULL_DATA", "0") not in ("", "0"):
        args.limit = None
    failed = 0
    print(f"{'model':36} {'Mote':>8} {'reference':>9} {'agree':>7} samples")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        jobs = [(m, lambda model, make=make: classify(args, model, make, folder)) for m, make in CLASSIFIERS]
        jobs.append(("minilm_l6_v2_dynint8.onnx", lambda model: similarity(args, model, folder)))
        for model, work in jobs:
            if args.only not in model:
                continue
            found, expected, agree, count = work(args.models / model)
            good = abs(found - expected) <= max(0.1, 100 / count + 1e-9 if count < 1000 else 0.1)
            failed += not good
            print(f"{model:36} {found:8.2f} {expected:9.2f} {agree:7.2f} {count:7} {'ok' if good else 'DIFFERS'}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
