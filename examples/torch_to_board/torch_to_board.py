#!/usr/bin/env python3
"""From PyTorch to a microcontroller: trains a small network on images of digits, quantizes and compiles it for a Cortex-M, builds a
firmware around the emitted C++, runs that on QEMU's board, and compares every score with the host's.

    pip install . torch scikit-learn     # and Debian's gcc-arm-none-eabi, libstdc++-arm-none-eabi-newlib, qemu-system-arm, make
    examples/torch_to_board/torch_to_board.py [--board m4|m55] [--epochs 30] [--keep FOLDER]
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import mote

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent / "tiny" / "project"
TOOLS = ("make", "arm-none-eabi-g++", "qemu-system-arm")


def separable(inputs, outputs, stride):
    """A depthwise convolution and a pointwise one, as in MobileNet."""
    return torch.nn.Sequential(
        torch.nn.Conv2d(inputs, inputs, 3, stride, 1, groups=inputs, bias=False),
        torch.nn.BatchNorm2d(inputs),
        torch.nn.ReLU6(),
        torch.nn.Conv2d(inputs, outputs, 1, bias=False),
        torch.nn.BatchNorm2d(outputs),
        torch.nn.ReLU6(),
    )


class Network(torch.nn.Module):
    """(N, 1, 8, 8) grey values in 0..1 -> (N, 10) scores."""

    def __init__(self):
        super().__init__()
        first = [torch.nn.Conv2d(1, 16, 3, 1, 1, bias=False), torch.nn.BatchNorm2d(16), torch.nn.ReLU6()]
        self.features = torch.nn.Sequential(*first, separable(16, 32, 2), separable(32, 48, 1), separable(48, 64, 2))
        self.classifier = torch.nn.Linear(64, 10)

    def forward(self, image):
        return self.classifier(self.features(image).mean((2, 3)))


def train(images, labels, epochs):
    torch.manual_seed(1)
    network = Network()
    optimizer = torch.optim.AdamW(network.parameters(), lr=5e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for epoch in range(epochs):
        total = 0.0
        for batch in torch.randperm(len(images)).split(64):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(network(images[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        schedule.step()
        print(f"\r  training, epoch {epoch + 1} of {epochs}, loss {total / len(images):.4f}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return network.eval()


def run_on_board(board, work, images):
    """Builds the firmware around digits.cc and gives it the images. Returns what it scored, and `size`'s line of the firmware."""
    path = work / "images.bin"
    path.write_bytes(images.tobytes())
    command = ["make", "-s", "-C", PROJECT, f"APP={HERE / 'board.cc'}", f"MODEL={work / 'digits.cc'}", f"BOARD={board}", f"OUT={work}"]
    # QEMU gives out what the firmware says as errors.
    built = subprocess.run([*command, f"ARG={path}", "run"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if built.returncode != 0:
        sys.exit(f"the firmware did not run (make: {built.returncode})\n{built.stdout}")
    lines = built.stdout.splitlines()
    scores = [line.removeprefix("scores").split() for line in lines if line.startswith("scores")]
    return np.array(scores, np.int8), next(line.split() for line in lines if line.endswith("firmware.elf"))


def show(rows):
    width = max(len(name) for name, _ in rows)
    for name, text in rows:
        print(f"  {name:{width}}  {text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--board", choices=("m4", "m55"), default="m4")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the emitted files and the firmware")
    args = parser.parse_args()
    for tool in TOOLS:
        if shutil.which(tool) is None:
            sys.exit(f"'{tool}' is missing: apt install gcc-arm-none-eabi libstdc++-arm-none-eabi-newlib qemu-system-arm make")

    data = load_digits()
    pixels = data.images.astype(np.float32)[:, None] / 16
    train_x, test_x, train_y, test_y = train_test_split(pixels, data.target, test_size=0.25, stratify=data.target, random_state=1)
    network = train(torch.from_numpy(train_x), torch.from_numpy(train_y), args.epochs)
    with torch.no_grad():
        eager = network(torch.from_numpy(test_x)).numpy()

    with tempfile.TemporaryDirectory() as folder:
        work = (args.keep or pathlib.Path(folder)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        program = mote.torch.compile(network, (torch.from_numpy(test_x[:1]),), quantize="int8", calibrate=train_x[:200],
                                     target=f"cortex-{args.board}", io="int8", io_in_arena=True, emit_cpp=work / "digits.cc")
        q = program.inputs[0]["quantization"]
        images = np.clip(np.rint(test_x / q["scale"]) + q["zero_point"], -128, 127).astype(np.int8)
        host = np.concatenate([program(torch.from_numpy(images[i : i + 1])).numpy() for i in range(len(images))])
        board, size = run_on_board(args.board, work, images)

    def right(scores):
        return f"{(scores.argmax(1) == test_y).sum()} of {len(test_y)} ({100 * (scores.argmax(1) == test_y).mean():.2f} %)"

    same = board.shape == host.shape and np.array_equal(board, host)
    cpp = program.compiled["cpp"]
    show([("PyTorch, eager, float", right(eager)),
          ("Mote, int8, this machine", right(host)),
          (f"Mote, int8, Cortex-{args.board.upper()}", right(board) if board.shape == host.shape else f"{len(board)} images scored"),
          ("board and machine", "the same bits" if same else "DIFFER"),
          ("memory, constants", f"{cpp['ram_bytes']:,} B, {cpp['constant_bytes']:,} B"),
          ("firmware", f"{int(size[0]):,} B of code and constants, {int(size[1]) + int(size[2]):,} B of memory")])
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
