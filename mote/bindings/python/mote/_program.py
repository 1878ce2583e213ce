"""Programs: loading, running, looking at them."""

from __future__ import annotations

import os
import pathlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import _mote
from ._errors import Error, NoSuchFile, WrongType
from ._run import Run, start


class Program(_mote.Program):
    """A compiled program with memory to run in.

    `program(x, y)` and `program(x=x, y=y)` run the first method on arrays, in place, and give new arrays of the same library: torch
    tensors give torch tensors, everything else numpy arrays; one output bare, several as a tuple. Threads take turns; `clone()` is for
    running at the same time. State (of recurrent models, caches) lives in the program object.
    """

    #: What the compiler said of it, for programs that were just compiled: frontend, log, notes, peak_bytes, lower_bound_bytes, stages_s.
    compiled: dict[str, Any] | None = None

    def __init__(self, image: _mote.Image, memory_limit: int = 0, threads: int = 1, kernels: str = ""):
        super().__init__(image, memory_limit, threads, kernels)
        self.memory_limit, self.threads, self.kernels = memory_limit, threads, kernels
        self._output_names: dict[str, list[str]] = {}

    @staticmethod
    def of(image: _mote.Image, **instance: Any) -> Program:
        """A program on a verified file; called like the module it was made of, where the file says how that is called."""
        from ._structure import StructuredProgram, is_structured

        return StructuredProgram(image, **instance) if is_structured(image) else Program(image, **instance)

    def run(self, inputs: Mapping[str, Any], method: str = "", *, timeout_us: float = 0, max_steps: int = 0) -> dict[str, Any]:
        """Runs a method on arrays by the inputs' names and gives the outputs by theirs."""
        names = self._output_names.get(method)
        if names is None:
            names = self._output_names[method] = [spec["name"] for spec in self.output_specs(method)]
        found = self.call_with((), dict(inputs), method, timeout_us, max_steps, None)
        return dict(zip(names, (found,) if len(names) == 1 else found))

    def run_async(self, *args: Any, method: str = "", **names: Any) -> Run:
        """Runs on a thread of the library: gives a future that can also be awaited, with what a call would have given.

        The arrays are used in place: leave them alone until it is done.
        """
        return start(self, lambda cancel: self._call(args, names, method, cancel))

    def _call(self, args: tuple[Any, ...], names: dict[str, Any], method: str, cancel: _mote.Cancel | None) -> Any:
        return self.call_with(args, names, method, 0, 0, cancel)

    def bind(self, *inputs: Any, outputs: Any = None, method: str = "") -> _mote.Bound:
        """Binds arrays to inputs and outputs once; calling the result runs and does nothing else.

        Arrays that are not given are made. `bound.inputs` and `bound.outputs` have them all: write into the ones, read from the others.
        """
        results = [outputs] if outputs is not None and not isinstance(outputs, (list, tuple)) else list(outputs or [])
        made = tuple(inputs) or tuple(self.empty_inputs(method))
        return _mote.Bound(self, method, made, tuple(results) or tuple(self.empty_outputs(method)))

    def clone(self) -> Program:
        """Another instance of the same program, with state of its own. The file and its weights are shared."""
        other = type(self)(self.image, self.memory_limit, self.threads, self.kernels)
        other.__dict__.update(self.__dict__)
        return other

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the program to a file, whole or not at all."""
        path = os.fspath(path)
        partial = path + ".tmp"
        try:
            if self.image.path:
                if os.path.exists(path) and os.path.samefile(self.image.path, path):
                    return
                shutil.copyfile(self.image.path, partial)
            else:
                pathlib.Path(partial).write_bytes(self.image.data())
            os.replace(partial, path)
        except OSError as error:
            raise Error(f"{path}: the program cannot be written: {error.strerror}", code="Io") from error

    def inspect(self, instructions: bool = False) -> dict[str, Any]:
        """What the program holds and needs, with the fields of `mote inspect --json`."""
        described = self.describe()
        if not instructions:
            del described["instructions"]
        return described

    @property
    def inputs(self) -> list[dict[str, Any]]:
        """The first method's inputs: name, dtype, dims, dynamic_axes, bytes."""
        return self.input_specs()

    @property
    def outputs(self) -> list[dict[str, Any]]:
        """The first method's outputs, likewise."""
        return self.output_specs()

    @property
    def methods(self) -> dict[str, Callable[..., Any]]:
        """The methods by their names, to be called like the program. They share its state."""
        return {name: self.method(name) for name in self.method_names}

    def bench(self, method: str = "", *, duration: float = 1.0, runs: int = 0) -> dict[str, Any]:
        """Measures runs on inputs of its own, as `mote bench` does; times in microseconds."""
        from ._measure import bench

        return bench(self, method, duration, runs)

    def validate(
        self, reference: Any = None, inputs: Any = None, *, method: str = "", samples: int = 3, tolerance: float = 1e-4
    ) -> dict[str, Any]:
        """Compares the program with a reference: without one, with the examples that travel in the file.

        `reference`: a callable (such as the torch module), the model's file (run by ONNX Runtime where it is installed, otherwise compiled
        without optimisation), or another program. `inputs`: a list of dicts of arrays; made up otherwise. `tolerance` is of the largest
        expected value. Gives `passed`, `reference`, `samples` and, for each output, `name`, `largest_error`, `largest_expected`, `passed`.
        """
        from ._measure import validate

        return validate(self, reference, inputs, method, samples, tolerance)

    def __repr__(self) -> str:
        def texts(specs: list[dict[str, Any]]) -> str:
            return ", ".join(f"{s['name']}: {s['dtype']}{s['dims']}" for s in specs)

        return f"<mote.Program {texts(self.inputs)} -> {texts(self.outputs)}>"


def _has_buffer(source: Any) -> bool:
    try:
        memoryview(source)
    except TypeError:
        return False
    return True


def names_of(option: str, names: Sequence[str]) -> list[str]:
    """A list of names; one text would be a list of letters."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise WrongType(f"{option}: expected a list of names, as in [\"opencl\"], found {names!r}")
    return list(names)


def load(
    source: Any,
    *,
    weights: str | os.PathLike[str] | None = None,
    verify_digests: bool = False,
    memory_limit: int = 0,
    threads: int = 1,
    kernels: str = "",
    backends: Sequence[str] = (),
    require: Sequence[str] | None = None,
    fallback: bool = True,
) -> Program:
    """Opens a program: a file, which is mapped and must not change while in use, or its bytes.

    `weights`: file of external weights. `verify_digests`: compare every byte with the digests in the file. `memory_limit`: most bytes that
    the program may allocate. `threads` share the work of one run. `kernels`: an instruction set of mote.kernel_names(); by default the most
    able one of this machine. `backends`: those the program may use besides the CPU ("opencl", "xnnpack", or a plug-in's absolute path);
    they are loaded from the folder of this package. `require`: every operator must have been compiled for one of these. `fallback=False`: a
    part whose device is not there is an error, also where the program has it for the CPU, too; `program.degraded` says whether it is used.
    """
    for path in (source, weights):
        if isinstance(path, (str, os.PathLike)) and not os.path.exists(path):
            raise NoSuchFile(f"{os.fspath(path)}: no such file", code="Io", why="FileOpen")
    if not isinstance(source, (str, os.PathLike)) and not _has_buffer(source):
        raise WrongType(f"expected a program's file or its bytes, found {type(source).__qualname__}")
    options = {
        "weights": os.fspath(weights) if weights is not None else "",
        "verify_digests": verify_digests,
        "memory_limit": memory_limit,
        "backends": names_of("backends", backends),
        "require": names_of("require", require or ()),
        "fallback": fallback,
    }
    image = _mote.open_path(os.fspath(source), options) if isinstance(source, (str, os.PathLike)) else _mote.open_buffer(source, options)
    return Program.of(image, memory_limit=memory_limit, threads=threads, kernels=kernels)
