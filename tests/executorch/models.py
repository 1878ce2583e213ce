#!/usr/bin/env python3
"""Whole models with seeded random weights: exported to ExecuTorch, compiled from the .pte file, compared with ExecuTorch's own runtime.

    models.py MOTE [--partition xnnpack] [--keep FOLDER] [--models NAME,NAME]

Within 1e-4 of the largest value of an output. Needs the PyPI packages executorch 1.5 and torchvision; says so and ends with 77 without."""
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
    # torchvision's own operators are not needed.
    for name in ("nms", "qnms"):
        torch.library.define("torchvision::" + name, "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    import torchvision
except ImportError as missing:
    print(f"skipped: {missing.name} is not installed")
    sys.exit(77)

from programs import image, small_programs  # noqa: E402
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


def all_models():
    models = {
        "mobilenet_v2": vision("mobilenet_v2", 96), "mobilenet_v3_small": vision("mobilenet_v3_small", 96),
        "mobilenet_v3_large": vision("mobilenet_v3_large", 96), "resnet18": vision("resnet18", 96),
        "vit": (lambda: torchvision.models.VisionTransformer(32, 8, 4, 4, 64, 128, num_classes=10), (image(1, 3, 32, 32),)),
        "lstm": (Lstm, (image(2, 12, 24),)), "gpt": (Gpt, (torch.arange(18).reshape(2, 9) * 5 % 101,)),
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


def export(make, example, partition):
    torch.manual_seed(0)
    exported = torch.export.export(trained_like(make(), example), example)
    config = EdgeCompileConfig(_check_ir_validity=False)
    if not partition:
        return to_edge(exported, compile_config=config).to_executorch().buffer
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    return to_edge_transform_and_lower(exported, compile_config=config, partitioner=[XnnpackPartitioner()]).to_executorch().buffer


def compare(mote, folder, make, example, partition):
    """Empty when all is well."""
    (folder / "model.pte").write_bytes(export(make, example, partition))
    expected = Runtime.get().load_program(str(folder / "model.pte")).load_method("forward").execute(list(example))
    done = subprocess.run([mote, "compile", folder / "model.pte", "-o", folder / "model.mote"], capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr.strip()
    command = [mote, "run", folder / "model.mote", "-o", folder]
    for i, x in enumerate(example):
        np.save(folder / f"input_{i}.npy", x.contiguous().numpy())
        command += ["-i", f"input_{i}={folder}/input_{i}.npy"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr.strip()
    worst = 0.0
    for i, y in enumerate(expected):
        found, y = np.load(folder / f"output_{i}.npy"), y.numpy()
        if found.shape != y.shape or found.dtype != y.dtype:
            return f"output {i}: expected {y.dtype} {y.shape}, found {found.dtype} {found.shape}"
        scale = float(np.abs(y.astype(np.float64)).max(initial=0))
        if scale == 0:
            return f"output {i} is zero everywhere: nothing can be judged"
        worst = max(worst, float(np.abs(found.astype(np.float64) - y.astype(np.float64)).max(initial=0)) / scale)
    print(f"  largest difference {worst:.2e}", flush=True)
    return "" if worst <= 1e-4 else f"differs by {worst}"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("mote")
    options.add_argument("--partition", choices=["xnnpack"])
    options.add_argument("--keep", help="folder that the programs stay in")
    options.add_argument("--models", default="", help="NAME,NAME; default: all")
    args = options.parse_args()
    models, failed = all_models(), []
    names = args.models.split(",") if args.models else list(models)
    for name in names:
        began = time.time()
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(args.keep) / name if args.keep else pathlib.Path(made)
            folder.mkdir(parents=True, exist_ok=True)
            try:
                error = compare(args.mote, folder, *models[name], args.partition)
            except Exception as e:  # the exporter's own failures count too
                error = f"{type(e).__name__}: {e}"
        print(f"{name}: {error or 'as ExecuTorch'} ({time.time() - began:.0f} s)", flush=True)
        failed += [name] if error else []
    print(f"{len(names) - len(failed)} of {len(names)} as ExecuTorch")
    return 1 if failed else 0


sys.exit(main())
