"""LiteRT's reference kernels and Mote, side by side on the same model and inputs."""

import os
import pathlib
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "models"))
from mote_library import Program  # noqa: E402

F32_TOLERANCE = 1e-4  # of the largest reference value


def interpreter(model, optimized=False):
    """LiteRT on a path or on bytes; allocated."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    kind = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES if optimized else OpResolverType.BUILTIN_REF
    where = {"model_content": model} if isinstance(model, bytes) else {"model_path": str(model)}
    it = Interpreter(experimental_op_resolver_type=kind, **where)
    it.allocate_tensors()
    return it


def litert(it, runs):
    """Outputs of each run, one after the other: state carries over."""
    out = []
    for arrays in runs:
        for d, x in zip(it.get_input_details(), arrays):
            it.set_tensor(d["index"], x)
        it.invoke()
        out.append([it.get_tensor(d["index"]) for d in it.get_output_details()])
    return out


def mote(command, library, model, folder, runs):
    """The same from Mote: compiled, then run through the library. Raises RuntimeError with the compiler's text."""
    program = pathlib.Path(folder) / (pathlib.Path(model).stem + ".mote")
    made = subprocess.run([command, "compile", model, "-o", program], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise RuntimeError(made.stderr.strip()[-400:] or f"mote compile ended with {made.returncode}")
    p = Program(library, program)
    return [p.run(*arrays) for arrays in runs]


def difference(expected, found):
    """(exact, largest error by the largest expected value, text): integers count in steps. text tells of other types or shapes."""
    exact, worst = True, 0.0
    for a, b in zip(expected, found):
        if len(a) != len(b):
            return False, np.inf, f"{len(b)} outputs instead of {len(a)}"
        for x, y in zip(a, b):
            if x.shape != y.shape or x.dtype != y.dtype:
                return False, np.inf, f"{y.dtype}{list(y.shape)} instead of {x.dtype}{list(x.shape)}"
            if np.array_equal(x, y, equal_nan=x.dtype.kind == "f"):
                continue
            exact = False
            p, q = x.astype(np.float64), y.astype(np.float64)
            largest = max(np.nanmax(np.abs(p)), 1e-30) if x.dtype.kind == "f" else 1.0
            worst = max(worst, float(np.nanmax(np.abs(p - q)) / largest))
    return exact, worst, ""


def agrees(expected, found):
    """None when integers agree to the bit and floats within the tolerance, else what differs."""
    for real in (False, True):
        exact, worst, text = difference(*([[x for x in run if (x.dtype.kind == "f") == real] for run in r] for r in (expected, found)))
        if text or not (exact or (real and worst <= F32_TOLERANCE)):
            return text or f"largest difference {worst:.3g}"
    return None


def random_inputs(details, rng, least=-2.0, most=2.0):
    """Arrays of the given (shape, dtype); floats between least and most, narrow integers over their range."""
    out = []
    for shape, dtype in details:
        dtype = np.dtype(dtype)
        if dtype.kind == "f":
            out.append(rng.uniform(least, most, shape).astype(dtype))
        elif dtype.kind == "b":
            out.append(rng.integers(0, 2, shape).astype(bool))
        elif dtype.itemsize >= 4:
            out.append(rng.integers(1, 9, shape).astype(dtype))
        else:
            i = np.iinfo(dtype)
            out.append(rng.integers(i.min, i.max + 1, shape).astype(dtype))
    return out
