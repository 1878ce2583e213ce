"""PyTorch modules to programs: torch.export, decompositions, and Mote's compiler. Weights are handed over in place.

    program = mote.torch.compile(module, (x, y))
    z = program(x, y)
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Unpack

try:
    import torch
except ImportError as error:
    raise ImportError("mote.torch needs PyTorch: pip install torch") from error
from torch.export import ExportedProgram

from . import _mote
from ._compile import finish, instance_options, settings_of
from ._errors import Error, WrongType
from ._options import ModelOptions
from ._program import Program
from ._structure import KEY, StructuredProgram
from ._torch_structure import own_classes, results_of, structure_of

__all__ = ["compile", "decompositions", "export"]


@contextlib.contextmanager
def _for_inference(module: torch.nn.Module) -> Iterator[None]:
    """The module as it is used on a device: no dropout, no statistics of the batch."""
    training = [m for m in module.modules() if m.training]
    module.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for m in training:
            m.training = True


def decompositions() -> dict[Any, Any]:
    """Decompositions to what Mote takes: PyTorch's own, and more (_torch_decompositions.py). For ExportedProgram.run_decompositions, before
    torch.export.save writes a file for `mote compile`."""
    from ._torch_decompositions import table
    from ._torch_experts import of_transformers

    return {**table(frozenset(_mote.exported_operators())), **of_transformers()}


def export(
    module: torch.nn.Module,
    example_inputs: Sequence[Any],
    example_kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    strict: bool = False,
) -> ExportedProgram:
    """torch.export for inference."""
    kwargs = dict(example_kwargs or {})
    with _for_inference(module):
        return torch.export.export(module, tuple(example_inputs), kwargs, dynamic_shapes=dynamic_shapes, strict=strict)


def _changes_an_argument(node: torch.fx.Node) -> bool:
    """Whether an operator that works in place changes a parameter, buffer or input, directly or through views of it."""
    value = node.args[0] if node.args else None
    while isinstance(value, torch.fx.Node) and value.op == "call_function":
        schema = getattr(value.target, "_schema", None)
        if schema is None or not any(result.alias_info for result in schema.returns):
            return False
        value = value.args[0] if value.args else None
    return True


def _is_done(exported: ExportedProgram, custom_ops: Iterable[str]) -> bool:
    """Whether Mote takes every operator as it is, so that nothing is left to decompose (which takes as long as exporting).

    Operators that work in place count as long as what they change is the program's own.
    """
    kept = set(_mote.exported_operators())
    own = set(custom_ops)
    nodes = [n for m in exported.graph_module.modules() if isinstance(m, torch.fx.GraphModule) for n in m.graph.nodes]
    for node in nodes:
        if node.op != "call_function" or not isinstance(node.target, torch._ops.OperatorBase):
            continue
        name = str(node.target)
        namespace, op, overload = (name.split(".") + ["", ""])[:3]
        in_place = op.endswith("_") and not op.endswith("__")
        if in_place and (f"{namespace}.{op[:-1]}.{overload}" not in kept or _changes_an_argument(node)):
            return False
        if not in_place and name not in kept and f"{namespace}::{op}" not in own:
            return False
    return True


def _lowered(exported: ExportedProgram, custom_ops: Iterable[str]) -> ExportedProgram:
    if _is_done(exported, custom_ops):
        return exported
    with torch.no_grad():
        lowered = exported.run_decompositions(decompositions())
    nodes = [n for m in lowered.graph_module.modules() if isinstance(m, torch.fx.GraphModule) for n in m.graph.nodes]
    if any(str(n.target) == "with_effects" for n in nodes):
        # Tokens order the checks of linear algebra, which a program does not make.
        from torch.export._remove_effect_tokens_pass import _remove_effect_tokens

        lowered = _remove_effect_tokens(lowered)
    return lowered  # type: ignore[no-any-return]


def _serialized(exported: ExportedProgram) -> str:
    """The program as torch.export.save writes it, without weights, and without how modules call each other but for the results' structure:
    a program has its own way to say how it is called, and classes of the user's own need not be registered with PyTorch."""
    from torch._export.serde import schema, serialize
    from torch.export.graph_signature import SymBoolArgument

    serializer = serialize.GraphModuleSerializer(exported.graph_signature, [])
    others = serializer.serialize_argument_spec

    def argument(spec: Any) -> Any:
        """Truth values that a program returns (x.item() of a bool), which torch.export does not write."""
        if not isinstance(spec, SymBoolArgument):
            return others(spec)
        return schema.Argument.create(as_sym_bool=schema.SymBoolArgument.create(as_name=spec.name))

    serializer.serialize_argument_spec = argument
    graph_module = serializer.serialize(exported.graph_module)
    results = schema.ModuleCallSignature(inputs=[], outputs=[], in_spec="", out_spec=results_of(exported), forward_arg_names=None)
    graph_module.module_call_graph = [schema.ModuleCallEntry(fqn="", signature=results)]
    program = schema.ExportedProgram(
        graph_module=graph_module,
        opset_version={"aten": torch._C._get_max_operator_version()},
        range_constraints=serialize.serialize_range_constraints(exported.range_constraints),
        schema_version=schema.SchemaVersion(*schema.SCHEMA_VERSION),
        verifiers=[verifier.dialect for verifier in exported.verifiers],
        torch_version=torch.__version__,
    )
    return serialize._to_json_bytes(program).decode()


class _Tensors:
    """Parameters, buffers and constants, once each."""

    def __init__(self) -> None:
        self.all: list[torch.Tensor] = []
        self._places: dict[Any, int] = {}

    def place(self, tensor: torch.Tensor) -> int:
        tensor = tensor.detach()
        if tensor.is_sparse or tensor.is_quantized or tensor.is_complex() or tensor.device.type != "cpu":
            raise Error(f"a tensor of {tensor.dtype} on {tensor.device} cannot be compiled: expected a dense tensor in the CPU's memory")
        key = (tensor.data_ptr(), tensor.dtype, tuple(tensor.shape), tensor.stride()) if tensor.numel() > 0 else object()
        if key not in self._places:
            self._places[key] = len(self.all)
            self.all.append(tensor.resolve_conj().resolve_neg())
        return self._places[key]

    def of(self, exported: ExportedProgram) -> dict[str, int]:
        named = {**exported.state_dict, **exported.constants}
        used = {spec.target for spec in exported.graph_signature.input_specs if spec.target is not None} | set(exported.constants)
        return {name: self.place(t) for name, t in named.items() if name in used and isinstance(t, torch.Tensor)}


def compile(
    module: Any,
    example_inputs: Sequence[Any] | None = None,
    example_kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    strict: bool = False,
    quantize: Any = None,
    backends: Any = None,
    policy: Any = None,
    custom_ops: Iterable[str] | None = None,
    **given: Unpack[ModelOptions],
) -> Program:
    """Compiles a module, or what torch.export made of it, to a program that is called like the module.

    `module`: a torch.nn.Module with `example_inputs`, a tuple of its arguments; an ExportedProgram; or a dict of them by method names:
    methods that have weights and buffers in common share them. `dynamic_shapes` as torch.export has it; give dimensions an upper bound
    (torch.export.Dim("seq", max=128)) or bound them with dim={"x.1": (1, 128)}. Buffers that the module writes become state of the program.
    `custom_ops`: operators ("acme::blend") passed on to kernels of the user's own; by default all that are registered. Other options as in
    mote.compile.
    """
    options: dict[str, Any] = dict(given)
    instance = instance_options(options)
    settings = settings_of(quantize=quantize, backends=backends, policy=policy, **options)
    programs = _exported(module, example_inputs, example_kwargs, dynamic_shapes, strict)
    tensors, methods, structures, own = _Tensors(), [], {}, {}
    names = list(custom_ops) if custom_ops is not None else _mote.custom_op_names()
    for name, exported in programs.items():
        lowered = _lowered(exported, names)
        methods.append((name, _serialized(lowered), tensors.of(lowered)))
        structures[name] = structure_of(lowered)
        classes = own_classes(lowered)
        if classes is not None:
            own[name] = classes
    settings["metadata"] = {**settings["metadata"], KEY: json.dumps(structures)}
    settings["evidence"] = {**settings["evidence"], "source.framework": f"torch {torch.__version__}"}
    program = finish(_mote.compile_exported(methods, tensors.all, names, settings), instance)
    if isinstance(program, StructuredProgram):
        program.own = own
    return program


def _exported(module: Any, inputs: Any, kwargs: Any, dynamic_shapes: Any, strict: bool) -> dict[str, ExportedProgram]:
    if isinstance(module, ExportedProgram):
        return {"forward": module}
    if isinstance(module, Mapping):
        for name, exported in module.items():
            if not isinstance(exported, ExportedProgram):
                raise WrongType(f"method '{name}': expected an ExportedProgram, found {type(exported).__qualname__}")
        return dict(module)
    if not isinstance(module, torch.nn.Module):
        raise WrongType(f"expected a torch.nn.Module, an ExportedProgram or a dict of them, found {type(module).__qualname__}")
    if inputs is None and not kwargs:
        raise Error("example inputs are needed to export a module: mote.torch.compile(module, (x, y))")
    if isinstance(inputs, torch.Tensor):
        raise WrongType("expected a tuple of example inputs, found a tensor: mote.torch.compile(module, (x,))")
    return {"forward": export(module, inputs or (), kwargs, dynamic_shapes=dynamic_shapes, strict=strict)}
