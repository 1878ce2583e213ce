#!/usr/bin/env python3
"""Whole models with seeded random weights: exported to ExecuTorch, compiled from the .pte file, compared with ExecuTorch's own runtime.

    models.py MOTE [--kind KIND,KIND] [--keep FOLDER] [--models NAME,NAME]

KIND: f32 and dynamic (int8 with scales found while running) with portable kernels; xnnpack (f32), int8 (static), xnnpack_dynamic and
four (4-bit weights of transformers) through the XNNPACK partitioner. Static int8 has ExecuTorch's bits, the others are within 1e-4 of the
largest value of an output; or, with scales found while running, within twice what ExecuTorch itself moves when its inputs change in the
last bit, which rounding to 8 bits in each layer spreads. Needs the PyPI packages executorch 1.5 and torchvision; says so and ends with 77
without."""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

try:
    import numpy as np
    import torch
    from executorch.exir import EdgeCompileConfig, to_edge, to_edge_transform_and_lower
    from executorch.runtime import Runtime
    import executorch.kernels.quantized  # noqa: F401  kernels that the runtime does not have by itself
    # torchvision's own operators are not needed.
    for name in ("nms", "qnms"):
        torch.library.define("torchvision::" + name, "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    import torchvision
except ImportError as missing:
    print(f"skipped: {missing.name} is not installed")
    sys.exit(77)

import xnnpack_export  # noqa: E402
from programs import dim, image, small_programs  # noqa: E402
from torch import nn  # noqa: E402

warnings.filterwarnings("ignore")


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(24, 48, 2, batch_first=True, bidirectional=True), nn.Linear(96, 7)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


class Gpt(nn.Module):
    def __init__(self, vocabulary=101, width=48):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(32, width)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(width, 4, 4 * width, batch_first=True, norm_first=True, activation="gelu")
                                    for _ in range(3))
        self.head = nn.Linear(width, vocabulary)

    def forward(self, ids):
        t = ids.shape[1]
        mask = torch.full((t, t), float("-inf")).triu(1)
        x = self.tokens(ids) + self.places(torch.arange(t))
        for layer in self.layers:
            x = layer(x, src_mask=mask, is_causal=False)
        return self.head(x)


def vision(name, size):
    return lambda: getattr(torchvision.models, name)(), (image(1, 3, size, size),)


class OpenGpt(Gpt):
    """With a mask and positions that a sequence of any length has."""

    def forward(self, ids):
        i = torch.arange(ids.shape[1])
        x, mask = self.tokens(ids) + self.places(i), torch.where(i[None, :] > i[:, None], float("-inf"), 0.0)
        for layer in self.layers:
            x = layer(x, src_mask=mask, is_causal=False)
        return self.head(x)


def ids(count):
    return torch.arange(2 * count).reshape(2, count) * 5 % 101


# name: (module, example inputs, dynamic shapes, the inputs of further runs)
def all_models():
    batch, length = ({0: dim("n", 4)},), ({1: dim("t", 20)},)
    models = {
        "mobilenet_v2": vision("mobilenet_v2", 96), "mobilenet_v3_small": vision("mobilenet_v3_small", 96),
        "mobilenet_v3_large": vision("mobilenet_v3_large", 96), "resnet18": vision("resnet18", 96),
        "vit": (lambda: torchvision.models.VisionTransformer(32, 8, 4, 4, 64, 128, num_classes=10), (image(1, 3, 32, 32),)),
        "lstm": (Lstm, (image(2, 12, 24),)), "gpt": (Gpt, (ids(9),)),
        "open_mobilenet": (vision("mobilenet_v3_small", 96)[0], (image(2, 3, 96, 96),), batch,
                           [(image(1, 3, 96, 96),), (image(4, 3, 96, 96),)]),
        "open_gpt": (OpenGpt, (ids(9),), length, [(ids(3),), (ids(20),)]),
    }
    for name, (make, example, _, runs) in small_programs().items():
        if not name.startswith("open_") and runs is None:
            models["small_" + name] = (make, example)
    return models


def trained_like(module, example):
    """Weights that let something through: no output layer of zeros, and batch norms that have seen data."""
    with torch.no_grad():
        for p in module.parameters():
            if p.ndim > 1 and not p.any():
                p.normal_(0, 0.1)
        if any(isinstance(m, nn.BatchNorm2d) for m in module.modules()):
            for m in module.modules():
                if isinstance(m, nn.BatchNorm2d):
                    m.momentum = None
            for _ in range(2):
                module.train()(*(torch.rand(4, *x.shape[1:]) * 2 - 1 for x in example))
    return module.eval()


def export(make, example, shapes, kind):
    torch.manual_seed(0)
    module = trained_like(make(), example)
    if kind in ("int8", "dynamic", "xnnpack_dynamic"):
        module = xnnpack_export.quantized(module, example, dynamic=kind != "int8", shapes=shapes)
    if kind == "four":
        module = xnnpack_export.four_bits(module, 0)
    exported = torch.export.export(module, example, dynamic_shapes=shapes)
    config = EdgeCompileConfig(_check_ir_validity=False)
    if kind in ("f32", "dynamic"):
        return to_edge(exported, compile_config=config).to_executorch().buffer
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    return to_edge_transform_and_lower(exported, compile_config=config, partitioner=[XnnpackPartitioner()]).to_executorch().buffer


def executed(method, inputs):
    return [y.clone().contiguous().numpy() for y in method.execute(list(inputs))]


def difference(found, expected):
    """Of the largest value."""
    scale = float(np.abs(expected.astype(np.float64)).max(initial=0))
    return float(np.abs(found.astype(np.float64) - expected.astype(np.float64)).max(initial=0)) / scale if scale > 0 else float("nan")


def movement(method, inputs, expected):
    """How far ExecuTorch's own outputs move when its inputs change in the last bit."""
    torch.manual_seed(1)
    worst = 0.0
    for _ in range(3):
        moved = [x * (1 + 1e-7 * torch.randn_like(x)) if x.is_floating_point() else x for x in inputs]
        worst = max([worst, *(difference(y, e) for y, e in zip(executed(method, moved), expected))])
    return worst


def run(mote, folder, inputs, count):
    """The outputs, or what went wrong."""
    command = [mote, "run", folder / "model.mote", "-o", folder]
    for i, x in enumerate(inputs):
        np.save(folder / f"input_{i}.npy", x.contiguous().numpy())
        command += ["-i", f"input_{i}={folder}/input_{i}.npy"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stderr.strip() if done.returncode != 0 else [np.load(folder / f"output_{i}.npy") for i in range(count)]


def compare(mote, folder, kind, make, example, shapes=None, more=()):
    """Empty when all is well."""
    (folder / "model.pte").write_bytes(export(make, example, shapes, kind))
    method = Runtime.get().load_program(str(folder / "model.pte")).load_method("forward")
    done = subprocess.run([mote, "compile", folder / "model.pte", "-o", folder / "model.mote"], capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr.strip()
    for inputs in (example, *more):
        expected, worst = executed(method, inputs), 0.0
        found = run(mote, folder, inputs, len(expected))
        if isinstance(found, str):
            return found
        for i, (y, f) in enumerate(zip(expected, found)):
            if f.shape != y.shape or f.dtype != y.dtype:
                return f"output {i}: expected {y.dtype} {y.shape}, found {f.dtype} {f.shape}"
            if not y.any():
                return f"output {i} is zero everywhere: nothing can be judged"
            if kind == "int8" and (f != y).any():
                return f"output {i}: {int((f != y).sum())} of {y.size} differ, by {difference(f, y):.2e} at most"
            worst = max(worst, difference(f, y))
        limit = 1e-4
        if worst > limit and kind in ("dynamic", "xnnpack_dynamic", "four"):
            limit = 2 * movement(method, inputs, expected)
            print(f"  ExecuTorch itself moves by {limit / 2:.2e}")
        print(f"  largest difference {worst:.2e}", flush=True)
        if not worst <= limit:
            return f"differs by {worst}"
    return ""


def main():
    options = argparse.ArgumentParser()
    options.add_argument("mote")
    options.add_argument("--kind", default="f32")
    options.add_argument("--keep", help="folder that the programs stay in")
    options.add_argument("--models", default="", help="NAME,NAME; default: all")
    args = options.parse_args()
    models, failed = all_models(), []
    names = args.models.split(",") if args.models else list(models)
    cases = [(kind, name) for kind in args.kind.split(",") for name in names if kind != "four" or name in ("vit", "gpt")]
    for kind, name in cases:
        began = time.time()
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(args.keep) / kind / name if args.keep else pathlib.Path(made)
            folder.mkdir(parents=True, exist_ok=True)
            try:
                error = compare(args.mote, folder, kind, *models[name])
            except Exception as e:  # the exporter's own failures count too
                error = f"{type(e).__name__}: {e}"
        print(f"{kind} {name}: {error or 'as ExecuTorch'} ({time.time() - began:.0f} s)", flush=True)
        failed += [name] if error else []
    print(f"{len(cases) - len(failed)} of {len(cases)} as ExecuTorch")
    return 1 if failed else 0


sys.exit(main())
