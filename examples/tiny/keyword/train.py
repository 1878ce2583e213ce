#!/usr/bin/env python3
"""Trains the bundled keyword model: whistles that rise, fall or warble, told from noise. Needs numpy, torch and onnx; the sounds are made up.

  examples/tiny/keyword/train.py        writes whistle.onnx (int8), rising.wav, warble.wav and labels.txt beside this file
Features are those of `mote compile --audio-frontend micro`, here in floating point (docs/tinyml.md)."""

import wave
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).resolve().parent
RATE, WINDOW, STEP, SIZE, BANDS, FRAMES = 16000, 480, 320, 512, 40, 49
LABELS = ["noise", "rising", "falling", "warble"]
IN_SCALE, IN_ZERO = 26 / 255, -128


def mel(hertz):
    return 1127 * np.log1p(hertz / 700)


def features(sounds):
    """(clips, samples) in 16-bit units to (clips, frames, bands): 0 to about 26."""
    edges = np.linspace(mel(125), mel(7500), BANDS + 2)
    bins = mel(np.arange(SIZE // 2 + 1) * RATE / SIZE)
    weights = np.maximum(0, np.minimum((bins - edges[:-2, None]) / (edges[1] - edges[0]), (edges[2:, None] - bins) / (edges[1] - edges[0])))
    window = 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(WINDOW) + 0.5) / WINDOW)
    smoothing = np.where(np.arange(BANDS) % 2 == 0, 0.025, 0.06)
    noise, out = np.zeros((len(sounds), BANDS)), []
    for t in range(FRAMES):
        spectrum = np.abs(np.fft.rfft(sounds[:, t * STEP:t * STEP + WINDOW] * window, SIZE)) ** 2
        x = np.sqrt(spectrum @ weights.T)
        noise = x * smoothing + noise * (1 - smoothing)
        signal = np.maximum(x - np.minimum(noise, x), 0.05 * x)
        ratio = signal * (noise + 80) ** -0.95
        loud = np.floor(64 * np.where(ratio < 2, ratio * ratio / 4, ratio - 1)) / 64
        out.append(np.maximum(0, 2.5 * np.log(512 * np.maximum(loud, 1e-9))))
    return np.stack(out, 1)


def whistle(rng, kind):
    """One second of noise, with a whistle in it unless kind is 0. What a listener hears when it begins is silence before that."""
    t = np.arange(RATE) / RATE
    colour = rng.uniform(0, 0.95)
    sound = rng.normal(size=RATE)
    for i in range(0, 3):
        sound = sound + colour * np.roll(sound, 1)
    sound *= 10 ** rng.uniform(0, 2.6) / np.std(sound)
    length = rng.uniform(0.3, 0.6)
    start = rng.uniform(0.02, 0.95 - length)
    part = kind == 0 and rng.random() < 0.4
    if part:  # too little of a whistle to tell which, at the beginning or the end
        kind = rng.integers(1, len(LABELS))
        start = rng.choice([rng.uniform(-1, -0.75) * length, 1 - rng.uniform(0, 0.25) * length])
    if kind > 0:
        at = np.clip((t - start) / length, 0, 1)
        low, span = rng.uniform(700, 1800), rng.uniform(1.4, 2.4)
        if kind == 1:
            pitch = low * span ** at
        elif kind == 2:
            pitch = low * span ** (1 - at)
        else:
            pitch = low * np.sqrt(span) * span ** (0.35 * np.sin(2 * np.pi * rng.uniform(5, 9) * t))
        phase = 2 * np.pi * np.cumsum(pitch) / RATE
        tone = np.sin(phase) + rng.uniform(0, 0.3) * np.sin(2 * phase)
        sound = sound + tone * np.sin(np.pi * at) ** 0.5 * 10 ** rng.uniform(3.0, 4.1)
    if rng.random() < 0.5:
        sound[:int(RATE * rng.uniform(0, max(0, start) if kind > 0 else 1))] = 0
    return np.clip(np.round(sound), -32768, 32767)


def clips(rng, count):
    kinds = rng.integers(0, len(LABELS), count)
    return np.stack([whistle(rng, k) for k in kinds]), kinds


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 8, (10, 8), 2)
        self.dense = torch.nn.Linear(8 * 20 * 17, len(LABELS))

    def forward(self, x, drop=0.0):
        x = torch.nn.functional.dropout(torch.relu(self.conv(x)).flatten(1), drop, drop > 0)
        return self.dense(x)


def train(x, y):
    torch.manual_seed(1)
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), 1e-3, weight_decay=1e-5)
    for epoch in range(14):
        order = torch.randperm(len(x))
        for i in range(0, len(x), 64):
            batch = order[i:i + 64]
            loss = torch.nn.functional.cross_entropy(net(x[batch], 0.4), y[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.4f}")
    return net.eval()


def quantized(w):
    """int8 values and a scale for each row."""
    scale = np.abs(w.reshape(len(w), -1)).max(1) / 127
    return np.round(w / scale.reshape([-1] + [1] * (w.ndim - 1))).astype(np.int8), scale.astype(np.float32)


def export(net, x):
    """The network in ONNX's form for integers: DequantizeLinear and QuantizeLinear around operators."""
    with torch.no_grad():
        hidden = torch.relu(net.conv(x))
        logits = net(x)
    initial, nodes = [], []

    def constant(name, array):
        initial.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def grid(name, scale, zero):
        return [constant(name + "_scale", np.float32(scale)), constant(name + "_zero", np.int8(zero))]

    def weights(name, layer, in_scale):
        w, scale = quantized(layer.weight.detach().numpy())
        bias = np.round(layer.bias.detach().numpy() / (in_scale * scale)).astype(np.int32)
        zeros = np.zeros(len(scale))
        nodes.append(helper.make_node("DequantizeLinear", [constant(name + "_w", w), constant(name + "_ws", scale),
                                                           constant(name + "_wz", zeros.astype(np.int8))], [name + "_wf"], axis=0))
        nodes.append(helper.make_node("DequantizeLinear", [constant(name + "_b", bias), constant(name + "_bs", np.float32(in_scale * scale)),
                                                           constant(name + "_bz", zeros.astype(np.int32))], [name + "_bf"], axis=0))
        return [name + "_wf", name + "_bf"]

    def through(value, name, scale, zero):
        g = grid(name, scale, zero)
        nodes.append(helper.make_node("QuantizeLinear", [value] + g, [name + "_q"]))
        nodes.append(helper.make_node("DequantizeLinear", [name + "_q"] + g, [name + "_f"]))
        return name + "_f"

    hidden_scale = float(hidden.max()) / 255
    low, high = float(logits.min()), float(logits.max())
    logit_scale = (high - low) / 255
    nodes.append(helper.make_node("DequantizeLinear", ["features"] + grid("in", IN_SCALE, IN_ZERO), ["in_f"]))
    nodes.append(helper.make_node("Conv", ["in_f"] + weights("conv", net.conv, IN_SCALE), ["conv"], strides=[2, 2]))
    nodes.append(helper.make_node("Relu", ["conv"], ["relu"]))
    nodes.append(helper.make_node("Flatten", [through("relu", "hidden", hidden_scale, -128)], ["flat"]))
    nodes.append(helper.make_node("Gemm", ["flat"] + weights("dense", net.dense, hidden_scale), ["dense"], transB=1))
    nodes.append(helper.make_node("Softmax", [through("dense", "logits", logit_scale, round(-128 - low / logit_scale))], ["softmax"], axis=1))
    nodes.append(helper.make_node("QuantizeLinear", ["softmax"] + grid("out", 1 / 256, -128), ["scores"]))
    graph = helper.make_graph(nodes, "whistle", [helper.make_tensor_value_info("features", TensorProto.INT8, [1, 1, FRAMES, BANDS])],
                              [helper.make_tensor_value_info("scores", TensorProto.INT8, [1, len(LABELS)])], initial)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], producer_name="mote examples/tiny/keyword/train.py")
    model.ir_version = 8
    onnx.checker.check_model(model)
    onnx.save(model, HERE / "whistle.onnx")


def main():
    rng = np.random.default_rng(20)
    sounds, kinds = clips(rng, 12000)
    q = np.clip(np.round(features(sounds) / IN_SCALE), 0, 255) * IN_SCALE
    x, y = torch.tensor(q[:, None], dtype=torch.float32), torch.tensor(kinds)
    net = train(x[:11000], y[:11000])
    with torch.no_grad():
        print(f"right on held-out sounds: {(net(x[11000:]).argmax(1) == y[11000:]).float().mean():.4f}")
    export(net, x[:1000])
    for kind, name in ((1, "rising"), (3, "warble")):
        with wave.open(str(HERE / f"{name}.wav"), "wb") as w:
            w.setnchannels(1)
            w.setsampwidth(2)
            w.setframerate(RATE)
            w.writeframes(whistle(np.random.default_rng(99 + kind), kind).astype("<i2").tobytes())
    (HERE / "labels.txt").write_text("\n".join(LABELS) + "\n")


if __name__ == "__main__":
    main()
