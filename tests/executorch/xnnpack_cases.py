"""Modules, one for each kind of node that the XNNPACK partitioner writes."""

import torch
from torch import nn
from torch.nn import functional as F


class Fn(nn.Module):
    """A function as a module."""

    def __init__(self, f, *parts):
        super().__init__()
        self.f = f
        self.parts = nn.ModuleList(parts)

    def forward(self, *x):
        return self.f(*self.parts, *x)


def image(c=8, h=9, w=11, n=1):
    return torch.randn(n, c, h, w)


def unary_cases():
    fns = {
        "abs": torch.abs, "ceil": torch.ceil, "floor": torch.floor, "neg": torch.neg, "exp": torch.exp, "sin": torch.sin, "cos": torch.cos,
        "tanh": torch.tanh, "sigmoid": torch.sigmoid, "relu": torch.relu, "hardtanh": F.hardtanh, "relu6": F.relu6, "gelu": F.gelu,
        "hardswish": F.hardswish, "elu": F.elu, "elu_half": lambda x: F.elu(x, 0.5), "leaky_relu": lambda x: F.leaky_relu(x, 0.2),
        "square": lambda x: x ** 2, "clamp_low": lambda x: torch.clamp(x, min=-0.3), "clamp_high": lambda x: torch.clamp(x, max=0.4),
        "softmax": lambda x: torch.softmax(x, -1), "sqrt_abs": lambda x: torch.sqrt(torch.abs(x)),
        "rsqrt_exp": lambda x: torch.rsqrt(torch.exp(x)), "log_exp": lambda x: torch.log(torch.exp(x)),
        "permute": lambda x: x.permute(0, 3, 1, 2), "view": lambda x: x.view(2, -1), "unsqueeze": lambda x: (x + x).unsqueeze(-1),
        "slice": lambda x: x[:, 1:5], "slice_two": lambda x: x[:, :, 2:7, :3], "pad": lambda x: F.pad(x, (1, 2, 0, 3), value=0.5),
        "clone": lambda x: (x * x).clone(),
    }
    return {name: (Fn(f), (image(),)) for name, f in fns.items()}


def binary_cases():
    fns = {
        "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": lambda x, y: x / (y.abs() + 1), "minimum": torch.minimum,
        "maximum": torch.maximum, "add_relu": lambda x, y: torch.relu(x + y), "mul_clamp": lambda x, y: torch.clamp(x * y, -0.5, 0.5),
        "cat": lambda x, y: torch.cat([x, y], 1), "cat_last": lambda x, y: torch.cat([x, y], -1),
        "cat3": lambda x, y: torch.cat([x, y, x + y], 1), "cat4": lambda x, y: torch.cat([x, y, x + y, x - y], 1),
        "cat5": lambda x, y: torch.cat([x, y, x + y, x - y, x * y], 2),
    }
    cases = {name: (Fn(f), (image(), image())) for name, f in fns.items()}
    cases["add_broadcast"] = (Fn(torch.add), (image(), torch.randn(1, 8, 1, 1)))
    cases["bmm"] = (Fn(torch.bmm), (torch.randn(3, 5, 7), torch.randn(3, 7, 4)))
    cases["mm"] = (Fn(torch.mm), (torch.randn(5, 7), torch.randn(7, 4)))
    cases["attention"] = (Fn(lambda q, k, v: torch.bmm(torch.softmax(torch.bmm(q, k.transpose(1, 2)), -1), v)),
                          tuple(torch.randn(2, 6, 8) for _ in range(3)))
    return cases


def layer_cases():
    conv = nn.Conv2d
    layers = {
        "conv": conv(8, 12, 3), "conv_pad": conv(8, 12, 3, padding=(1, 2), stride=2), "conv_1x1": conv(8, 16, 1),
        "conv_dilated": conv(8, 4, 3, dilation=2), "conv_groups": conv(8, 12, 3, groups=2, padding=1),
        "conv_no_bias": conv(8, 5, 3, bias=False),
        "depthwise": conv(8, 8, 3, groups=8, padding=1), "depthwise_x2": conv(8, 16, 3, groups=8, stride=2),
        "conv_relu": nn.Sequential(conv(8, 12, 3), nn.ReLU()), "conv_bn_relu6": nn.Sequential(conv(8, 6, 3), nn.BatchNorm2d(6), nn.ReLU6()),
        "batch_norm": nn.Sequential(conv(8, 8, 1), nn.BatchNorm2d(8)), "conv_transpose": nn.ConvTranspose2d(8, 6, 3, stride=2, padding=1),
        "conv_transpose_extra": nn.ConvTranspose2d(8, 6, 3, stride=2, padding=1, output_padding=1),
        "conv_transpose_groups": nn.ConvTranspose2d(8, 6, 2, stride=2, groups=2), "max_pool": nn.MaxPool2d(3, 2, 1),
        "max_pool_ceil": nn.MaxPool2d(3, 2, ceil_mode=True), "max_pool_dilated": nn.MaxPool2d(2, 1, dilation=2),
        "avg_pool": nn.AvgPool2d(2), "avg_pool_pad": nn.AvgPool2d(3, 2, padding=1, count_include_pad=False), "prelu": nn.PReLU(8, 0.3),
        "upsample": nn.UpsamplingBilinear2d(scale_factor=2), "upsample_size": nn.Upsample(size=(5, 17), mode="bilinear"),
        "mean": Fn(lambda x: x.mean((2, 3), keepdim=True)), "global_pool": nn.AdaptiveAvgPool2d(1),
        "amax": Fn(lambda x: torch.amax(x, 2, keepdim=True)),
        "residual": Fn(lambda c, x: torch.relu(c(x) + x), conv(8, 8, 3, padding=1)),
    }
    cases = {name: (m, (image(),)) for name, m in layers.items()}
    rows = torch.randn(4, 24)
    cases["linear"] = (nn.Linear(24, 10), (rows,))
    cases["linear_3d"] = (nn.Linear(24, 10), (torch.randn(2, 3, 24),))
    cases["linear_no_bias"] = (nn.Linear(24, 10, bias=False), (rows,))
    cases["linear_relu"] = (nn.Sequential(nn.Linear(24, 10), nn.ReLU(), nn.Linear(10, 3)), (rows,))
    cases["mlp_wide"] = (nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64), nn.Softmax(-1)), (torch.randn(5, 64),))
    return cases


def small_net():
    return nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1, groups=16), nn.ReLU6(),
                         nn.Conv2d(16, 24, 1), nn.MaxPool2d(2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, 10))


def quantized_cases():
    keep = {"conv", "conv_pad", "conv_1x1", "conv_dilated", "conv_groups", "conv_no_bias", "depthwise", "depthwise_x2", "conv_relu",
            "conv_bn_relu6", "conv_transpose", "conv_transpose_extra", "max_pool", "global_pool", "residual", "linear", "linear_3d",
            "linear_no_bias", "linear_relu"}
    cases = {n: c for n, c in layer_cases().items() if n in keep}
    cases.update({n: c for n, c in binary_cases().items() if n in {"add", "add_relu", "mul", "cat", "cat4", "add_broadcast", "sub"}})
    cases["add_self"] = (Fn(lambda x: x + x), (image(),))
    cases["conv_max_pool"] = (nn.Sequential(nn.Conv2d(8, 8, 3), nn.ReLU(), nn.MaxPool2d(2)), (image(),))
    cases["conv_global"] = (nn.Sequential(nn.Conv2d(8, 8, 3), nn.AdaptiveAvgPool2d(1)), (image(),))
    cases["small_net"] = (small_net(), (torch.randn(1, 3, 24, 24),))
    # Means that lie between two numbers.
    cases["mean_of_12"] = (nn.AdaptiveAvgPool2d(1), (torch.randn(1, 64, 3, 4, generator=torch.Generator().manual_seed(5)),))
    return cases


def half_cases(kind):
    if kind == "bf16":
        return {"linear": (nn.Linear(24, 10), (torch.randn(4, 24),))}
    keep = {"conv_relu", "depthwise", "conv_transpose", "max_pool", "linear", "mean", "prelu", "upsample"}
    cases = {n: c for n, c in layer_cases().items() if n in keep}
    cases.update({n: c for n, c in unary_cases().items() if n in {"sigmoid", "gelu", "hardswish", "softmax", "relu6", "exp"}})
    cases.update({n: c for n, c in binary_cases().items() if n in {"add", "mul", "cat", "bmm"}})
    return cases


def dynamic_cases():
    return {
        "linear": (nn.Linear(24, 10), (torch.randn(4, 24),)), "linear_3d": (nn.Linear(24, 10), (torch.randn(2, 3, 24),)),
        "linear_relu": (nn.Sequential(nn.Linear(24, 10), nn.ReLU(), nn.Linear(10, 3)), (torch.randn(4, 24),)),
        "linear_no_bias": (nn.Linear(32, 7, bias=False), (torch.randn(4, 32),)),
        "conv": (nn.Conv2d(8, 12, 3), (image(n=2),)), "conv_pad": (nn.Conv2d(8, 12, 3, padding=1), (image(),)),
        "depthwise": (nn.Conv2d(8, 8, 3, groups=8), (image(),)), "conv_groups": (nn.Conv2d(8, 12, 3, groups=2), (image(),)),
        # Windows of one pixel have a scale for each pixel, unless they skip some.
        "conv_1x1": (nn.Sequential(nn.Conv2d(8, 12, 1), nn.Hardtanh(-1, 2)), (image(n=2),)),
        "conv_1x1_stride": (nn.Conv2d(8, 12, 1, stride=2), (image(),)),
    }


def four_bit_cases():
    return {
        "rows": (nn.Linear(64, 10), (torch.randn(4, 64),), 0), "rows_odd": (nn.Linear(64, 7, bias=False), (torch.randn(3, 64),), 0),
        "groups": (nn.Linear(64, 10), (torch.randn(4, 64),), 32),
        "groups_no_bias": (nn.Linear(128, 9, bias=False), (torch.randn(3, 128),), 64),
    }
