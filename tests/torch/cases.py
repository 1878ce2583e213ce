"""What the scripts of this folder share: exported programs through torch_runner, and comparing with eager."""

import functools
import os
import shutil
import subprocess
import tempfile

import numpy as np
import torch

# Of the largest element, and of each one.
TOLERANCES = {
    torch.float64: (1e-7, 1e-7),
    torch.float32: (2e-5, 2e-5),
    torch.float16: (4e-3, 4e-3),
    torch.bfloat16: (3e-2, 3e-2),
}


def write_npy(path, tensor):
    """As numpy.save; bfloat16, which numpy does not have, as '<V2'."""
    tensor = tensor.detach().contiguous()
    if tensor.dtype != torch.bfloat16:
        np.save(path, tensor.numpy())
        return
    data = tensor.view(torch.int16).numpy()
    header = f"{{'descr': '<V2', 'fortran_order': False, 'shape': {data.shape!r}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data.tobytes())


def read_npy(path, dtype):
    if dtype != torch.bfloat16:
        return torch.from_numpy(np.load(path))
    raw = np.load(path)
    return torch.from_numpy(np.ascontiguousarray(raw).view(np.int16).copy()).view(torch.bfloat16).reshape(raw.shape)


def difference(found, expected):
    """Empty when they are the same within the tolerance of their type, else what differs."""
    if found.dtype != expected.dtype:
        return f"expected {expected.dtype}, found {found.dtype}"
    if found.shape != expected.shape:
        return f"expected shape {tuple(expected.shape)}, found {tuple(found.shape)}"
    if expected.numel() == 0:
        return ""
    if expected.dtype not in TOLERANCES:
        wrong = (found != expected).sum().item()
        return f"{wrong} of {expected.numel()} elements differ" if wrong else ""
    relative, absolute = TOLERANCES[expected.dtype]
    a, b = found.double(), expected.double()
    # Sums of large terms: the error is that of the largest result.
    finite = b[torch.isfinite(b)].abs()
    largest = finite.max().item() if finite.numel() and finite.max().item() < 1e6 else 1.0
    close = torch.isclose(a, b, rtol=relative, atol=absolute * max(largest, 1.0), equal_nan=True)
    if close.all():
        return ""
    at = (~close).flatten().nonzero()[0].item()
    return f"{(~close).sum().item()} of {b.numel()} elements differ: expected {b.flatten()[at].item()}, found {a.flatten()[at].item()}"


def remember_operators():
    """PyTorch looks up every operator of its dispatcher some 50 times in each export; in these scripts none is added on the way."""
    from torch._export import utils

    if hasattr(utils, "_materialize_cpp_cia_ops"):
        utils._materialize_cpp_cia_ops = functools.cache(utils._materialize_cpp_cia_ops)


class Runner:
    """torch_runner as a process that stays; a program that ends it counts as a failure of that case alone."""

    def __init__(self, program, *options):
        self.command = [program, *options]
        self.folder = tempfile.mkdtemp(prefix="mote_torch_", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        self.process = None

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self):
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdin.write(self.folder + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if answer:
            return answer.strip()
        code = self.process.wait()
        self.process = None
        return f"run ended the process with {code}"

    def save(self, program):
        torch.export.save(program, self.folder + "/model.pt2")

    def run(self, inputs, output_types):
        """Of the program saved last: (outputs, "") or (None, what stood in the way)."""
        for i, tensor in enumerate(inputs):
            write_npy(f"{self.folder}/in_{i}.npy", tensor)
        answer = self.ask()
        if not answer.startswith("ok "):
            return None, answer
        if int(answer[3:]) < len(output_types):  # inputs that are changed come behind
            return None, f"run gave {answer[3:]} outputs, expected {len(output_types)}"
        return [read_npy(f"{self.folder}/out_{i}.npy", t) for i, t in enumerate(output_types)], ""
