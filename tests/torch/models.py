"""Whole models with random weights: exported, compiled, run, compared with eager within 1e-4 of the largest value.

    models.py RUNNER [--models resnet18,gpt] [--decompose]

torchvision's classification families, two detection backbones, one segmentation, a small GPT and a BERT-like encoder with a dynamic
sequence length. torchvision's C++ operators are not needed: `torchvision::nms` is declared before it is imported.
"""

import argparse
import sys
import time
import warnings

import torch
from torch import nn

from cases import Runner

# One of each family, at sizes that portable kernels do in a moment.
CLASSIFICATION = ["alexnet", "convnext_tiny", "densenet121", "efficientnet_b0", "efficientnet_v2_s", "googlenet", "inception_v3",
                  "maxvit_t", "mnasnet0_5", "mobilenet_v2", "mobilenet_v3_small", "regnet_x_400mf", "regnet_y_400mf", "resnet18",
                  "resnet50", "resnext50_32x4d", "shufflenet_v2_x0_5", "squeezenet1_0", "swin_t", "swin_v2_t", "vgg11_bn", "vit_b_16",
                  "wide_resnet50_2"]
SIZES = {"inception_v3": 96, "maxvit_t": 224, "vit_b_16": 224}


class Attention(nn.Module):
    def __init__(self, dim, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        b, t, c = x.shape
        q, k, v = (p.view(b, t, self.heads, c // self.heads).transpose(1, 2) for p in self.qkv(x).chunk(3, dim=-1))
        y = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=self.causal)
        return self.out(y.transpose(1, 2).reshape(b, t, c))


class Layer(nn.Module):
    def __init__(self, dim, heads, causal):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attention = Attention(dim, heads, causal)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x, mask=None):
        x = x + self.attention(self.norm1(x), mask)
        return x + self.mlp(self.norm2(x))


class Gpt(nn.Module):
    def __init__(self, vocabulary=97, dim=32, heads=4, layers=2, longest=64):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, dim), nn.Embedding(longest, dim)
        self.layers = nn.ModuleList(Layer(dim, heads, True) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, vocabulary, bias=False)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


class Bert(nn.Module):
    def __init__(self, vocabulary=97, dim=32, heads=4, layers=2, longest=64):
        super().__init__()
        self.tokens, self.positions, self.norm = nn.Embedding(vocabulary, dim), nn.Embedding(longest, dim), nn.LayerNorm(dim)
        self.layers = nn.ModuleList(Layer(dim, heads, False) for _ in range(layers))
        self.pool = nn.Linear(dim, dim)

    def forward(self, ids, attention_mask):
        x = self.norm(self.tokens(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device)))
        mask = torch.zeros_like(attention_mask, dtype=x.dtype).masked_fill(attention_mask == 0, torch.finfo(x.dtype).min)[:, None, None, :]
        for layer in self.layers:
            x = layer(x, mask)
        return x, torch.tanh(self.pool(x[:, 0]))


def vision_models():
    """torchvision, whose import wants an operator of its C++ library."""
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    import torchvision

    return torchvision.models, library


def cases(wanted):
    """(name, module, example inputs, dynamic shapes, other inputs to run with)."""
    sequence = torch.export.Dim("sequence", min=2, max=48)
    ids = lambda t: torch.randint(0, 97, (2, t))
    if "gpt" in wanted:
        yield "gpt", Gpt(), (ids(12),), {"ids": {1: sequence}}, [(ids(t),) for t in (2, 31, 48)]
    if "bert" in wanted:
        mask = lambda t: (torch.arange(t)[None] < torch.tensor([[t], [max(t - 3, 1)]])).long()
        shapes = {"ids": {1: sequence}, "attention_mask": {1: sequence}}
        yield "bert", Bert(), (ids(12), mask(12)), shapes, [(ids(t), mask(t)) for t in (2, 31, 48)]
    vision = [n for n in wanted if n not in ("gpt", "bert")]
    if not vision:
        return
    models, _library = vision_models()
    for name in vision:
        size = SIZES.get(name, 64)
        image = torch.randn(1, 3, size, size)
        if name == "deeplabv3_mobilenet_v3_large":
            yield name, models.segmentation.deeplabv3_mobilenet_v3_large(weights=None, weights_backbone=None), (image,), None, []
        elif name in ("fpn_resnet18", "fpn_mobilenet_v3_large"):
            from torchvision.models.detection import backbone_utils

            if name == "fpn_resnet18":
                module = backbone_utils.resnet_fpn_backbone(backbone_name="resnet18", weights=None)
            else:
                module = backbone_utils.mobilenet_backbone(backbone_name="mobilenet_v3_large", weights=None, fpn=True)
            yield name, module, (image,), None, []
        else:
            options = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
            yield name, models.get_model(name, weights=None, **options), (image,), None, []


def main():
    torch.set_num_threads(1)  # small tensors, and the other tests have processors to use
    parser = argparse.ArgumentParser()
    parser.add_argument("runner")
    parser.add_argument("--models", default=",".join(["gpt", "bert", *CLASSIFICATION, "fpn_resnet18", "fpn_mobilenet_v3_large",
                                                       "deeplabv3_mobilenet_v3_large"]))
    parser.add_argument("--decompose", action="store_true", help="to core ATen first, as Python does")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    runner, failed = Runner(options.runner), []
    torch.manual_seed(0)
    for name, module, example, shapes, others in cases(options.models.split(",")):
        module.eval()
        with torch.no_grad():  # heads that begin with zeros would hide everything before them
            for parameter in module.parameters():
                if parameter.dim() > 1 and not parameter.any():
                    parameter.normal_(std=0.05)
        with torch.no_grad():
            program = torch.export.export(module, example, dynamic_shapes=shapes)
        if options.decompose:
            program = program.run_decompositions()
        runner.save(program)
        start, worst, why = time.time(), 0.0, ""
        for inputs in [example, *others]:
            with torch.no_grad():
                expected = [t for t in torch.utils._pytree.tree_leaves(module(*inputs)) if isinstance(t, torch.Tensor)]
            found, why = runner.run(inputs, [e.dtype for e in expected])
            if found is None:
                break
            for f, e in zip(found, expected):
                fine = f.shape == e.shape and bool(torch.isfinite(e).all()) and bool(torch.isfinite(f).all())
                worst = max(worst, (f - e).abs().max().item() / max(e.abs().max().item(), 1e-30) if fine else float("inf"))
            if worst > 1e-4:
                why = "differs"
                break
        print(f"{'FAILED' if why else 'ok    '} {name}: {why[:600] if why else ''} error {worst:.1e} of the largest value, "
              f"{time.time() - start:.1f} s", flush=True)
        if why:
            failed.append(name)
    runner.close()
    print(f"{len(failed)} failed: {' '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
