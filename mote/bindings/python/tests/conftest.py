"""Models that the tests share. They are written here: tests need no files."""

from __future__ import annotations

import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[4]


@pytest.fixture(scope="session")
def digits_onnx() -> pathlib.Path:
    """The bundled model."""
    return ROOT / "examples" / "digits" / "digits.onnx"


@pytest.fixture(scope="session")
def keyword() -> pathlib.Path:
    """A model of sounds, its labels, and two sounds."""
    return ROOT / "examples" / "tiny" / "keyword"


@pytest.fixture(scope="session")
def digits(digits_onnx):
    import mote

    folder = digits_onnx.parent
    return mote.compile(digits_onnx, golden=folder / "golden", labels=folder / "labels.txt", metadata={"name": "digits"})


def _model(nodes, inputs, outputs, initializers=()):
    helper = pytest.importorskip("onnx").helper
    graph = helper.make_graph(nodes, "test", inputs, outputs, list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.fixture(scope="session")
def add_mul():
    """(a + b, a * b), f32 (2, 3)."""
    onnx = pytest.importorskip("onnx")
    value = lambda name: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2, 3])
    nodes = [onnx.helper.make_node("Add", ["a", "b"], ["sum"]), onnx.helper.make_node("Mul", ["a", "b"], ["product"])]
    return _model(nodes, [value("a"), value("b")], [value("sum"), value("product")])


@pytest.fixture(scope="session")
def open_rows():
    """relu(x) - 1 over (rows, 4), rows open."""
    onnx = pytest.importorskip("onnx")
    value = lambda name: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["rows", 4])
    one = onnx.helper.make_tensor("one", onnx.TensorProto.FLOAT, [], [1.0])
    nodes = [onnx.helper.make_node("Relu", ["x"], ["r"]), onnx.helper.make_node("Sub", ["r", "one"], ["y"])]
    return _model(nodes, [value("x")], [value("y")], [one])
