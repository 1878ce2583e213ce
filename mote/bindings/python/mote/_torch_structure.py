"""What torch.export says of a module's arguments and results, in Mote's words (_structure.py)."""

from __future__ import annotations

import collections
import dataclasses
import json
from collections.abc import Callable
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind, SymBoolArgument, SymFloatArgument, SymIntArgument

_NUMBERS = {SymIntArgument: "int", SymFloatArgument: "float", SymBoolArgument: "bool"}


def _named_fields(spec: Any) -> tuple[Any, list[str], list[str]] | None:
    """Of a class whose children have names: the class, the names, and the names of what is None and no child."""
    made: Any = spec.context if isinstance(spec.context, type) else spec.type
    if pytree.is_namedtuple_class(spec.type) or spec.type is collections.namedtuple:
        return made, list(made._fields), []
    if _is_torch_result(spec.type):
        return made, list(made.__match_args__), []
    if dataclasses.is_dataclass(spec.type) and isinstance(spec.context, (list, tuple)) and len(spec.context) == 2:
        present, absent = spec.context
        if len(present) == len(spec.children()):
            return made, list(present), list(absent)
    return None


def _is_torch_result(made: Any) -> bool:
    """Whether a class is one of torch.return_types: what topk, sort and max give."""
    return getattr(torch.return_types, getattr(made, "__name__", ""), None) is made and hasattr(made, "__match_args__")


def _of_spec(spec: Any) -> tuple[Any, bool]:
    """The structure, and whether it says all: classes of the user's own are named tuples, dicts or tuples in it."""
    if spec.is_leaf():
        return "*", True
    parts = [_of_spec(child) for child in spec.children()]
    whole = all(complete for _, complete in parts)
    children = [part for part, _ in parts]
    if spec.type in (tuple, list):
        return {spec.type.__name__: children}, whole
    if spec.type in (dict, collections.OrderedDict, collections.defaultdict):
        keys = spec.context[1] if spec.type is collections.defaultdict else spec.context
        texts = all(isinstance(key, str) for key in keys)
        return {"dict": [[key if texts else str(key), part] for key, part in zip(keys, children)]}, whole and spec.type is dict and texts
    named = _named_fields(spec)
    if named is not None:
        made, present, absent = named
        fields = [[field, part] for field, part in zip(present, children)] + [[field, {"none": []}] for field in absent]
        if _is_torch_result(made):
            return {"named": [made.__name__, fields, "torch.return_types"]}, whole
        return {"named": [made.__name__, fields]}, False
    keys = spec.context if isinstance(spec.context, (list, tuple)) and len(spec.context) == len(children) else None
    if keys is not None and all(isinstance(key, str) for key in keys):
        return {"dict": [[key, part] for key, part in zip(keys, children)]}, False
    return {"tuple": children}, False


def _kind(argument: Any, is_output: bool) -> Any:
    if isinstance(argument, ConstantArgument):
        value = argument.value
        # Numbers that a module always returns are outputs of the program; those it was always given are no inputs.
        if is_output and isinstance(value, (bool, int, float)):
            return type(value).__name__
        return {"constant": value if isinstance(value, (int, float, bool, str, type(None))) else None}
    return _NUMBERS.get(type(argument), "tensor")


def structure_of(exported: ExportedProgram) -> dict[str, Any]:
    signature = exported.graph_signature
    args, kwargs = exported.call_spec.in_spec.children()
    inputs = [spec.arg for spec in signature.input_specs if spec.kind == InputKind.USER_INPUT]
    names = [getattr(argument, "name", None) for argument in inputs]
    outputs = [spec.arg for spec in signature.output_specs if spec.kind == OutputKind.USER_OUTPUT]
    mutated = [spec.target for spec in signature.output_specs if spec.kind == OutputKind.USER_INPUT_MUTATION]
    structure = {
        "args": _of_spec(args)[0],
        "kwargs": _of_spec(kwargs)[0],
        "inputs": [_kind(argument, False) for argument in inputs],
        "out": _of_spec(exported.call_spec.out_spec)[0],
        "outputs": [_kind(argument, True) for argument in outputs],
        "mutated": [names.index(name) for name in mutated],
    }
    if "tensor" not in structure["inputs"]:
        structure["library"] = "torch"
    return structure if own_classes(exported) is None else {**structure, "own": True}


def results_of(exported: ExportedProgram) -> str:
    """The results' structure in the words of torch.export's files, whose keys name the program's outputs."""

    def spec(structure: Any) -> dict[str, Any]:
        if structure == "*":
            return {"type": None, "context": None, "children_spec": []}
        kind, parts = next(iter(structure.items()))
        if kind in ("tuple", "list"):
            return {"type": kind, "context": "null", "children_spec": [spec(part) for part in parts]}
        named = parts[1] if kind == "named" else parts
        named = [(key, part) for key, part in named if part != {"none": []}]
        return {"type": kind, "context": json.dumps([key for key, _ in named]), "children_spec": [spec(part) for _, part in named]}

    return json.dumps([1, spec(_of_spec(exported.call_spec.out_spec)[0])])


@dataclasses.dataclass
class OwnClasses:
    """Arguments and results of classes that PyTorch's pytree knows, and a file does not: only in the process that compiled the program."""

    #: The leaves of (args, kwargs); None where plain structures say it all.
    flatten: Callable[[Any], list[Any] | None] | None
    #: The result of its leaves; likewise.
    restore: Callable[[list[Any]], Any] | None


def own_classes(exported: ExportedProgram) -> OwnClasses | None:
    taken, given = exported.call_spec.in_spec, exported.call_spec.out_spec

    def flatten(arguments: Any) -> list[Any] | None:
        leaves, spec = pytree.tree_flatten(arguments)
        return leaves if spec == taken else None

    own = OwnClasses(
        None if _of_spec(taken)[1] else flatten,
        None if _of_spec(given)[1] else lambda leaves: pytree.tree_unflatten(leaves, given),
    )
    return own if own.flatten is not None or own.restore is not None else None
