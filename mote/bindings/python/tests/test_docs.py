"""The Python of docs/coming-from.md runs, and gives what the page says."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[4]


def test_coming_from(monkeypatch):
    pytest.importorskip("onnxruntime")
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "coming-from.md").read_text(), re.S | re.M)
    assert len(blocks) >= 3
    scope = {}
    for block in blocks:
        exec(compile(block, "docs/coming-from.md", "exec"), scope)
    assert scope["ours"].argmax() == 7
