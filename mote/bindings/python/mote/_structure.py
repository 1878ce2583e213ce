"""The structure of a module's arguments and results, which a program has flat.

It travels in the program's metadata as JSON, for each method:

    {"args": S, "kwargs": S, "inputs": [K ...], "out": S, "outputs": [K ...], "mutated": [leaf ...], "own": true, "library": "torch"}

S is "*" for a leaf, or {"tuple": [S ...]}, {"list": [S ...]}, {"dict": [[key, S] ...]}, {"named": [name, [[field, S] ...], module]},
{"none": []} for a field that is None. A module, "torch.return_types", stands only where the class can be found again. K says what the
leaves are, in their order: "tensor", "int", "float", "bool", or {"constant": value} for what the exported program has no place for. "own"
stands where there are classes that only the process that compiled the program can make, "library" where no input tells what results should
be.
"""

from __future__ import annotations

import collections
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import _mote
from ._errors import Error
from ._program import Program

KEY = "python.structure"


def flatten(structure: Any, value: Any, path: str = "") -> Iterator[Any]:
    """The leaves of a value that has this structure. Raises mote.Error where it has another."""

    def unlike(expected: str) -> Error:
        return Error(f"argument{path} is not as it was when the module was exported: expected {expected}, found {type(value).__name__}")

    if structure == "*":
        yield value
        return
    kind, parts = next(iter(structure.items()))
    if kind in ("tuple", "list"):
        if not isinstance(value, (tuple, list)) or len(value) != len(parts):
            raise unlike(f"a {kind} of {len(parts)}")
        for i, part in enumerate(parts):
            yield from flatten(part, value[i], f"{path}[{i}]")
    elif kind == "dict":
        if not isinstance(value, dict) or set(value) != {key for key, _ in parts}:
            raise unlike("a dict with " + ", ".join(str(key) for key, _ in parts))
        for key, part in parts:
            yield from flatten(part, value[key], f"{path}[{key!r}]")
    elif kind == "none":
        if value is not None:
            raise unlike("None")
    else:
        for field, part in parts[1]:
            if not hasattr(value, field):
                raise unlike(f"a {parts[0]} with '{field}'")
            yield from flatten(part, getattr(value, field), f"{path}.{field}")


def unflatten(structure: Any, leaves: Iterator[Any]) -> Any:
    if structure == "*":
        return next(leaves)
    kind, parts = next(iter(structure.items()))
    if kind == "tuple":
        return tuple(unflatten(part, leaves) for part in parts)
    if kind == "list":
        return [unflatten(part, leaves) for part in parts]
    if kind == "dict":
        return {key: unflatten(part, leaves) for key, part in parts}
    if kind == "none":
        return None
    fields = [unflatten(part, leaves) for _, part in parts[1]]
    if len(parts) > 2 and (found := _torch_result(parts[0])) is not None:
        return found(fields)
    made = collections.namedtuple(parts[0], [field for field, _ in parts[1]])  # type: ignore[misc]
    return made(*fields)


def _torch_result(name: str) -> Any:
    """A class of torch.return_types, where the program's user has imported PyTorch."""
    return getattr(getattr(sys.modules.get("torch"), "return_types", None), name, None)


def is_plain(structure: dict[str, Any]) -> bool:
    """Whether tensors by position, and one result or a tuple of them, is all there is to it."""

    def row(s: Any) -> bool:
        return isinstance(s, dict) and "tuple" in s and all(part == "*" for part in s["tuple"])

    kinds = set(map(str, structure["inputs"] + structure["outputs"]))
    out = structure["out"]
    several = row(out) and len(out["tuple"]) > 1
    by_position = row(structure["args"]) and structure["kwargs"] == {"dict": []}
    special = structure["mutated"] or structure.get("own", False) or "library" in structure
    return kinds <= {"tensor"} and by_position and (out == "*" or several) and not special


def is_structured(image: _mote.Image) -> bool:
    text = image.metadata(KEY)
    return text is not None and not all(is_plain(s) for s in json.loads(text).values())


class Caller:
    """A method that is called like the module's."""

    def __init__(self, program: Program, name: str, structure: dict[str, Any], own: Any):
        self._program, self.name, self._s = program, name, structure
        self._flatten: Callable[[Any], list[Any] | None] | None = own and own.flatten
        self._restore: Callable[[list[Any]], Any] | None = own and own.restore

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call(args, kwargs, None)

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any], cancel: _mote.Cancel | None) -> Any:
        s = self._s
        leaves = self._flatten((args, kwargs)) if self._flatten is not None else None
        if leaves is None:
            leaves = [*flatten(s["args"], args), *flatten(s["kwargs"], kwargs)]
        tensors = []
        for leaf, kind in zip(leaves, s["inputs"]):
            if isinstance(kind, str):
                tensors.append(leaf)
            elif kind["constant"] is not None and leaf != kind["constant"]:
                was = kind["constant"]
                raise Error(f"an argument was {was!r} when the module was exported, and is part of the program: found {leaf!r}")
        found = self._program.call_with(tuple(tensors), {}, self.name, 0, 0, cancel)
        results = list(found) if isinstance(found, tuple) else [found]
        if s.get("library") == "torch" and "torch" in sys.modules:
            results = [sys.modules["torch"].from_dlpack(result) if _has_dlpack(result) else result for result in results]
        # What the module writes into its arguments is written there.
        for leaf, result in zip(reversed(s["mutated"]), reversed(results)):
            leaves[leaf][...] = result
        flat = iter(results)
        restored = [_number(next(flat), kind) if isinstance(kind, str) else kind["constant"] for kind in s["outputs"]]
        return self._restore(restored) if self._restore is not None else unflatten(s["out"], iter(restored))

    def arguments(self, tensors: list[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The module's own arguments, for the inputs of the program."""
        flat = iter(tensors)
        leaves = iter([_number(next(flat), kind) if isinstance(kind, str) else kind["constant"] for kind in self._s["inputs"]])
        return unflatten(self._s["args"], leaves), unflatten(self._s["kwargs"], leaves)


def _has_dlpack(array: Any) -> bool:
    return isinstance(array, np.ndarray) and array.dtype.kind in "fiub"


def _number(array: Any, kind: str) -> Any:
    return array if kind == "tensor" else np.asarray(array).item()


class StructuredProgram(Program):
    """A program that is called like the module it was made of."""

    #: Classes of the user's own among arguments and results (_torch_structure.OwnClasses), by method; only in the process that compiled the
    #: program.
    own: dict[str, Any] = {}

    def __init__(self, image: _mote.Image, memory_limit: int = 0, threads: int = 1, kernels: str = ""):
        super().__init__(image, memory_limit, threads, kernels)
        self._structures = json.loads(image.metadata(KEY) or "{}")

    def method(self, name: str) -> Any:
        if name not in self._structures or is_plain(self._structures[name]):
            return super().method(name)
        return Caller(self, name, self._structures[name], self.own.get(name))

    def _call(self, args: tuple[Any, ...], names: dict[str, Any], method: str, cancel: _mote.Cancel | None) -> Any:
        found = self.method(method or self.method_names[0])
        return found.call(args, names, cancel) if isinstance(found, Caller) else super()._call(args, names, method, cancel)

    def __call__(self, *args: Any, **names: Any) -> Any:
        return self._call(args, names, "", None)
