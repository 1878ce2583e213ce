#!/usr/bin/env python3
"""Makes the benchmark models, and of each what the runtimes read: run it once with every Python that has a converter.

    convert.py DIR [--only mobilenet_v2,mlp]

Seeded weights, so that every Python makes the same: torch and torchvision make NAME.fp32.onnx (package onnx), NAME.ref.npz (inputs,
outputs), NAME.pt and NAME.int8.pt (traces) and, where installed, NAME.fp32.ncnn.param (pnnx), NAME.fp32.pte and NAME.int8.pte (executorch),
NAME.fp32.tflite and NAME.int8.tflite (litert-torch). From ONNX files come NAME.int8.onnx (onnxruntime, onnx), NAME.fp32.mnn and
NAME.int8.mnn (MNN), NAME.fp32.vmfb (iree-base-compiler[onnx]). Files that are there are left alone; what cannot be made is said.
"""
import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

SEED = 1234
IMAGES = {"mobilenet_v2", "mobilenet_v3_small", "resnet18", "resnet50", "efficientnet_b0"}
OTHERS = {"minilm": [(1, 128, 384)], "mnist_cnn": [(1, 1, 28, 28)], "mlp": [(1, 784)], "chain200": [(1, 16), (1, 16)],
          "chainfc200": [(1, 16)]}
NAMES = [*sorted(IMAGES), *OTHERS]
CALIBRATION = 8


def shapes(name):
    return [(1, 3, 224, 224)] if name in IMAGES else OTHERS[name]


def samples(name, seed):
    """The same numbers in every Python."""
    random = np.random.default_rng(seed)
    arrays = [random.standard_normal(s).astype(np.float32) for s in shapes(name)]
    if name == "chain200":  # x -> x * y + y stays in range
        arrays[1] = np.abs(arrays[1]) * 0.1 + np.float32(0.5)
    return arrays


def installed(*modules):
    return all(importlib.util.find_spec(m.split(".")[0]) is not None for m in modules)


def encoder(torch):
    nn = torch.nn

    class Layer(nn.Module):
        def __init__(self, width, heads, inner):
            super().__init__()
            self.heads, self.size = heads, width // heads
            self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)

        def split(self, x):
            return x.reshape(1, 128, self.heads, self.size).permute(0, 2, 1, 3)

        def forward(self, x):
            scores = torch.matmul(self.split(self.query(x)), self.split(self.key(x)).transpose(2, 3)) * self.size ** -0.5
            mixed = torch.matmul(torch.softmax(scores, -1), self.split(self.value(x)))
            x = self.norm1(x + self.out(mixed.permute(0, 2, 1, 3).reshape(1, 128, self.heads * self.size)))
            return self.norm2(x + self.down(nn.functional.gelu(self.up(x))))

    return nn.Sequential(*[Layer(384, 12, 1536) for _ in range(6)])


def chain(torch):
    class Chain(torch.nn.Module):
        def forward(self, x, y):
            for _ in range(100):
                x = x * y + y
            return x

    return Chain()


def vision(torch):
    """torchvision, also where its C++ operators do not fit the torch there is: no model here needs them."""
    try:
        import torchvision
    except RuntimeError:
        declared = torch.library.Library("torchvision", "DEF")
        for name in ("nms", "qnms"):
            declared.define(name + "(Tensor boxes, Tensor scores, float threshold) -> Tensor")
        import torchvision
    return torchvision


def module(name):
    """A torch module in evaluation mode."""
    import torch
    nn = torch.nn
    torch.manual_seed(SEED)
    if name in IMAGES:
        made = getattr(vision(torch).models, name)(weights=None)
        norms = [m for m in made.modules() if isinstance(m, nn.BatchNorm2d)]
        for m in norms:
            m.momentum = None  # statistics of what passes, so that values neither vanish nor explode
        made.train()
        with torch.no_grad():
            made(torch.from_numpy(np.random.default_rng(77).standard_normal((8, 3, 224, 224)).astype(np.float32)))
        return made.eval()
    if name == "minilm":
        return encoder(torch).eval()
    if name == "chain200":
        return chain(torch).eval()
    if name == "mnist_cnn":
        return nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                             nn.Linear(9216, 128), nn.ReLU(), nn.Linear(128, 10)).eval()
    if name == "mlp":
        return nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10)).eval()
    return nn.Sequential(*[nn.Sequential(nn.Linear(16, 16), nn.Softmax(-1)) for _ in range(100)]).eval()


def quantizable(name):
    return not name.startswith("chain")


def tensors(name, seed=SEED):
    import torch
    return tuple(torch.from_numpy(a) for a in samples(name, seed))


def make_onnx(name, out):
    import torch
    model, inputs = module(name), tensors(name)
    with torch.no_grad():
        np.savez(out[:-len("fp32.onnx")] + "ref.npz", y=model(*inputs).numpy(), **{f"x{i}": t.numpy() for i, t in enumerate(inputs)})
    names = [f"x{i}" for i in range(len(inputs))]
    torch.onnx.export(model, inputs, out, dynamo=False, opset_version=17, input_names=names, output_names=["y"])


def make_pt(name, out):
    import torch
    torch.jit.trace(module(name), tensors(name)).save(out)


def make_pt8(name, out):
    """PyTorch's own static form for x86: u8 activations, 7-bit weights for each channel, sums by oneDNN."""
    import torch
    from torch.ao.quantization import get_default_qconfig_mapping
    from torch.ao.quantization.quantize_fx import convert_fx, prepare_fx
    torch.backends.quantized.engine = "x86"
    prepared = prepare_fx(module(name), get_default_qconfig_mapping("x86"), tensors(name))
    with torch.no_grad():
        for k in range(CALIBRATION):
            prepared(*tensors(name, 100 + k))
        torch.jit.trace(convert_fx(prepared), tensors(name)).save(out)


def make_ncnn(name, out):
    import pnnx
    with tempfile.TemporaryDirectory() as folder:
        base = os.path.join(folder, name)
        make_pt(name, base + ".pt")
        sizes = ",".join(str(list(s)).replace(" ", "") for s in shapes(name))
        subprocess.run([pnnx.EXEC_PATH, base + ".pt", "inputshape=" + sizes, "fp16=0"], check=True, stdout=subprocess.DEVNULL)
        for end in ("param", "bin"):
            shutil.copy(f"{base}.ncnn.{end}", out[:-len("param")] + end)


def lower(exported, out):
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower
    program = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()]).to_executorch()
    with open(out, "wb") as f:
        program.write_to_file(f)


def make_pte(name, out):
    import torch
    lower(torch.export.export(module(name), tensors(name)), out)


def make_pte8(name, out):
    import torch
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
    prepared = prepare_pt2e(torch.export.export(module(name), tensors(name)).module(), quantizer)
    with torch.no_grad():
        for k in range(CALIBRATION):
            prepared(*tensors(name, 100 + k))
    lower(torch.export.export(convert_pt2e(prepared), tensors(name)), out)


def channels_last(arrays):
    return [np.ascontiguousarray(a.transpose(0, 2, 3, 1)) if a.ndim == 4 else a for a in arrays]


def make_tflite(name, out):
    import litert_torch
    import torch
    model = module(name)
    if len(shapes(name)[0]) == 4:
        model = litert_torch.to_channel_last_io(model, args=[0]).eval()
    litert_torch.convert(model, tuple(torch.from_numpy(a) for a in channels_last(samples(name, SEED)))).export(out)


def make_tflite8(name, out):
    from ai_edge_litert.interpreter import Interpreter
    from ai_edge_quantizer import quantizer, recipe
    source = out.replace(".int8.", ".fp32.")
    if not os.path.exists(source):
        make_tflite(name, source)
    made = quantizer.Quantizer(source)
    made.load_quantization_recipe(recipe.static_wi8_ai8())
    key, signature = next(iter(Interpreter(source).get_signature_list().items()))
    data = [dict(zip(signature["inputs"], channels_last(samples(name, 100 + k)))) for k in range(CALIBRATION)]
    made.quantize(made.calibrate({key: data})).export_model(out)


def make_onnx8(name, out):
    """u8 activations, 7-bit weights for each channel: what runtimes without integer dot products can add up without saturating."""
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.left = iter([{f"x{i}": a for i, a in enumerate(samples(name, 100 + k))} for k in range(CALIBRATION)])

        def get_next(self):
            return next(self.left, None)

    with tempfile.TemporaryDirectory() as folder:
        ready = os.path.join(folder, "ready.onnx")
        quant_pre_process(out.replace(".int8.", ".fp32."), ready)
        quantize_static(ready, out, Reader(), quant_format=QuantFormat.QDQ, per_channel=True, activation_type=QuantType.QUInt8,
                        weight_type=QuantType.QInt8, reduce_range=True)


def make_mnn(name, out):
    # The package's own command reports usage; the converter in it does not.
    source = os.path.join(os.path.dirname(out), name + ".fp32.onnx")
    words = ["mnnconvert", "-f", "ONNX", "--modelFile", source, "--MNNModel", out, "--bizCode", "b"]
    words += ["--weightQuantBits", "8"] if ".int8." in out else []
    subprocess.run([sys.executable, "-c", f"import _tools; _tools.mnnconvert({words!r})"], check=True, stdout=subprocess.DEVNULL)


def make_vmfb(name, out):
    tools = os.path.dirname(sys.executable)
    with tempfile.TemporaryDirectory() as folder:
        text = os.path.join(folder, "model.mlir")
        subprocess.run([os.path.join(tools, "iree-import-onnx"), out[:-len("vmfb")] + "onnx", "-o", text], check=True)
        subprocess.run([os.path.join(tools, "iree-compile"), text, "-o", out, "--iree-hal-target-device=local",
                        "--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host"], check=True)


# file, how, packages it needs
STAGES = [("fp32.onnx", make_onnx, ("torch", "torchvision", "onnx")), ("fp32.ncnn.param", make_ncnn, ("torch", "pnnx")),
          ("pt", make_pt, ("torch", "torchvision")), ("int8.pt", make_pt8, ("torch", "torchvision")),
          ("fp32.pte", make_pte, ("torch", "executorch")), ("int8.pte", make_pte8, ("torch", "executorch")),
          ("fp32.tflite", make_tflite, ("torch", "litert_torch")), ("int8.tflite", make_tflite8, ("torch", "litert_torch")),
          ("int8.onnx", make_onnx8, ("onnxruntime", "onnx")), ("fp32.mnn", make_mnn, ("_tools", "MNN")),
          ("int8.mnn", make_mnn, ("_tools", "MNN")), ("fp32.vmfb", make_vmfb, ("iree.compiler",))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--only", default=",".join(NAMES))
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    failed = 0
    for end, make, needs in STAGES:
        if not installed(*needs):
            print(f"{end}: needs {', '.join(needs)} (not in {sys.executable})")
            continue
        for name in options.only.split(","):
            out = os.path.join(options.folder, f"{name}.{end}")
            if os.path.exists(out) or (not quantizable(name) and ".int8." in out):
                continue
            try:
                make(name, out)
                print(f"{name}.{end}: {os.path.getsize(out)} bytes", flush=True)
            except Exception as error:  # converters fail in many ways; the others go on
                failed += 1
                print(f"{name}.{end}: {type(error).__name__}: {str(error)[:200]}", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
