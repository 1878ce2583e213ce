"""Backends from Python: which may be loaded, policy, where a program runs. Devices are tests/install's matter."""

import numpy as np
import pytest

import mote


def test_a_program_says_where_it_runs(digits_onnx):
    program = mote.compile(digits_onnx)
    assert [part["backend"] for part in program.parts] == ["cpu"]
    assert program.parts[0]["runs_on"] == "cpu"
    assert program.degraded == ""


def test_its_examples_come_out(digits_onnx):
    program = mote.compile(digits_onnx, golden_examples=2)
    x = program.empty_inputs()[0]
    program(x)  # the caller's arrays are bound then
    found = program.self_test()
    assert found["passed"] and found["outputs"] == 2 and found["failed"] == 0
    assert found["largest_error"] < 1e-5


def test_what_is_required_must_be_so(digits_onnx, tmp_path):
    path = tmp_path / "d.mote"
    mote.compile(digits_onnx).save(path)
    mote.load(path, require=["cpu"], fallback=False)
    with pytest.raises(mote.Error, match="elsewhere than the caller requires: 'cpu'") as raised:
        mote.load(path, require=["opencl"])
    assert raised.value.code == "Policy" and raised.value.why == "PlacedElsewhere"
    assert raised.value.op


def test_only_names_and_absolute_paths(digits_onnx, tmp_path, monkeypatch):
    path = tmp_path / "d.mote"
    mote.compile(digits_onnx).save(path)
    (tmp_path / "libmote_mine.so").write_bytes(b"no library")
    monkeypatch.chdir(tmp_path)
    for name in ("./libmote_mine.so", "libmote_mine.so", "../mine", ""):
        with pytest.raises(ValueError, match="expected the name of a backend"):
            mote.load(path, backends=[name])
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        mote.load(path, backends=["mine"])
    with pytest.raises(mote.Error, match="cannot be loaded"):
        mote.load(path, backends=[str(tmp_path / "libmote_mine.so")])
    with pytest.raises(TypeError, match="expected a list of names"):
        mote.load(path, backends="opencl")


def test_backends_of_this_package_load(digits_onnx, tmp_path):
    path = tmp_path / "d.mote"
    mote.compile(digits_onnx).save(path)
    try:
        found = mote.backend_info(["opencl"])
    except FileNotFoundError:
        pytest.skip("built without OpenCL")
    assert [b["name"] for b in found] == ["opencl", "opencl_f16", "opencl_f16a"]
    program = mote.load(path, backends=["opencl", "opencl_f16"], threads=2)
    (y,) = program.run({program.inputs[0]["name"]: program.empty_inputs()[0]}).values()
    np.testing.assert_array_equal(y, mote.load(path)(program.empty_inputs()[0]))
    assert program.clone().degraded == ""
