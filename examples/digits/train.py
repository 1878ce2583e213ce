#!/usr/bin/env python3
"""Trains the bundled digit recogniser and writes everything examples/digits commits.

    pip install -r requirements.txt && ./train.py

Data: the 1,797 images of 8 x 8 pixels (values 0..16) that come with scikit-learn; a quarter is held out.
Writes: digits.onnx; input_<n>.npy, held-out images that are right with a clear margin; golden/, examples that travel in the program;
for build_digits.cc, which needs no ONNX reader, weights.bin, weights.txt, golden_in.bin and golden_out.bin.
"""
import pathlib

import numpy as np
import onnx
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

HERE = pathlib.Path(__file__).resolve().parent
EPOCHS = 60
GOLDENS = 4  # examples that travel in the program file


class Digits(torch.nn.Module):
    """(N, 8, 8) pixels in 0..16 -> (N, 10) probabilities."""

    def __init__(self):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(1, 12, 3, padding=1)
        self.conv2 = torch.nn.Conv2d(12, 24, 3, padding=1)
        self.conv3 = torch.nn.Conv2d(24, 32, 3, padding=1)
        self.dense = torch.nn.Linear(32 * 2 * 2, 10)

    def logits(self, image):
        x = image.unsqueeze(1) * (1.0 / 16.0)
        x = torch.relu(self.conv1(x))
        x = torch.max_pool2d(torch.relu(self.conv2(x)), 2)
        x = torch.max_pool2d(torch.relu(self.conv3(x)), 2)
        return self.dense(x.flatten(1))

    def forward(self, image):
        return torch.softmax(self.logits(image), dim=1)


def shifted(images, generator):
    """Each image moved by at most one pixel, zeros moved in."""
    padded = torch.nn.functional.pad(images, (1, 1, 1, 1))
    rows, cols = torch.randint(0, 3, (2, len(images)), generator=generator)
    return torch.stack([p[r : r + 8, c : c + 8] for p, r, c in zip(padded, rows, cols)])


def train(images, labels):
    torch.manual_seed(7)
    torch.use_deterministic_algorithms(True)
    generator = torch.Generator().manual_seed(7)
    model = Digits()
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, EPOCHS)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(images), generator=generator).split(64):
            optimiser.zero_grad()
            loss = torch.nn.functional.cross_entropy(model.logits(shifted(images[batch], generator)), labels[batch])
            loss.backward()
            optimiser.step()
        schedule.step()
    return model.eval()


def write_weights(model):
    """weights.bin: f32, little endian, one array after the other; weights.txt: name, offset in elements, dims."""
    arrays = {}
    for name in ("conv1", "conv2", "conv3"):
        layer = getattr(model, name)
        # (O, C, kh, kw) -> (O, kh, kw, C): Mote is channels-last.
        arrays[name + ".weight"] = layer.weight.detach().numpy().transpose(0, 2, 3, 1)
        arrays[name + ".bias"] = layer.bias.detach().numpy()
    # Pixels are divided by 16 first; that factor moves into the first weights.
    arrays["conv1.weight"] = arrays["conv1.weight"] / 16
    # Features arrive as (y, x, channel) instead of (channel, y, x).
    dense = model.dense.weight.detach().numpy().reshape(10, 32, 2, 2).transpose(0, 2, 3, 1)
    arrays["dense.weight"] = dense.reshape(10, 128)
    arrays["dense.bias"] = model.dense.bias.detach().numpy()
    index, offset = [], 0
    with open(HERE / "weights.bin", "wb") as out:
        for name, array in arrays.items():
            out.write(np.ascontiguousarray(array, dtype="<f4").tobytes())
            index.append(f"{name} {offset} {' '.join(map(str, array.shape))}\n")
            offset += array.size
    (HERE / "weights.txt").write_text("".join(index))


def write_examples(model, images, labels):
    with torch.no_grad():
        probabilities = model(images)
    best = probabilities.max(dim=1)
    for digit in range(10):
        at = torch.where((labels == digit) & (best.indices == digit) & (best.values > 0.95))[0][0]
        np.save(HERE / f"input_{digit}.npy", images[at : at + 1].numpy())
    for i in range(GOLDENS):
        folder = HERE / "golden" / str(i)
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / "image.npy", images[i : i + 1].numpy())
        np.save(folder / "probabilities.npy", probabilities[i : i + 1].numpy())
    images[:GOLDENS].numpy().astype("<f4").tofile(HERE / "golden_in.bin")
    probabilities[:GOLDENS].numpy().astype("<f4").tofile(HERE / "golden_out.bin")


def main():
    data = load_digits()
    parts = train_test_split(data.images.astype(np.float32), data.target, test_size=0.25, stratify=data.target, random_state=7)
    images, held_images, labels, held_labels = map(torch.from_numpy, parts)
    model = train(images, labels)
    with torch.no_grad():
        right = (model(held_images).argmax(dim=1) == held_labels).sum().item()
    accuracy = right / len(held_labels)
    print(f"held-out accuracy {accuracy:.4f} ({right} of {len(held_labels)})")
    if accuracy < 0.98:
        raise SystemExit("expected at least 0.98")
    # One file without external data; the input's batch is fixed to 1.
    torch.onnx.export(model, (held_images[:1],), HERE / "digits.onnx", input_names=["image"], output_names=["probabilities"],
                      dynamo=True, external_data=False, opset_version=18)
    exported = onnx.load(HERE / "digits.onnx")
    # Names of source files and modules of the machine it was exported on are of no use to a reader.
    for node in exported.graph.node:
        del node.metadata_props[:]
    for value in exported.graph.value_info:
        del value.metadata_props[:]
    onnx.checker.check_model(exported)
    onnx.save(exported, HERE / "digits.onnx")
    write_weights(model)
    write_examples(model, held_images, held_labels)


if __name__ == "__main__":
    main()
