"""Small TOSA graphs through the serializer of tosa-tools, run by its reference model and by Mote."""
import os
import pathlib
import subprocess
import sys

import ml_dtypes
import numpy as np
import tosa_reference_model
import tosa_serializer as ts

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "models"))
import mote_library  # noqa: E402

mote_library.DTYPES[4] = ml_dtypes.bfloat16
D = ts.DType
NUMPY = {D.BOOL: np.bool_, D.INT4: np.int8, D.INT8: np.int8, D.INT16: np.int16, D.INT32: np.int32, D.INT48: np.int64, D.FP32: np.float32,
         D.FP16: np.float16, D.BF16: ml_dtypes.bfloat16}
SHORT = {"bool": D.BOOL, "i4": D.INT4, "i8": D.INT8, "i16": D.INT16, "i32": D.INT32, "i48": D.INT48, "f32": D.FP32, "f16": D.FP16,
         "bf16": D.BF16}
FLOATS = ("f32", "f16", "bf16")
PROPAGATE, IGNORE = ts.NanPropagationMode.PROPAGATE, ts.NanPropagationMode.IGNORE


def attribute(name, *args):
    a = ts.TosaSerializerAttribute()
    getattr(a, name + "Attribute")(*args)
    return a


def random(rng, shape, kind, lo=None, hi=None):
    """Over the whole range of narrow integers, 2^20 either way for wide ones, -3 to 3 for floats, unless lo and hi say otherwise."""
    dtype = NUMPY[SHORT[kind]]
    if kind == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if kind in FLOATS:
        return rng.uniform(-3 if lo is None else lo, 3 if hi is None else hi, shape).astype(dtype)
    bits = {"i4": 3, "i8": 7, "i16": 15, "i32": 20, "i48": 28}[kind]
    return rng.integers(-(1 << bits) if lo is None else lo, (1 << bits if hi is None else hi + 1), shape).astype(dtype)


class Graph:
    """One region; inputs and their arrays are kept in order."""

    def __init__(self, minor=0):
        self.ser = ts.TosaSerializer("", ts.ConstMode.EMBED, 1, minor, 0, minor > 0)
        self.arrays, self.outputs = [], []

    def input(self, array, kind):
        tensor = self.ser.addPlaceholder(list(array.shape), SHORT[kind], None)
        self.arrays.append(array)
        return tensor.name

    def random(self, rng, shape, kind, lo=None, hi=None):
        return self.input(random(rng, shape, kind, lo, hi), kind)

    def const(self, array, kind):
        array = np.asarray(array, NUMPY[SHORT[kind]])
        return self.ser.addConst(list(array.shape), SHORT[kind], array).name

    def zero(self, value, kind):
        return self.const([value], kind)

    def shape(self, sizes):
        return self.ser.addConst([len(sizes)], D.SHAPE, np.asarray(sizes, np.int64)).name

    def op(self, code, attr, inputs, shape, kind, result=True):
        kinds = kind if isinstance(kind, list) else [kind]
        shapes = shape if isinstance(kind, list) else [shape]
        add = self.ser.addOutput if result else self.ser.addIntermediate
        names = [add(list(s), SHORT[k]).name for s, k in zip(shapes, kinds)]
        if result:
            self.outputs += list(zip(shapes, kinds))
        self.ser.addOperator(getattr(ts.Op, code), inputs, names, attr)
        return names if isinstance(kind, list) else names[0]

    def op48(self, rng, code, attr, inputs, shape):
        """INT48 does not leave the reference model: a RESCALE to INT32 follows, with a shift that drops some low bits."""
        sums = self.op(code, attr, inputs, shape, "i48", False)
        extra = int(rng.integers(0, 16))
        rescale = attribute("Rescale", False, ts.RoundingMode.SINGLE_ROUND, False, False, False)
        scale = [self.const([1 << 14], "i16"), self.const([14 + extra], "i8"), self.zero(0, "i48"), self.zero(0, "i32")]
        return self.op("RESCALE", rescale, [sums] + scale, shape, "i32")

    def sums(self, rng, code, attr, inputs, shape, kind):
        return self.op48(rng, code, attr, inputs, shape) if kind == "i48" else self.op(code, attr, inputs, shape, kind)

    def bytes(self):
        return self.ser.serialize()


def quietly(f, *args):
    """The reference model reports on stderr by itself."""
    sys.stderr.flush()
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        return f(*args)
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)


def reference(data, runs, outputs):
    """What the reference model computes for each run; None where it calls the arguments unpredictable."""
    os.environ["PATH"] = ""  # it looks for a debugger when a graph is refused
    found = []
    for arrays in runs:
        stored = [a.view(np.uint16) if a.dtype == ml_dtypes.bfloat16 else a for a in arrays]
        raw, status = quietly(tosa_reference_model.run, data, stored)
        if status == tosa_reference_model.GraphStatus.TOSA_UNPREDICTABLE:
            return None
        if status != tosa_reference_model.GraphStatus.TOSA_VALID:
            raise ValueError(f"the reference model refuses the graph: {status}")
        found.append([np.frombuffer(r.tobytes(), NUMPY[SHORT[k]]).reshape(s) for r, (s, k) in zip(raw, outputs)])
    return found


def compile_model(command, path, out, *options):
    made = subprocess.run([command, "compile", path, "-o", out, *options], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise RuntimeError(made.stderr.strip()[-600:] or f"mote compile ended with {made.returncode}")


def mote(command, library, data, folder, runs):
    """The same from Mote: compiled, then run through the library. Raises RuntimeError with the compiler's text."""
    path, program = os.path.join(folder, "case.tosa"), os.path.join(folder, "case.mote")
    with open(path, "wb") as file:
        file.write(data)
    compile_model(command, path, program)
    p = mote_library.Program(library, program)
    return [p.run(*arrays) for arrays in runs]


TOLERANCE = {np.dtype(np.float32): 1e-5, np.dtype(np.float16): 4e-3, np.dtype(ml_dtypes.bfloat16): 2e-2}


def difference(expected, found, loose=1.0):
    """None when integers agree to the bit and floats within the tolerance of their type, else what differs."""
    for a, b in zip(expected, found):
        if len(a) != len(b):
            return f"{len(b)} outputs instead of {len(a)}"
        for x, y in zip(a, b):
            if x.shape != y.shape or x.dtype != y.dtype:
                return f"{y.dtype}{list(y.shape)} instead of {x.dtype}{list(x.shape)}"
            if x.dtype not in TOLERANCE:
                if not np.array_equal(x, y):
                    bad = np.argwhere(x != y)[0]
                    return f"{int((x != y).sum())} of {x.size} elements differ: {x[tuple(bad)]} expected, {y[tuple(bad)]} found"
                continue
            p, q = x.astype(np.float64), y.astype(np.float64)
            if not np.array_equal(np.isnan(p), np.isnan(q)):
                return "NaN in other places"
            same = (p == q) | np.isnan(p)
            largest = np.max(np.abs(p[np.isfinite(p)]), initial=1e-30)
            worst = np.max(np.abs(p[~same] - q[~same]), initial=0.0) / largest
            if not worst <= TOLERANCE[x.dtype] * loose:
                return f"largest difference {worst:.3g}"
    return None


