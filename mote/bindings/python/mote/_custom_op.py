"""Operators of the user's own."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from typing import Any

from . import _mote
from ._errors import Error

_libraries: list[Any] = []  # loaded for the life of the process, as their operators are


def load_custom_ops(path: str | os.PathLike[str]) -> list[str]:
    """Loads a shared library's operators, written against mote/api/custom_op.h; gives their names.

    The library exports `const mote_custom_op* mote_custom_ops(uint32_t* count)`. Its operators serve every program compiled or loaded from
    now on.
    """
    try:
        library = ctypes.CDLL(os.path.abspath(os.fspath(path)))
        function = library.mote_custom_ops
    except (OSError, AttributeError) as error:
        raise Error(f"{os.fspath(path)}: no operators can be loaded: {error}", code="Io") from error
    _libraries.append(library)
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None
    return _mote.add_custom_ops(address)


def include_folder() -> str:
    """Where mote/api/custom_op.h is, for compiling operators: cc -shared -fPIC -I..."""
    return os.path.join(os.path.dirname(__file__), "include")


Function = Callable[..., Any]


def custom_op(name: str, infer: Function | None = None, *, inputs: int = -1, outputs: int = 1) -> Callable[[Function], Function]:
    """Makes a Python function an operator, for trying things out: `@mote.custom_op("acme::blend")`.

    The function is called with two lists of numpy arrays, inputs and outputs, in place and valid during the call, and the attributes as
    bytes; it fills the outputs. `infer(types)` gives a type (dtype, dims) for each output from those of the inputs; by default all are as
    the first input. `inputs`: how many there are, -1 for any number.
    """

    def types(given: Sequence[Any], count: int) -> list[Any]:
        if infer is None:
            return [given[0]] * count
        found = infer(given)
        return [found] if isinstance(found, tuple) and isinstance(found[0], str) else list(found)

    def register(function: Function) -> Function:
        _mote.register_custom_op(name, types, function, inputs, outputs)
        return function

    return register


def custom_op_names() -> list[str]:
    """The names of all registered operators."""
    return _mote.custom_op_names()
