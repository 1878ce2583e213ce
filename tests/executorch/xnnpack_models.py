"""xnnpack_models.py RUNNER [--only NAME] [--keep FOLDER]: whole models through the XNNPACK partitioner, against ExecuTorch's runtime.

Random weights from a fixed seed, small images. Programs that are more than one call of the delegate are left to the tests of .pte files."""

import argparse
import pathlib
import sys
import tempfile

import torch
from torch import nn

# torchvision's own operators are not needed, and may not load.
for _name in ("nms", "qnms"):
    torch.library.define("torchvision::" + _name, "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")

import torchvision  # noqa: E402
import xnnpack_export as et  # noqa: E402
from xnnpack_ops import Runner, make_case  # noqa: E402


def settle(module):
    """Statistics for batch norms, so that activations keep their size."""
    for m in module.modules():
        if isinstance(m, nn.BatchNorm2d):
            nn.init.uniform_(m.running_mean, -0.2, 0.2)
            nn.init.uniform_(m.running_var, 0.5, 1.5)
    return module


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells, self.out = nn.LSTM(12, 16, batch_first=True), nn.Linear(16, 4)

    def forward(self, x):
        return self.out(self.cells(x)[0][:, -1])


class Block(nn.Module):
    def __init__(self, width=64, heads=4):
        super().__init__()
        self.heads, self.first, self.second = heads, nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = (p.view(n, t, self.heads, c // self.heads).transpose(1, 2) for p in self.qkv(self.first(x)).chunk(3, -1))
        y = nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(n, t, c)
        x = x + self.out(y)
        return x + self.mlp(self.second(x))


class Vit(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches, self.blocks, self.head = nn.Conv2d(3, 64, 8, 8), nn.Sequential(Block(), Block()), nn.Linear(64, 10)

    def forward(self, x):
        return self.head(self.blocks(self.patches(x).flatten(2).transpose(1, 2)).mean(1))


def models():
    image = (torch.randn(1, 3, 64, 64),)
    tokens = (torch.randn(1, 8, 64),)
    return {
        "mobilenet_v2": (lambda: torchvision.models.mobilenet_v2(), image), "resnet18": (lambda: torchvision.models.resnet18(), image),
        "mobilenet_v3": (lambda: torchvision.models.mobilenet_v3_small(), image), "vit": (Vit, image),
        "lstm": (Lstm, (torch.randn(1, 6, 12),)), "transformer": (lambda: nn.Sequential(Block(), Block()), tokens),
    }


def variants(name):
    yield "f32", lambda m, x: et.export(m, x)
    yield "int8", lambda m, x: et.export(et.quantized(m, x), x)
    if name == "transformer":
        yield "dynamic", lambda m, x: et.export(et.quantized(m, x, dynamic=True), x)
        yield "four", lambda m, x: et.export(et.four_bits(m, 32), x)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runner")
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", default="", help="a folder for the cases")
    a = parser.parse_args()
    torch.set_num_threads(1)
    runner, root, counts = Runner(a.runner), pathlib.Path(a.keep or tempfile.mkdtemp()), {}
    for name, (make, inputs) in models().items():
        if a.only and a.only != name:
            continue
        for kind, convert in variants(name):
            torch.manual_seed(3)
            module = settle(make()).eval()
            folder = root / f"{kind}_{name}"
            why = make_case(folder, lambda: convert(module, inputs), inputs)
            found = [] if why else runner.check(folder, kind)
            print(f"{kind} {name}: {why or '; '.join(found) or 'equal'}", flush=True)
            result = "not compared" if why else "wrong" if found else "equal"
            counts[result] = counts.get(result, 0) + 1
    print(counts)
    return 1 if counts.get("wrong") else 0


if __name__ == "__main__":
    sys.exit(main())
