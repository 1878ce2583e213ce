"""The compiler speaks of options as `mote compile` has them; Python's users are told in Python."""

from __future__ import annotations

import re

# A name of an input or dimension, as messages have them: no spaces, no punctuation behind it.
_NAME = r"(?P<name>[^\s=,;:]*[^\s=,;:.])"
_MAPPED = ("shape", "dim", "bank", "metadata", "input")
_FLAGS = ("no-fuse", "no-optimize", "exact", "no-winograd", "io-in-arena", "strip-names", "asymmetric", "symmetric", "fixed-point",
          "int8-everywhere", "no-equalise", "no-adaptive-rounding", "no-bias-correction", "no-weight-scales", "no-weight-pairs")


def _item(option: str, value: str) -> str:
    """A value of a mapping: 1..8 is (1, 8), 1x3 is (1, 3)."""
    if option == "dim" and ".." in value:
        return "(" + ", ".join(value.split("..", 1)) + ")"
    if option == "shape":
        return "()" if value == "scalar" else "(" + ", ".join(value.split("x")) + ("," if "x" not in value else "") + ")"
    return value if value.isdigit() or value.isupper() else repr(value)


def _mapping(match: re.Match[str]) -> str:
    return f"{match['option']}={{{match['name']!r}: {_item(match['option'], match['value'])}}}"


def _join(text: str) -> str:
    """dim={'a': 1} dim={'b': 2} is one argument."""
    pattern = re.compile(r"\b(dim|shape|bank|metadata)=\{([^{}]*)\},? (?:and )?\1=\{([^{}]*)\}")
    while (joined := pattern.sub(r"\1={\2, \3}", text)) != text:
        text = joined
    return text


def in_python(text: str) -> str:
    """`--dim batch=1..8` becomes `dim={'batch': (1, 8)}`, `--no-fuse` `no_fuse=True`, `--target` `target=`."""
    if "--" not in text:
        return text
    if alone := re.fullmatch(rf"--({'|'.join(_MAPPED)}) (\S+)", text):
        if "=" not in alone[2]:
            return f"{alone[1]}[{alone[2]!r}]"
    text = re.sub(rf"--({'|'.join(_MAPPED)}) {_NAME}: ", lambda m: f"{m[1]}[{m['name']!r}]: ", text)
    mapped = rf"--(?P<option>{'|'.join(_MAPPED)}) {_NAME}=(?P<value>[^\s,;:'\")]*[^\s,;:.'\")])"
    text = _join(re.sub(mapped, _mapping, text))
    text = re.sub(rf"--({'|'.join(_FLAGS)})\b(?!-)", lambda m: m[1].replace("-", "_") + "=True", text)
    return re.sub(r"(?<![\w-])--([a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?!\w)", lambda m: m[1].replace("-", "_") + "=", text).replace("=:", ":")
