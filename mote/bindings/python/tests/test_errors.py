"""Errors are Python's own kinds, and speak Python."""

import pathlib
import random
import re

import pytest

import mote
from mote._options import NAMES
from mote._words import in_python

ROOT = pathlib.Path(__file__).resolve().parents[4]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("bound it with --dim batch=1..8", "bound it with dim={'batch': (1, 8)}"),
        ("for example --dim batch=1 --dim x.1=1..16", "for example dim={'batch': 1, 'x.1': (1, 16)}"),
        ("fix it with --shape x=1x3x224x224.", "fix it with shape={'x': (1, 3, 224, 224)}."),
        ("--shape s=scalar", "shape={'s': ()}"),
        ("bound them with --dim NAME.AXIS=MIN..MAX", "bound them with dim={'NAME.AXIS': (MIN, MAX)}"),
        ("leave --exact, --no-fuse and --no-optimize away", "leave exact=True, no_fuse=True and no_optimize=True away"),
        ("--target: expected a description", "target: expected a description"),
        ("needs --strips auto -- or so", "needs strips= auto -- or so"),
        ("--dim cols", "dim['cols']"),
        ("a-b --", "a-b --"),
    ],
)
def test_words(said, meant):
    assert in_python(said) == meant


def test_open_sizes_are_asked_for_in_python(open_rows):
    with pytest.raises(mote.CompileError) as raised:
        mote.compile(open_rows, dim={"cols": (1, 8)})
    texts = [str(raised.value), *(word for problem in raised.value.problems for word in problem)]
    assert not [t for t in texts if re.search(r"(^|\s)--[a-z]", t)], texts


def test_damaged_names_that_are_not_utf8():
    """A damaged model is reported like any other; bytes that are no text are written out."""
    whole = (ROOT / "tests/torch/fixtures/cache/model.pt2").read_bytes()
    said = []
    for seed in range(100):
        damaged, chance = bytearray(whole), random.Random(seed)
        for _ in range(8):
            damaged[chance.randrange(len(damaged))] = chance.choice((0xFF, 0x80, 0xC3))
        try:
            mote.compile(bytes(damaged), golden_examples=0)
        except mote.Error as error:
            said.append(str(error))
    assert [text for text in said if r"\x" in text]


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"no_fuze": True}, TypeError, "no option no_fuze=: did you mean no_fuse=?"),
        ({"dims": {"rows": 4}}, TypeError, "did you mean dim=?"),
        ({"quantise": "int8"}, TypeError, "did you mean quantize=?"),
        ({"thread": 2}, TypeError, "did you mean threads=?"),
        ({"xyzzy": 2}, TypeError, "no option xyzzy="),
        ({"dim": {"rows": (3, 1)}}, ValueError, "dim={'rows': (3, 1)}: expected (smallest, largest)"),
        ({"dim": {"rows": 1.5}}, TypeError, "dim={'rows': 1.5}: expected a size"),
        ({"dim": (1, 8)}, TypeError, "dim=(1, 8): expected a dict by name"),
        ({"shape": {"x": (1, "b")}}, TypeError, "shape={'x': (1, 'b')}: expected a tuple of sizes"),
        ({"shape": {"x": (-1, 4)}}, ValueError, "expected sizes of at least 0"),
        ({"ram": "plenty"}, ValueError, "ram"),
        ({"target": "cortex-m99"}, ValueError, "target: expected"),
    ],
)
def test_arguments(open_rows, options, kind, text):
    with pytest.raises(kind, match=re.escape(text)) as raised:
        mote.compile(open_rows, **options)
    assert isinstance(raised.value, mote.Error)
    assert "--" not in str(raised.value)


def test_files(tmp_path, digits):
    with pytest.raises(FileNotFoundError, match=r"none\.mote: no such file"):
        mote.load(tmp_path / "none.mote")
    digits.save(tmp_path / "p.mote")
    with pytest.raises(FileNotFoundError, match="w.bin"):
        mote.load(tmp_path / "p.mote", weights=tmp_path / "w.bin")
    with pytest.raises(TypeError, match="found int"):
        mote.load(3)
    with pytest.raises(mote.Error):
        mote.load(b"not a program at all")


def test_memory_and_shapes(digits, tmp_path):
    import numpy as np

    with pytest.raises(MemoryError):
        digits.save(tmp_path / "p.mote")
        mote.load(tmp_path / "p.mote", memory_limit=10)
    with pytest.raises(ValueError, match="image"):
        digits(np.zeros((1, 8, 7), np.float32))


def test_every_option_of_the_command_has_a_type():
    """What `mote compile` learns, mote.compile has to learn too."""
    for source in ("compile_settings.cc", "audio_settings.cc", "quantize_settings.cc"):
        text = (ROOT / "mote" / "tools" / source).read_text()
        for name in re.findall(r'add_(?:option|flag)\("--([a-z0-9-]+)', text):
            assert name.replace("-", "_") in NAMES, f"{source}: --{name}"
