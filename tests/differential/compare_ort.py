#!/usr/bin/env python3
"""Random graphs against ONNX Runtime, without its optimisations: usage compare_ort.py STRESS_GRAPHS FIRST..LAST [--keep DIR]

Each output may be as far off as the case says that rounding moves it (noise.h). Two runtimes may put a number that is to be quantized on
either side of a tie: the noise covers it. Exits 1 when anything else differs, or a model that ONNX Runtime runs is refused by Mote.
"""
import argparse
import collections
import os
import re
import struct
import subprocess
import sys

import numpy as np
import onnxruntime as ort

TYPES = {"f32": np.float32, "f16": np.float16, "s32": np.int32, "s64": np.int64, "s8": np.int8, "u8": np.uint8, "s16": np.int16,
         "u16": np.uint16, "bool": np.bool_}
MAGIC = 0x4D4F5445
# Operators that ONNX Runtime computes as x * scale - mean * scale: what is lost there has no part in the noise of Mote's reference.
CANCELLING = {b"InstanceNormalization": 1e-3}
# Operators that end its process (as of 1.31: with some batches).
FATAL = (b"FeatureVectorizer",)
# Whose variance, a difference of two sums there, may be below 0: then it gives NaN.
NAN = (b"MeanVarianceNormalization",)


class Reader:
    """The records of emit_cases.cc."""

    def __init__(self, file):
        self.file = file

    def number(self):
        data = self.file.read(4)
        return struct.unpack("<I", data)[0] if len(data) == 4 else None

    def bytes(self):
        return self.file.read(self.number())

    def array(self):
        dtype = TYPES[self.bytes().decode()]
        dims = [self.number() for _ in range(self.number())]
        return np.frombuffer(self.bytes(), dtype).reshape(dims)

    def cases(self):
        while (magic := self.number()) is not None:
            assert magic == MAGIC, "the stream is damaged"
            seed, model, runs = self.bytes().decode(), self.bytes(), []
            for _ in range(self.number()):
                inputs = {}
                for _ in range(self.number()):
                    name = self.bytes().decode()
                    inputs[name] = self.array()
                error = self.bytes().decode()
                outputs = [(self.array(), np.frombuffer(self.bytes(), np.float64)) for _ in range(self.number())]
                runs.append((inputs, error, outputs))
            yield seed, model, runs


def difference(found, expected, tolerance, cancelled):
    """Of what Mote found; empty where ONNX Runtime gives the same. `cancelled`: of the largest number, what may be lost besides."""
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return f"shape or type: Mote {found.dtype}{list(found.shape)}, ONNX Runtime {expected.dtype}{list(expected.shape)}"
    a, b = found.astype(np.float64).ravel(), expected.astype(np.float64).ravel()
    with np.errstate(invalid="ignore"):
        tolerance = tolerance + cancelled * np.max(np.abs(b), initial=0, where=np.isfinite(b))
        wrong = ~((a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= tolerance) | np.isinf(tolerance))
    if not wrong.any():
        return ""
    at = int(np.flatnonzero(wrong)[0])
    values = f"Mote {a[at]:.9g}, ONNX Runtime {b[at]:.9g}, allowed {tolerance[at]:.3g}"
    return f"{found.dtype}: {wrong.sum()} of {a.size} differ; element {at}: {values}"


def check(model, runs, options):
    """(class, text) of what is wrong with a case; class '' for nothing, 'skipped: ...' where ONNX Runtime does not take it."""
    if any(op in model for op in FATAL):
        return "skipped: ONNX Runtime crashes", ""
    try:
        session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as e:  # its exceptions have no common base
        return "skipped: " + re.sub(r"'[^']*'|\d+", "#", str(e))[:140], ""
    cancelled = max((part for op, part in CANCELLING.items() if op in model), default=0)
    for inputs, error, outputs in runs:
        try:
            expected = session.run(None, inputs)
        except Exception as e:
            return "skipped: run: " + re.sub(r"'[^']*'|\d+", "#", str(e))[:140], ""
        if error:
            return "refused by Mote: " + re.sub(r"'[^']*'|\d+", "#", error), error
        for i, ((found, tolerance), wanted) in enumerate(zip(outputs, expected)):
            if any(op in model for op in NAN) and wanted.dtype.kind == "f" and np.isnan(wanted).any():
                return "skipped: a variance below 0 in ONNX Runtime", ""
            if text := difference(found, np.asarray(wanted), tolerance, cancelled):
                return "differs", f"{ {k: list(v.shape) for k, v in inputs.items()} } output {i}: {text}"
    return "", ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("stress_graphs")
    parser.add_argument("seeds")
    parser.add_argument("--keep", help="folder for models that differ")
    args = parser.parse_args()
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    producer = subprocess.Popen([args.stress_graphs, "--emit", "-", "--seeds", args.seeds], stdout=subprocess.PIPE)
    kinds, first, graphs = collections.Counter(), {}, 0
    for seed, model, runs in Reader(producer.stdout).cases():
        graphs += 1
        kind, text = check(model, runs, options)
        kinds[kind] += 1
        if kind and len(first.setdefault(kind, [])) < 12:
            first[kind].append((seed, text))
            if args.keep and not kind.startswith("skipped"):
                os.makedirs(args.keep, exist_ok=True)
                with open(os.path.join(args.keep, seed + ".onnx"), "wb") as file:
                    file.write(model)
    crashed = producer.wait() != 0
    print(f"{graphs} graphs, {kinds['']} the same in ONNX Runtime")
    for kind, count in kinds.most_common():
        if kind:
            print(f"{count} x {kind}")
            for seed, text in first[kind]:
                print(f"    seed {seed} {text}")
    findings = sum(n for kind, n in kinds.items() if kind and not kind.startswith("skipped"))
    print(f"{findings} findings" + (", and the producer of cases ended early" if crashed else ""))
    sys.exit(1 if findings or crashed else 0)


if __name__ == "__main__":
    main()
