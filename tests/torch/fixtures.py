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


class QuantizedRows(nn.Module):
    """Scales found while running: of the tensor, and of each row."""

    def forward(self, x):
        import torch.ao.quantization.fx._decomposed  # noqa: F401

        q = torch.ops.quantized_decomposed
        scale, zero = q.choose_qparams(x, -128, 127, 2.0 ** -12, torch.int8)
        whole = q.quantize_per_tensor.tensor(x, scale, zero, -128, 127, torch.int8)
        scales, zeros = q.choose_qparams_per_token_asymmetric(x, torch.int8)
        rows = q.quantize_per_token(x, scales, zeros, -128, 127, torch.int8)
        return scale, zero, whole, scales, zeros, rows, q.dequantize_per_token(rows, scales, zeros, -128, 127, torch.int8, torch.float32)


class Mobile(nn.Module):
    """What mobile networks have: batch norms to fold, a depthwise convolution, a residual."""

    def __init__(self):
        super().__init__()
        def conv(inputs, size, stride=1, groups=1):
            return nn.Conv2d(inputs, 8, size, stride, size // 2, groups=groups, bias=False)

        self.stem = nn.Sequential(conv(3, 3, 2), nn.BatchNorm2d(8), nn.ReLU())
        self.block = nn.Sequential(conv(8, 3, groups=8), nn.BatchNorm2d(8), nn.ReLU6(), conv(8, 1), nn.BatchNorm2d(8))
        self.last = nn.Linear(8, 5)

    def forward(self, x):
        x = self.stem(x)
        x = nn.functional.relu(x + self.block(x))
        return self.last(nn.functional.adaptive_avg_pool2d(x, 1).flatten(1)).softmax(1)


def trained_quantized(inputs):
    """Mobile, trained with PT2E's quantizers in place, as torch.export gives it. Needs torchao and executorch."""
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config
    from torchao.quantization.pt2e import move_exported_model_to_eval
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_qat_pt2e

    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True, is_qat=True))
    model = prepare_qat_pt2e(torch.export.export(Mobile().train(), inputs).module(), quantizer)
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    for _ in range(8):
        loss = (model(torch.randn_like(inputs[0]))[:, 0] - 1).square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    move_exported_model_to_eval(model)
    return convert_pt2e(model)


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
    picture = (torch.randn(2, 3, 16, 16),)
    make(folder, "pt2e_qat", lambda: trained_quantized(picture), picture, training=True)
    make(folder, "found", Found, (x,))
    make(folder, "lstm", lstm, (torch.randn(2, 5, 3),))
    make(folder, "unsupported", Unsupported, (x,))
    make(folder, "quantized_rows", QuantizedRows, (torch.randn(2, 3, 6) * torch.tensor([[[1.0], [0.01], [0.0]]]),))


if __name__ == "__main__":
    main()
