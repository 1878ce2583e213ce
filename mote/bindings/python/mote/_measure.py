"""Measuring and judging programs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ._errors import Error, WrongType
from ._program import Program


def make_inputs(program: Program, method: str, seed: int) -> list[Any]:
    """Made-up inputs at the largest sizes: floats in [-1, 1), narrow integers over their range, 32- and 64-bit ones 0 or 1."""
    random = np.random.default_rng(seed)
    made = []
    for array in program.empty_inputs(method):
        kind, size = array.dtype.kind, array.dtype.itemsize
        if kind == "f":
            array[...] = random.uniform(-1, 1, array.shape)
        elif kind == "b" or (kind in "iu" and size >= 4):
            array[...] = random.integers(0, 2, array.shape)
        elif kind in "iu":
            limits = np.iinfo(array.dtype)
            array[...] = random.integers(limits.min, limits.max + 1, array.shape)
        elif array.dtype.name.startswith(("bfloat16", "float8_", "float4_")):
            array[...] = random.uniform(-1, 1, array.shape).astype(array.dtype)
        made.append(array)
    return made


def golden_examples(program: Program) -> list[tuple[str, dict[str, Any], dict[str, tuple[Any, float]]]]:
    """Examples that travel in the file: method, inputs by name, outputs by name with their tolerances."""
    found: dict[Any, tuple[str, dict[str, Any], dict[str, tuple[Any, float]]]] = {}
    for record in program.golden_records():
        example = found.setdefault((record["method"], record["example"]), (record["method"], {}, {}))
        array = np.frombuffer(record["data"], record["dtype"]).reshape(record["dims"])
        if record["is_output"]:
            example[2][record["name"]] = (array, record["tolerance"])
        else:
            example[1][record["name"]] = array
    return list(found.values())


def _percentile(times: list[float], part: float) -> float:
    rank = int(np.ceil(part * len(times)))
    return times[min(len(times) - 1, max(rank - 1, 0))]


def bench(program: Program, method: str, duration: float, runs: int) -> dict[str, Any]:
    name = method or program.method_names[0]
    inputs = make_inputs(program, method, 1)
    for of_method, arrays, _ in golden_examples(program):
        if of_method == name:  # indices make sense there
            inputs = [arrays[spec["name"]] for spec in program.input_specs(method)]
            break
    begin = time.perf_counter_ns()
    mine = program.clone()
    load_us = (time.perf_counter_ns() - begin) / 1e3
    mine.set_inputs(tuple(inputs), method)
    first = mine.time_runs(method, 1, 0)
    times = sorted(t / 1e3 for t in mine.time_runs(method, runs or 1 << 40, 0 if runs else duration))
    described = program.describe()
    certificate = described["certificate"]
    return {
        "load_us": load_us,
        "first_us": first[0] / 1e3,
        "min_us": times[0],
        "p50_us": _percentile(times, 0.5),
        "p90_us": _percentile(times, 0.9),
        "p99_us": _percentile(times, 0.99),
        "max_us": times[-1],
        "runs": len(times),
        "threads": program.threads,
        "arena_bytes": certificate["arena_bytes"],
        "instance_bytes": certificate["instance_bytes"],
        "scratch_bytes": certificate["scratch_bytes"],
        "allocated_bytes": mine.allocated_bytes,
        "file_bytes": described["file_bytes"],
    }


def _as_array(value: Any) -> np.ndarray[Any, Any]:
    if hasattr(value, "detach"):
        value = value.detach()
    return np.asarray(value).astype(np.float64)


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in _leaves(item)]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value]


class _Output:
    """One output over all samples."""

    def __init__(self, name: str):
        self.name, self.same_type, self.passed = name, True, True
        self.largest_error = self.largest_expected = 0.0

    def compare(self, found: Any, expected: Any, tolerance: float) -> None:
        a, b = _as_array(found), _as_array(expected)
        if a.shape != b.shape:
            self.same_type = self.passed = False
            return
        finite = np.isfinite(b)
        same_specials = bool(np.array_equal(a[~finite], b[~finite], equal_nan=True)) and bool(np.isfinite(a[finite]).all())
        error = float(np.abs(a[finite] - b[finite]).max(initial=0)) if same_specials else float("inf")
        largest = float(np.abs(b[finite]).max(initial=0))
        self.largest_error = max(self.largest_error, error)
        self.largest_expected = max(self.largest_expected, largest)
        self.passed &= error <= max(tolerance * largest, 5e-7 if tolerance > 0 else 0)

    def result(self) -> dict[str, Any]:
        return dict(vars(self))


def _onnxruntime(path: str) -> Callable[[dict[str, Any]], list[Any]] | None:
    try:
        import onnxruntime
    except ImportError:
        return None
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda inputs: session.run(None, inputs)


def _eager(program: Program, module: Any, method: str) -> Callable[[dict[str, Any]], list[Any]]:
    import torch

    from ._structure import Caller

    called = program.method(method or program.method_names[0])

    def run(inputs: dict[str, Any]) -> list[Any]:
        tensors = [torch.as_tensor(array).clone() for array in inputs.values()]
        args, kwargs = called.arguments(tensors) if isinstance(called, Caller) else (tensors, {})
        with torch.no_grad():
            return [leaf for leaf in _leaves(module(*args, **kwargs)) if leaf is not None]

    return run


def _reference(program: Program, reference: Any, method: str) -> tuple[str, Callable[[dict[str, Any]], list[Any]]]:
    if isinstance(reference, Program):
        return "mote", lambda inputs: list(reference.run(inputs, method).values())
    if isinstance(reference, (str, os.PathLike)):
        path = os.fspath(reference)
        run = _onnxruntime(path) if path.endswith(".onnx") else None
        if run is not None:
            return "onnxruntime", run
        from ._compile import compile

        plain = compile(path, no_optimize=True, golden_examples=0)
        return "mote, not optimised", lambda inputs: list(plain.run(inputs, method).values())
    if not callable(reference):
        raise WrongType(f"expected a callable, a model's file or a program as reference, found {type(reference).__qualname__}")
    if hasattr(reference, "named_parameters"):
        return "torch", _eager(program, reference, method)
    return getattr(reference, "__name__", "callable"), lambda inputs: _leaves(reference(*inputs.values()))


def validate(program: Program, reference: Any, inputs: Any, method: str, samples: int, tolerance: float) -> dict[str, Any]:
    results = {spec["name"]: _Output(spec["name"]) for spec in program.output_specs(method)}
    mine = program.clone()
    if reference is None and inputs is None:
        examples = [e for e in golden_examples(program) if e[0] == (method or program.method_names[0])]
        if not examples:
            raise Error("the program carries no examples: give a reference to compare with", code="NotFound")
        for _, given, expected in examples:
            mine.reset_state()
            found = mine.run(given, method)
            for name, (array, allowed) in expected.items():
                results[name].compare(found[name], array, allowed)
        name, count = "examples in the file", len(examples)
    else:
        name, run = _reference(program, reference, method)
        names = [spec["name"] for spec in program.input_specs(method)]
        made = inputs if inputs is not None else [dict(zip(names, make_inputs(program, method, seed + 1))) for seed in range(samples)]
        for one in made:
            mine.reset_state()
            found = mine.run(one, method)
            for output, expected in zip(results.values(), run(one)):
                output.compare(found[output.name], expected, tolerance)
        count = len(made)
    outputs = [r.result() for r in results.values()]
    return {"reference": name, "samples": count, "tolerance": tolerance, "passed": all(o["passed"] for o in outputs), "outputs": outputs}
