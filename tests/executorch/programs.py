"""Small programs that the real exporter makes of PyTorch modules, and what ExecuTorch's own runtime computes with them."""

import torch
from torch import nn


class Linear(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 4)

    def forward(self, x):
        return torch.softmax(self.layer(x).relu(), -1)


class Convolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU6(),
                                 nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.Hardswish(), nn.MaxPool2d(2), nn.AdaptiveAvgPool2d(1))
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        return self.head(self.net(x).flatten(1))


class ChannelsLast(nn.Module):
    """Weights, input and activations with the channels innermost in memory."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.Conv2d(8, 4, 3, padding=1)
        self.to(memory_format=torch.channels_last)

    def forward(self, x):
        return self.second(self.first(x).relu()).mean((2, 3))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(6, 8, 2, batch_first=True, bidirectional=True), nn.Linear(16, 3)

    def forward(self, x):
        y, (h, _) = self.lstm(x)
        return self.head(y[:, -1]), h


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(23, 16)
        layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, activation="gelu")
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, ids):
        return self.layers(self.embed(ids)).argmax(-1), self.embed(ids).mean(1)


class Total(nn.Module):
    """Two states: a sum, and a window that the newest row is written into."""

    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(1, 4))
        self.register_buffer("window", torch.zeros(3, 4))

    def forward(self, x):
        self.total.add_(x)
        self.window.copy_(torch.cat([self.window[1:], x]))
        return self.total * 2, self.window.sum(0)


class Cache(nn.Module):
    """A cache that rows are written into by their place."""

    def __init__(self):
        super().__init__()
        self.register_buffer("cache", torch.zeros(1, 6, 4))

    def forward(self, x, place):
        self.cache[:, place] = x
        return torch.softmax(x @ self.cache.transpose(1, 2), -1) @ self.cache


class Choice(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda v: v.sin() * 2, lambda v: v.cos() - 1, (x,))


class Reshapes(nn.Module):
    """Views, with and without an instruction; sizes that are computed."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 4)

    def forward(self, x):
        y = self.layer(x).view(x.shape[0], 2, 2).transpose(1, 2).reshape(x.shape[0] * 2, 2)
        return y + 1, torch.cat([y, y * x.shape[0]]).unsqueeze(0)


class Mixed(nn.Module):
    """Many kinds of operators in one place."""

    def forward(self, x, i):
        top, where = torch.topk(x, 3, dim=-1)
        a, b = torch.split(x, [2, 4], dim=1)
        y = torch.where(x > 0, x, torch.full_like(x, 0.5)).clamp(-1, 1)
        picked = torch.gather(y, 1, i)
        return (top, where, a.sum(1), b.amax(1), picked, y.cumsum(1), torch.arange(6).float() + y, x.var(1), x[:, 1::2].exp(),
                torch.nn.functional.pad(x, (1, 2), value=3.0), x.std(0), (x * 3).to(torch.int32) // 2, x.pow(2).mean((0, 1)))


class Tokens(nn.Module):
    """Embeddings in 8, 4 and 2 bits, and rows that are quantized with scales of their own."""

    def __init__(self):
        super().__init__()
        self.quantized = quantized = torch.ops.quantized_decomposed
        self.kernels = {8: quantized.embedding_byte, 4: quantized.embedding_4bit, 2: quantized.embedding_2bit}
        for bits, groups in ((8, 1), (4, 4), (2, 2)):
            kind = torch.int8 if bits == 8 else torch.uint8
            self.register_buffer(f"table{bits}", torch.randint(-128, 128, (13, 2 * bits)).to(kind))
            self.register_buffer(f"scales{bits}", torch.rand(*([13, groups] if groups > 1 else [13])) + 0.1)
        self.register_buffer("zeros", torch.randint(-3, 4, (13, 4)).float())

    def forward(self, ids):
        e = [kernel(getattr(self, f"table{bits}"), getattr(self, f"scales{bits}"), self.zeros if bits == 4 else None,
                    -(1 << bits - 1), (1 << bits - 1) - 1, ids) for bits, kernel in self.kernels.items()]
        x = e[0] + e[1] * e[2]
        scale, zero = self.quantized.choose_qparams_per_token_asymmetric(x, torch.int8)
        rows = self.quantized.quantize_per_token(x, scale, zero, -128, 127, torch.int8)
        return *e, scale, zero, rows, self.quantized.dequantize_per_token(rows, scale, zero, -128, 127, torch.int8, torch.float32)


class Block(nn.Module):
    """What an int8 partition cuts into several delegates: layer norm and softmax stay with the portable kernels."""

    def __init__(self, width=16):
        super().__init__()
        self.first, self.qkv, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        q, k, v = self.qkv(self.first(x)).chunk(3, -1)
        return x + self.out(torch.softmax(q @ k.transpose(1, 2), -1) @ v)


def seeded(make):
    torch.manual_seed(0)
    return make().eval()


def image(*shape):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(1)) * 2 - 1


def dim(name, top):
    return torch.export.Dim(name, max=top)


# name: (module, example inputs, dynamic shapes, a list of the inputs of each run)
def small_programs():
    ids = torch.arange(10).reshape(2, 5) % 23
    rows = [(image(1, 4) + k,) for k in range(3)]
    places = [(image(1, 1, 4) * (k + 1), torch.tensor([k])) for k in range(3)]
    return {
        "linear": (Linear, (image(2, 8),), None, None),
        "convolution": (Convolution, (image(1, 3, 16, 16),), None, None),
        "channels_last": (ChannelsLast, (image(1, 3, 16, 12).to(memory_format=torch.channels_last),), None, None),
        "recurrent": (Recurrent, (image(2, 5, 6),), None, None),
        "attention": (Attention, (ids,), None, None),
        "total": (Total, rows[0], None, rows),
        "cache": (Cache, places[0], None, places),
        "choice": (Choice, (image(2, 3),), None, [(image(2, 3) + 2,), (image(2, 3) - 2,)]),
        "reshapes": (Reshapes, (image(4, 6),), None, None),
        "open_batch": (Linear, (image(3, 8),), ({0: dim("n", 6)},), [(image(n, 8),) for n in (1, 3, 6)]),
        "open_reshapes": (Reshapes, (image(3, 6),), ({0: dim("n", 5)},), [(image(n, 6),) for n in (2, 3, 5)]),
        "open_attention": (Attention, (ids,), ({1: dim("t", 7)},), [(ids[:, :t].contiguous(),) for t in (2, 4, 5)]),
        "mixed": (Mixed, (image(4, 6), torch.tensor([[0, 2], [1, 5], [3, 3], [4, 0]])), None, None),
    }
