"""mypy sees the options: names and types are checked before anything runs."""

import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("mypy")

PACKAGE = pathlib.Path(__file__).resolve().parents[1] / "mote"

RIGHT = """
import mote

p = mote.compile("m.onnx", dim={"n": (1, 8), "b": 1}, shape={"x": (1, 3)}, no_fuse=True, ram="64k", labels=["a"], threads=2)
q = mote.compile(b"", quantize="int8", calibrate="images", max_drop=0.5, strips="min-memory", bank={"sram": 65536})
n: int = mote.load("p.mote", threads=2).allocated_bytes
"""

WRONG = """
import mote

mote.compile("m.onnx", no_fuze=True)
mote.compile("m.onnx", dim={"n": 1.5})
mote.compile("m.onnx", shape=(1, 3))
mote.compile("m.onnx", threads="2")
mote.compile("m.onnx", strips="always")
mote.load("p.mote", thread=2)
"""


def _check(tmp_path, text):
    path = tmp_path / "use.py"
    path.write_text(text)
    # The types of other packages are theirs to check.
    config = tmp_path / "mypy.ini"
    skipped = "".join(f"[mypy-{name}.*]\nfollow_imports = skip\nignore_errors = True\n" for name in ("numpy", "torch"))
    config.write_text("[mypy]\n" + skipped)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--config-file", str(config)]
    ran = subprocess.run(command + ["--cache-dir", str(tmp_path / "cache"), str(path)], capture_output=True, text=True, cwd=tmp_path,
                         env={"MYPYPATH": str(PACKAGE.parent), "PATH": "/usr/bin:/bin"})
    return "".join(line + "\n" for line in ran.stdout.splitlines() if line.startswith("use.py"))


def test_options_have_types(tmp_path):
    assert _check(tmp_path, RIGHT) == ""
    said = _check(tmp_path, WRONG)
    lines = {int(line.split(":")[1]) for line in said.splitlines() if ": error:" in line}
    assert lines == set(range(4, 10)), said
