"""8-bit floats and types below 8 bits: codes in programs, arrays of ml_dtypes in Python."""

import pytest

onnx = pytest.importorskip("onnx")
ml_dtypes = pytest.importorskip("ml_dtypes")
import mote  # noqa: E402
import numpy as np  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402


def _cast(source, target):
    node = helper.make_node("Cast", ["x"], ["y"], to=target)
    border = [helper.make_tensor_value_info(name, element, [4]) for name, element in (("x", source), ("y", target))]
    graph = helper.make_graph([node], "g", border[:1], border[1:])
    return mote.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=12))


def test_floats_go_in_and_out_as_ml_dtypes():
    program = _cast(TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT4E2M1)
    assert program.inputs[0]["dtype"] == "u8" and program.inputs[0]["element"] == "float8e4m3fn"
    x = np.array([1, -6, 0.5, 448], ml_dtypes.float8_e4m3fn)
    for given in (x, x.view(np.uint8), [1, -6, 0.5, 448], np.stack([x, x], 1)[:, 0]):
        y = program(given)
        assert y.dtype == ml_dtypes.float4_e2m1fn
        assert y.astype(np.float32).tolist() == [1, -6, 0.5, 6]
    with pytest.raises(mote.Error, match="u8"):
        program(x.astype(np.float32))
    with pytest.raises(mote.Error):
        program(x.astype(ml_dtypes.float8_e5m2))


def test_integers_are_numbers():
    program = _cast(TensorProto.INT4, TensorProto.INT2)
    for given in (np.array([-8, -1, 1, 7], ml_dtypes.int4), np.array([-8, -1, 1, 7], np.int8)):
        y = program(given)
        assert y.dtype == np.int8 and y.tolist() == [0, -1, 1, -1]
    assert program.outputs[0]["element"] == "int2"


def test_numbers_without_a_type():
    program = _cast(TensorProto.FLOAT, TensorProto.FLOAT8E5M2)
    assert program(np.array([1e9, -3, 0, np.inf], np.float32)).astype(np.float32).tolist() == [57344, -3, 0, 57344]
    assert program.bench(runs=2)["runs"] == 2
