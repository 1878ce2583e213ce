"""Mote: models compiled ahead of time, run anywhere.

    program = mote.compile("model.onnx")      # or mote.load("model.mote"), or mote.torch.compile(module, (x,))
    y = program(x)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._compile import compile
from ._custom_op import custom_op, custom_op_names, include_folder, load_custom_ops
from ._errors import CompileError, Error
from ._mote import Bound, Method, backend_info, kernel_names
from ._mote import version as __version__
from ._program import Program, load
from ._run import Run

if TYPE_CHECKING:
    from . import hooks, torch

__all__ = ["Bound", "CompileError", "Error", "Method", "Program", "Run", "backend_info", "compile", "custom_op", "custom_op_names", "hooks",
           "include_folder", "kernel_names", "load", "load_custom_ops", "torch"]


def __getattr__(name: str) -> Any:
    # PyTorch is imported only by those who use it.
    if name in ("torch", "hooks"):
        import importlib

        return importlib.import_module("." + name, __name__)
    raise AttributeError(f"module 'mote' has no attribute '{name}'")
