"""A PyTorch operator of one's own, compiled with a kernel of one's own.

    python3 examples/python/custom_op/custom_op.py
"""

import pathlib
import subprocess
import tempfile

import torch

import mote
import mote.torch


# PyTorch knows the operator by its name, what it computes and what shape it gives.
@torch.library.custom_op("acme::soft_shrink", mutates_args=())
def soft_shrink(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.softshrink(x, 0.5)


@soft_shrink.register_fake
def _(x):
    return torch.empty_like(x)


class Denoise(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = torch.nn.Linear(8, 8)

    def forward(self, x):
        return self.mix(torch.ops.acme.soft_shrink(x))


def build(folder: pathlib.Path) -> pathlib.Path:
    """The kernel as a shared library: any C compiler will do."""
    source = pathlib.Path(__file__).with_name("soft_shrink.c")
    library = folder / "soft_shrink.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", f"-I{mote.include_folder()}", str(source), "-o", str(library)], check=True)
    return library


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        print("operators:", mote.load_custom_ops(build(pathlib.Path(folder))))
        module, x = Denoise(), torch.randn(2, 8)
        program = mote.torch.compile(module, (x,))  # the exporter passes on what is registered
        print("in the program:", program.inspect()["ops"])
        difference = (program(x) - module(x)).abs().max().item()
        print(f"largest difference to PyTorch: {difference:.2g}")
        assert difference < 1e-5


if __name__ == "__main__":
    main()
