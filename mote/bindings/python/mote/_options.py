"""What mote.compile takes, with types, and in what words its messages speak of that."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypedDict

from ._errors import WrongType

Path = str | os.PathLike[str]
Bounds = int | tuple[int, int] | range | str


class InstanceOptions(TypedDict, total=False):
    """What mote.load has too: for the program that comes of a compilation."""

    memory_limit: int
    threads: int
    kernels: str


class ModelOptions(InstanceOptions, total=False):
    """Options of a compilation, for every kind of model. The names are those of `mote compile`."""

    # Sizes
    shape: Mapping[str, Sequence[int] | str]
    dim: Mapping[str, Bounds]
    max_trips: int
    # How it is optimised
    no_fuse: bool
    no_optimize: bool
    exact: bool
    no_winograd: bool
    strips: bool | Literal["auto", "off", "min-memory"]
    # What it is compiled for
    target: str
    ram: int | str
    bank: Mapping[str, int | str]
    io_in_arena: bool
    io: Literal["model", "int8"]
    alignment: int
    strip_names: bool
    audio_frontend: str
    streaming: int | str
    # What travels in the file
    golden: Path | Sequence[Mapping[str, Any]]
    golden_examples: int
    labels: Path | Sequence[str]
    metadata: Mapping[str, str]
    licence: str
    external_weights: Path
    emit_cpp: Path
    # What is told
    print_after: str | Sequence[str]
    time_passes: bool
    # Parts of the user's own (mote.hooks)
    passes: Sequence[Callable[..., Any]]
    late_passes: Sequence[Callable[..., Any]]
    planner: Callable[..., Any]
    partition: Callable[..., Any]
    # Quantizing
    calibrate: Any
    test: Any
    truth: Any
    keep_float: str | Iterable[str]
    calibrate_samples: int
    test_samples: int
    test_skip: int
    observer: str
    percentile: float
    min_sqnr: float
    max_drop: float
    group: int
    smooth: float
    report: Path
    asymmetric: bool
    symmetric: bool
    fixed_point: bool
    int8_everywhere: bool
    no_equalise: bool
    no_adaptive_rounding: bool
    no_bias_correction: bool
    no_weight_scales: bool
    no_weight_pairs: bool


class CompileOptions(ModelOptions, total=False):
    """With those that mote.torch.compile has as parameters."""

    quantize: str | None
    backends: str | Sequence[str] | None
    policy: Any
    example_kwargs: Mapping[str, Any]
    dynamic_shapes: Any
    strict: bool
    custom_ops: Iterable[str]


NAMES = frozenset(ModelOptions.__annotations__) | frozenset(CompileOptions.__annotations__)


def check_names(options: Iterable[str]) -> None:
    """Refuses a name that is none, and says which one was probably meant."""
    for name in options:
        if name in NAMES:
            continue
        near = difflib.get_close_matches(name.removeprefix("--").replace("-", "_").lower(), NAMES, 1, 0.6)
        meant = f": did you mean {near[0]}=?" if near else "; help(mote.compile) lists them"
        raise WrongType(f"there is no option {name}={meant}")
