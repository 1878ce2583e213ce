"""Makes the small .pt2 files that the front end's test (torch_test) reads, each with its inputs and eager results.

    fixtures.py [FOLDER]

Archives are packed anew with deflate and without sample inputs, so that a few kB are left.
"""

import io
import os
import sys
import zipfile

import torch
from torch import nn

from cases import write_npy

HERE = os.path.dirname(os.path.abspath(__file__))


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.head = nn.Conv2d(2, 3, 3, padding=1), nn.BatchNorm2d(3), nn.Linear(3, 4)

    def forward(self, x):
        return self.head(torch.relu(self.norm(self.conv(x))).mean((2, 3)))


class Cache(nn.Module):
    """Changes a buffer in place, through a view."""

    def __init__(self):
        super().__init__()
        self.register_buffer("cache", torch.zeros(2, 4, 3))
        self.register_buffer("count", torch.zeros(1, dtype=torch.int64))

    def forward(self, x, at):
        self.cache[:, 1:3].add_(x.unsqueeze(1))
        self.cache.index_copy_(1, at, x.unsqueeze(1))
        self.count += 1
        return self.cache * 2, self.count


class Choose(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda a: a * 2, lambda a: a - 1, (x,))


class Repeat(nn.Module):
    def forward(self, x):
        return torch._higher_order_ops.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2), (torch.tensor(0), x))


class Quantized(nn.Module):
    def __init__(self):
        super().__init__()
        import torch.ao.quantization.fx._decomposed  # noqa: F401

        self.register_buffer("weight", torch.randint(-127, 128, (4, 8), dtype=torch.int8))
        self.register_buffer("scales", torch.rand(4) * 0.02 + 0.01)
        self.register_buffer("zeros", torch.zeros(4, dtype=torch.int64))

    def forward(self, x):
        q = torch.ops.quantized_decomposed
        x = q.dequantize_per_tensor(q.quantize_per_tensor(x, 0.05, 3, -128, 127, torch.int8), 0.05, 3, -128, 127, torch.int8)
        w = q.dequantize_per_channel(self.weight, self.scales, self.zeros, 0, -127, 127, torch.int8)
        y = nn.functional.linear(x, w)
        return q.dequantize_per_tensor(q.quantize_per_tensor(y, 0.1, -5, -128, 127, torch.int8), 0.1, -5, -128, 127, torch.int8)


class Found(nn.Module):
    def forward(self, x):
        at = (x > 0).nonzero()
        return at, x[x > 0] * 2


class Unsupported(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(3, 3), nn.Dropout())

    def forward(self, x):
        return torch.bernoulli(self.inner(x).sigmoid()), torch.fft.rfft(x).abs()


def lstm():
    class Lstm(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(3, 4, num_layers=2, bidirectional=True, batch_first=True)

        def forward(self, x):
            return self.lstm(x)

    return Lstm()


def save(program, path):
    raw = io.BytesIO()
    torch.export.save(program, raw)
    raw.seek(0)
    with zipfile.ZipFile(raw) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            if "sample_inputs" in entry.filename:
                continue
            packed = zipfile.ZIP_STORED if "/data/" in entry.filename else zipfile.ZIP_DEFLATED
            info = zipfile.ZipInfo(entry.filename, (1980, 1, 1, 0, 0, 0))
            new.writestr(info, old.read(entry), packed)


def make(folder, name, module, inputs, shapes=None, decompose=False, training=False):
    at = os.path.join(folder, name)
    os.makedirs(at, exist_ok=True)
    torch.manual_seed(1)
    module = module()
    module = module if training else module.eval()
    program = torch.export.export(module, inputs, dynamic_shapes=shapes)
    save(program.run_decompositions() if decompose else program, at + "/model.pt2")
    if name == "unsupported":
        return
    for i, t in enumerate(inputs):
        write_npy(f"{at}/in_{i}.npy", t)
    with torch.no_grad():
        results = torch.utils._pytree.tree_leaves(module(*[t.clone() for t in inputs]))
    for i, t in enumerate(results):
        write_npy(f"{at}/out_{i}.npy", t)


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else HERE + "/fixtures"
    torch.manual_seed(0)
    batch = torch.export.Dim("batch", min=1, max=6)
    x = torch.randn(2, 3)
    make(folder, "conv", ConvNet, (torch.randn(2, 2, 5, 5),), {"x": {0: batch}})
    make(folder, "open", ConvNet, (torch.randn(2, 2, 5, 5),), {"x": {0: torch.export.Dim.AUTO}})
    make(folder, "cache", Cache, (x, torch.tensor([3])))
    make(folder, "cache_decomposed", Cache, (x, torch.tensor([3])), decompose=True)
    make(folder, "choose", Choose, (x.abs(),))
    make(folder, "repeat", Repeat, (x,))
    make(folder, "quantized", Quantized, (torch.randn(2, 8),))
    make(folder, "found", Found, (x,))
    make(folder, "lstm", lstm, (torch.randn(2, 5, 3),))
    make(folder, "unsupported", Unsupported, (x,))


if __name__ == "__main__":
    main()
