"""Random numbers of ONNX's operators: how they are distributed, that every run gives others, and that a program begun anew gives the
same: python random_numbers.py MOTE LIBRARY."""
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper
except ImportError as e:
    print("skipped: the Python package is missing: %s" % e)
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "models"))
from mote_library import Program  # noqa: E402

COUNT = 20001  # no multiple of a block
LOGITS = np.log(np.tile(np.array([[0.1, 0.6, 0.3]], np.float32), (2, 1)))


def model(op, x=None, kind=TensorProto.FLOAT, **attrs):
    inputs = [] if x is None else [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)]
    node = helper.make_node(op, ["x"] if inputs else [], ["y"], name="draw", **attrs)
    graph = helper.make_graph([node], "m", inputs, [helper.make_tensor_value_info("y", kind, None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def near(found, expected, deviation, count):
    """Within five deviations of a mean."""
    return abs(found - expected) <= 5 * deviation / count ** 0.5


def normal(y, mean, scale):
    z = (y.astype(np.float64).ravel() - mean) / scale
    within = near((np.abs(z) < 1).mean(), 0.682689, 0.466, z.size)
    return within and near(z.mean(), 0, 1, z.size) and near((z ** 2).mean(), 1, 2 ** 0.5, z.size)


def uniform(y, low, high):
    z = (y.astype(np.float64).ravel() - low) / (high - low)
    inside = z.min() >= 0 and z.max() <= 1
    alone = near(np.corrcoef(z[:-1], z[1:])[0, 1], 0, 1, z.size)  # of its neighbour
    return inside and alone and near(z.mean(), 0.5, 12 ** -0.5, z.size) and near((z ** 2).mean(), 1 / 3, 0.3, z.size)


def shares(y, expected):
    return all(near((y == k).mean(), p, (p * (1 - p)) ** 0.5, y.size) for k, p in enumerate(expected))


CASES = [
    ("RandomNormal", None, dict(shape=[COUNT], mean=2.0, scale=3.0), lambda y: normal(y, 2, 3)),
    ("RandomNormal seed", None, dict(shape=[3, COUNT], seed=7.0), lambda y: normal(y, 0, 1)),
    ("RandomNormalLike", np.zeros((5, COUNT), np.float32), {}, lambda y: normal(y, 0, 1)),
    ("RandomUniform", None, dict(shape=[COUNT], low=-1.0, high=4.0), lambda y: uniform(y, -1, 4)),
    ("RandomUniformLike", np.zeros((5, COUNT), np.float32), dict(dtype=TensorProto.DOUBLE), lambda y: uniform(y, 0, 1)),
    ("Bernoulli", np.full((2, COUNT), 0.2, np.float32), dict(dtype=TensorProto.INT32), lambda y: shares(y, [0.8, 0.2])),
    ("Multinomial", LOGITS, dict(sample_size=COUNT), lambda y: shares(y, [0.1, 0.6, 0.3])),
]


def wrong(mote, library, folder, name, x, attrs, fits):
    op = name.split()[0]
    kind = attrs.get("dtype", TensorProto.INT32 if op == "Multinomial" else TensorProto.FLOAT)
    path = pathlib.Path(folder) / "m.onnx"
    path.write_bytes(model(op, x, kind, **attrs).SerializeToString())
    made = subprocess.run([mote, "compile", path, "-o", path.with_suffix(".mote")], capture_output=True, text=True)
    if made.returncode != 0:
        return made.stderr
    fed = [] if x is None else [x]
    first, again = (Program(library, path.with_suffix(".mote")) for _ in range(2))
    runs = [first.run(*fed)[0] for _ in range(3)]
    if not all(fits(y) for y in runs):
        return "not distributed as the operator says"
    if np.array_equal(runs[0], runs[1]):
        return "two runs give the same numbers"
    return None if np.array_equal(runs[0], again.run(*fed)[0]) else "a program begun anew gives other numbers"


def main(mote, library):
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            why = wrong(mote, library, folder, *case)
            if why:
                print("FAILED %s: %s" % (case[0], why))
                failed += 1
    print("%d cases, %d failed" % (len(CASES), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
