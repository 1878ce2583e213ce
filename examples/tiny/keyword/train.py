#!/usr/bin/env python3
"""Trains the bundled keyword model: whistles that rise, fall or warble, told from noise. Needs numpy, torch, flatbuffers
and ai-edge-litert (its schema); the sounds are made up.

  examples/tiny/keyword/train.py        writes whistle.tflite, rising.wav, warble.wav and labels.txt beside this file
Features are those of `mote compile --audio-frontend micro`, here in floating point (docs/tinyml.md)."""

import wave
from pathlib import Path

import flatbuffers
import numpy as np
import torch
from ai_edge_litert import schema_py_generated as tfl

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


class Writer:
    """A TFLite model: tensors and operators one behind the other."""

    def __init__(self):
        self.graph, self.model = tfl.SubGraphT(), tfl.ModelT()
        self.graph.tensors, self.graph.operators = [], []
        self.model.buffers, self.model.operatorCodes = [tfl.BufferT()], []

    def tensor(self, name, dtype, shape, scale, zero=0, data=None):
        t = tfl.TensorT()
        t.name, t.type, t.shape = name, dtype, list(shape)
        t.quantization = tfl.QuantizationParametersT()
        t.quantization.scale, t.quantization.zeroPoint = list(np.atleast_1d(np.float32(scale))), [int(zero)] * np.size(scale)
        if data is not None:
            buffer = tfl.BufferT()
            buffer.data = np.frombuffer(data.tobytes(), np.uint8)
            t.buffer = len(self.model.buffers)
            self.model.buffers.append(buffer)
        self.graph.tensors.append(t)
        return len(self.graph.tensors) - 1

    def layer(self, name, layer, weights, in_scale):
        q, scale = quantized(weights)
        bias = np.round(layer.bias.detach().numpy() / (in_scale * scale)).astype(np.int32)
        return [self.tensor(name + "_weights", tfl.TensorType.INT8, q.shape, scale, 0, q),
                self.tensor(name + "_bias", tfl.TensorType.INT32, bias.shape, in_scale * scale, 0, bias)]

    def operator(self, code, kind, options, inputs, output):
        o, c = tfl.OperatorT(), tfl.OperatorCodeT()
        c.builtinCode = c.deprecatedBuiltinCode = code
        o.opcodeIndex, o.inputs, o.outputs = len(self.graph.operators), inputs, [output]
        o.builtinOptionsType, o.builtinOptions = kind, options
        self.model.operatorCodes.append(c)
        self.graph.operators.append(o)
        return output

    def write(self, path, inputs, outputs):
        self.graph.inputs, self.graph.outputs, self.model.subgraphs = inputs, outputs, [self.graph]
        self.model.version, self.model.description = 3, "whistles, by examples/tiny/keyword/train.py"
        builder = flatbuffers.Builder(1 << 16)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        Path(path).write_bytes(bytes(builder.Output()))


def export(net, hidden_scale, logit_scale, logit_zero, path):
    """The network in 8 bits, channels last."""
    w = Writer()
    int8, relu = tfl.TensorType.INT8, tfl.ActivationFunctionType.RELU
    x = w.tensor("features", int8, [1, FRAMES, BANDS, 1], IN_SCALE, IN_ZERO)
    conv, dense, softmax = tfl.Conv2DOptionsT(), tfl.FullyConnectedOptionsT(), tfl.SoftmaxOptionsT()
    conv.padding, conv.strideH, conv.strideW, conv.dilationHFactor, conv.dilationWFactor = tfl.Padding.VALID, 2, 2, 1, 1
    conv.fusedActivationFunction, softmax.beta = relu, 1.0
    filters = net.conv.weight.detach().numpy().transpose(0, 2, 3, 1)
    hidden = w.operator(tfl.BuiltinOperator.CONV_2D, tfl.BuiltinOptions.Conv2DOptions, conv,
                        [x] + w.layer("conv", net.conv, filters, IN_SCALE), w.tensor("hidden", int8, [1, 20, 17, 8], hidden_scale, -128))
    rows = net.dense.weight.detach().numpy().reshape(len(LABELS), 8, 20, 17).transpose(0, 2, 3, 1).reshape(len(LABELS), -1)
    logits = w.operator(tfl.BuiltinOperator.FULLY_CONNECTED, tfl.BuiltinOptions.FullyConnectedOptions, dense,
                        [hidden] + w.layer("dense", net.dense, rows, hidden_scale),
                        w.tensor("logits", int8, [1, len(LABELS)], logit_scale, logit_zero))
    scores = w.operator(tfl.BuiltinOperator.SOFTMAX, tfl.BuiltinOptions.SoftmaxOptions, softmax, [logits],
                        w.tensor("scores", int8, [1, len(LABELS)], 1 / 256, -128))
    w.write(path, [x], [scores])


def grids(net, x):
    """Scale of the hidden layer; scale and zero point of the logits."""
    with torch.no_grad():
        hidden, logits = torch.relu(net.conv(x)), net(x)
    low, high = float(logits.min()), float(logits.max())
    scale = (high - low) / 255
    return float(hidden.max()) / 255, scale, round(-128 - low / scale)


def main():
    rng = np.random.default_rng(20)
    sounds, kinds = clips(rng, 12000)
    q = np.clip(np.round(features(sounds) / IN_SCALE), 0, 255) * IN_SCALE
    x, y = torch.tensor(q[:, None], dtype=torch.float32), torch.tensor(kinds)
    net = train(x[:11000], y[:11000])
    with torch.no_grad():
        print(f"right on held-out sounds: {(net(x[11000:]).argmax(1) == y[11000:]).float().mean():.4f}")
    export(net, *grids(net, x[:1000]), HERE / "whistle.tflite")
    for kind, name in ((1, "rising"), (3, "warble")):
        with wave.open(str(HERE / f"{name}.wav"), "wb") as w:
            w.setnchannels(1)
            w.setsampwidth(2)
            w.setframerate(RATE)
            w.writeframes(whistle(np.random.default_rng(99 + kind), kind).astype("<i2").tobytes())
    (HERE / "labels.txt").write_text("\n".join(LABELS) + "\n")


if __name__ == "__main__":
    main()
