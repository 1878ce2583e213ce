"""mote.compile(emit_cpp=...), and from PyTorch to a firmware on QEMU's board."""

import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import mote

ROOT = pathlib.Path(__file__).resolve().parents[4]


def test_source_beside_the_program(digits_onnx, tmp_path):
    program = mote.compile(digits_onnx, target="cortex-m4", emit_cpp=tmp_path / "digits.cc")
    header = (tmp_path / "digits.h").read_text()
    cpp = program.compiled["cpp"]
    assert cpp["name"] == "digits" and cpp["constant_bytes"] > 0
    assert int(re.search(r"arena_bytes = (\d+)", header)[1]) == cpp["ram_bytes"]
    assert "run(" in (tmp_path / "digits.cc").read_text()
    image = np.load(digits_onnx.parent / "input_7.npy")
    assert program(image).argmax() == 7


def test_what_cannot_become_source(open_rows, tmp_path):
    with pytest.raises(mote.Error, match="known only when"):
        mote.compile(open_rows, dim={"rows": (1, 4)}, target="cortex-m4", emit_cpp=tmp_path / "m.cc")
    with pytest.raises(mote.Error, match="nowhere"):
        mote.compile(open_rows, dim={"rows": 4}, target="cortex-m4", emit_cpp=tmp_path / "nowhere" / "m.cc")


@pytest.mark.parametrize("board", ["m4", "m55"])
def test_torch_to_board(board):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    for tool in ("make", "arm-none-eabi-g++", "qemu-system-arm"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    script = ROOT / "examples" / "torch_to_board" / "torch_to_board.py"
    done = subprocess.run([sys.executable, script, "--board", board], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the same bits" in done.stdout
    right = [float(share) for share in re.findall(r"\(([\d.]+) %\)", done.stdout)]
    assert len(right) == 3 and right[0] > 95 and right[1] == right[2] > right[0] - 1, done.stdout
