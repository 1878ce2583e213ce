"""Options that quantize, and their data as files."""

from __future__ import annotations

import os
import pathlib
import tempfile
from collections.abc import Iterable, Mapping
from typing import Any

from ._errors import Error, WrongType

# Names of `mote compile`'s options, with - for _.
OPTIONS = (
    "calibrate_samples",
    "test_samples",
    "test_skip",
    "observer",
    "percentile",
    "min_sqnr",
    "max_drop",
    "group",
    "smooth",
    "report",
    "asymmetric",
    "symmetric",
    "fixed_point",
    "int8_everywhere",
    "no_equalise",
    "no_adaptive_rounding",
    "no_bias_correction",
    "no_weight_scales",
    "no_weight_pairs",
)
DATA = ("calibrate", "test", "truth", "keep_float")


class QuantizeOptions:
    """What compile() was given for quantizing, as words; data that is no path lies in a folder of its own until this is gone."""

    def __init__(self, scheme: Any, options: dict[str, Any]):
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        given = {name: options.pop(name) for name in (*OPTIONS, *DATA) if name in options}
        self.words: list[str] = []
        if scheme is None:
            if given:
                raise Error(f"{', '.join(given)}: expected quantize= beside it, found none")
            return
        self.words = ["--quantize", str(scheme)]
        for name in ("calibrate", "test"):
            if given.get(name) is not None:
                self.words += ["--" + name, self._samples(name, given[name])]
        if given.get("truth") is not None:
            self.words += ["--truth", self._labels(given["truth"])]
        for name in OPTIONS:
            value = given.get(name)
            if value is None or value is False:
                continue
            self.words.append("--" + name.replace("_", "-"))
            if value is not True:
                self.words.append(os.fspath(value) if isinstance(value, os.PathLike) else str(value))
        kept = given.get("keep_float") or []
        self.words += [f"--keep-float={node}" for node in ([kept] if isinstance(kept, str) else kept)]

    def _place(self, name: str) -> pathlib.Path:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="mote-")
        place = pathlib.Path(self._folder.name) / name
        place.mkdir()
        return place

    def _samples(self, name: str, data: Any) -> str:
        """A path as it is; else an array with samples along its first axis, or samples: arrays, or dicts of arrays by input."""
        if isinstance(data, (str, os.PathLike)):
            return os.fspath(data)
        import numpy

        if not isinstance(data, Iterable) or isinstance(data, Mapping):
            raise WrongType(f"{name}: expected a folder, an array or samples, found {type(data).__qualname__}")
        place = self._place(name)
        if hasattr(data, "__array__"):
            numpy.save(place / "all.npy", numpy.asarray(data))
            return str(place)
        for i, sample in enumerate(data):
            if isinstance(sample, Mapping):
                (place / f"{i:08}").mkdir()
                for key, value in sample.items():
                    numpy.save(place / f"{i:08}" / f"{key}.npy", numpy.asarray(value))
            elif hasattr(sample, "__array__") or hasattr(sample, "__dlpack__"):
                numpy.save(place / f"{i:08}.npy", numpy.asarray(sample))
            else:
                raise WrongType(f"{name}: sample {i}: expected an array or a dict of arrays by input, found {type(sample).__qualname__}")
        return str(place)

    def _labels(self, truth: Any) -> str:
        if isinstance(truth, (str, os.PathLike)):
            return os.fspath(truth)
        import numpy

        path = self._place("truth") / "labels.npy"
        numpy.save(path, numpy.asarray(truth, dtype=numpy.int64))
        return str(path)
