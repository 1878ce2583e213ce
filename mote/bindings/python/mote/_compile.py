"""Compiling models."""

from __future__ import annotations

import json
import operator
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

from . import _mote
from ._errors import InvalidValue, WrongType, not_built
from ._options import CompileOptions, check_names
from ._program import Program
from ._quantize import QuantizeOptions
from ._words import in_python


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def _shape_text(name: str, shape: Any) -> str:
    if isinstance(shape, str):
        return shape
    try:
        sizes = [operator.index(size) for size in shape]
    except TypeError:
        raise WrongType(f"shape={{{name!r}: {shape!r}}}: expected a tuple of sizes, such as (1, 3, 224, 224)") from None
    if any(size < 0 for size in sizes):
        raise InvalidValue(f"shape={{{name!r}: {shape!r}}}: expected sizes of at least 0")
    return "x".join(map(str, sizes)) or "scalar"


def _dim_text(name: str, bounds: Any) -> str:
    if isinstance(bounds, str):
        return bounds
    given = f"dim={{{name!r}: {bounds!r}}}"
    try:
        if isinstance(bounds, range):
            low, high = bounds.start, bounds.stop - 1
        elif hasattr(bounds, "__index__"):
            low = high = operator.index(bounds)
        else:
            low, high = map(operator.index, bounds)
    except (TypeError, ValueError):
        raise WrongType(f"{given}: expected a size, or (smallest, largest)") from None
    if not 0 <= low <= high or high < 1:
        raise InvalidValue(f"{given}: expected (smallest, largest) with 0 <= smallest <= largest and 1 <= largest")
    return str(low) if low == high and not isinstance(bounds, (tuple, list, range)) else f"{low}..{high}"


def _plain_text(name: str, value: Any) -> str:
    return str(value)


def option_words(options: Mapping[str, Any]) -> str:
    """Options as the words of `mote compile`: dim={"seq": (1, 128)}, no_fuse=True -> --dim seq=1..128 --no-fuse."""
    texts: dict[str, Callable[[str, Any], str]] = {"shape": _shape_text, "dim": _dim_text}
    words: list[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if name in texts and not isinstance(value, Mapping):
            example = "(1, 3, 224, 224)" if name == "shape" else "(1, 128)"
            raise WrongType(f"{name}={value!r}: expected a dict by name, such as {name}={{'x': {example}}}")
        if value is True:
            words.append(flag)
        elif isinstance(value, Mapping):
            for key, item in value.items():
                words += [flag, _quoted(f"{key}={texts.get(name, _plain_text)(key, item)}")]
        else:
            words += [flag, _quoted(str(value))]
    return " ".join(words)


def _refuse_unbuilt(backends: Any, policy: Any) -> None:
    if policy is not None:
        raise not_built("a placement policy", "programs run on the CPU")
    if backends is not None and list([backends] if isinstance(backends, str) else backends) != ["cpu"]:
        raise not_built(f"compiling for backends {backends!r}", "expected ['cpu']")


def settings_of(
    *,
    golden: Any = None,
    golden_examples: int | None = None,
    labels: Any = None,
    metadata: Mapping[str, str] | None = None,
    licence: str | None = None,
    external_weights: str | os.PathLike[str] | None = None,
    print_after: str | Sequence[str] | None = None,
    time_passes: bool = False,
    passes: Sequence[Callable[..., Any]] = (),
    late_passes: Sequence[Callable[..., Any]] = (),
    planner: Callable[..., Any] | None = None,
    partition: Callable[..., Any] | None = None,
    emit_cpp: str | os.PathLike[str] | None = None,
    quantize: Any = None,
    backends: Any = None,
    policy: Any = None,
    **options: Any,
) -> dict[str, Any]:
    """Checks what compile() was given; the rest are options by the names the command line has."""
    check_names(options)
    _refuse_unbuilt(backends, policy)
    quantizing = QuantizeOptions(quantize, options)
    late = list(late_passes)
    if partition is not None:
        from .hooks import partition_pass

        late.append(partition_pass(partition))
    texts = dict(metadata or {})
    labels_from = None
    if labels is not None:
        labels_from = "labels"
        if isinstance(labels, (str, os.PathLike)):
            labels_from = os.fspath(labels)
            with open(labels, encoding="utf-8") as file:
                labels = file.read().rstrip("\r\n").split("\n")
        texts["labels"] = "\n".join(labels)
    return {
        "words": option_words(options),
        "quantize": quantizing.words,
        "quantize_data": quantizing,
        "golden": os.fspath(golden) if isinstance(golden, os.PathLike) else golden,
        "golden_examples": golden_examples,
        "metadata": texts,
        "labels_from": labels_from,
        "evidence": {"licence": licence} if licence else {},
        "external_weights": os.fspath(external_weights) if external_weights is not None else None,
        "print_after": [print_after] if isinstance(print_after, str) else list(print_after or []),
        "time_passes": time_passes,
        "passes": list(passes),
        "late_passes": late,
        "planner": planner,
        "emit_cpp": os.fspath(emit_cpp) if emit_cpp is not None else None,
    }


INSTANCE = ("memory_limit", "threads", "kernels")


def instance_options(options: dict[str, Any]) -> dict[str, Any]:
    """Takes out what is not for the compiler but for the program that comes of it, as mote.load has it."""
    return {name: options.pop(name) for name in INSTANCE if name in options}


def finish(result: dict[str, Any], instance: dict[str, Any]) -> Program:
    """The program of a compilation's result."""
    if "quantization" in result:
        result["quantization"] = json.loads(result["quantization"])
    result["notes"] = [in_python(note) for note in result["notes"]]
    result["warnings"] = [in_python(text) for text in result["warnings"]]
    for text in result["warnings"]:
        warnings.warn(text, stacklevel=3)
    program = Program.of(result.pop("image"), **instance)
    program.compiled = result
    return program


def compile(model: Any, example_inputs: Any = None, **given: Unpack[CompileOptions]) -> Program:
    """Compiles a model to a program.

    `model`: a file (.onnx, .tflite, .pt2), its bytes, an `onnx.ModelProto`, or a torch module with `example_inputs` (see
    mote.torch.compile).

    Options: those of `mote compile` by their names, such as shape={"image": (1, 3, 224, 224)}, dim={"seq": (1, 128)}, no_fuse=True,
    exact=True, strips=True, ram="64k", bank={"sram": "64k"}, target="cortex-m4", audio_frontend="micro" with streaming=10 (samples in, in
    steps; docs/tinyml.md); golden (a folder of examples, or a list of dicts of arrays), golden_examples,
    labels, metadata, licence, external_weights (a path), emit_cpp="kws.cc" (with a microcontroller as target: writes kws.h and kws.cc too,
    docs/tinyml.md), print_after, time_passes; and the hooks passes, late_passes, planner, partition
    (mote.hooks); quantize="int8" (docs/quantization.md: int8-dynamic, int4-weights ...) with its options by their names (max_drop=0.5) and
    calibrate, test: a folder, an array with samples along its first axis, or samples (arrays, or dicts of arrays by input), truth: labels
    of the test samples; what it costs is in program.compiled["quantization"]; memory_limit, threads and kernels as in mote.load. Raises
    mote.CompileError with everything that stands in the way.
    """
    options: dict[str, Any] = dict(given)
    instance = instance_options(options)
    if isinstance(model, (str, os.PathLike)):
        return finish(_mote.compile_path(os.fspath(model), settings_of(**options)), instance)
    if isinstance(model, (bytes, bytearray, memoryview)):
        return finish(_mote.compile_bytes("model", bytes(model), settings_of(**options)), instance)
    if hasattr(model, "SerializeToString"):
        name = getattr(getattr(model, "graph", None), "name", "") or "model"
        return finish(_mote.compile_bytes(name, model.SerializeToString(), settings_of(**options)), instance)
    if type(model).__module__.startswith("torch.export") or hasattr(model, "named_parameters"):
        from .torch import compile as compile_torch

        return compile_torch(model, example_inputs, **instance, **options)
    raise WrongType(f"expected a model's file, its bytes, an onnx.ModelProto or a torch module, found {type(model).__qualname__}")
