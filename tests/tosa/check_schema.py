#!/usr/bin/env python3
"""Holds tosa.fbs against the schema in the PyPI package `tosa-tools`: fields with types and defaults, values of enums, order of the union.

check_schema.py PATH/TO/tosa.fbs. Exit codes: 0 they agree, 1 not, 77 skipped (the package is missing).
"""
import pathlib
import re
import sys
from importlib import metadata

ALIASES = {"int32": "int", "uint32": "uint", "uint64": "ulong", "uint8": "ubyte"}


def parsed(text):
    """{("enum" | "table" | "union", name): list of members}."""
    text, found = re.sub(r"//.*", "", text), {}
    for name, body in re.findall(r"enum\s+(\w+)\s*:\s*\w+\s*{([^}]*)}", text):
        at, values = 0, []
        for word in filter(None, (w.strip() for w in body.split(","))):
            label, _, value = word.partition("=")
            at = int(value) if value.strip() else at
            values.append((label.strip(), at))
            at += 1
        found["enum", name] = values
    for name, body in re.findall(r"union\s+(\w+)\s*{([^}]*)}", text):
        found["union", name] = [w.strip() for w in body.split(",") if w.strip()]
    for name, body in re.findall(r"table\s+(\w+)\s*{([^}]*)}", text):
        fields = re.findall(r"(\w+)\s*:\s*(\[?)(\w+)\]?\s*(?:=\s*([-\w.]+))?\s*(\([^)]*\))?\s*;", body)
        found["table", name] = [(f, many, ALIASES.get(kind, kind), default or "0", "force_align" in more)
                                for f, many, kind, default, more in fields]
    return found


def main(path):
    try:
        files = metadata.files("tosa-tools") or []
    except metadata.PackageNotFoundError:
        print("skipped: the package tosa-tools is not installed")
        return 77
    theirs = next((f for f in files if pathlib.Path(str(f)).name == "tosa.fbs"), None)
    if theirs is None:
        print("skipped: this tosa-tools has no tosa.fbs")
        return 77
    ours, official = parsed(open(path, encoding="utf-8").read()), parsed(theirs.read_text())
    wrong = [f"{kind} {name}: {members} expected {official.get((kind, name))}" for (kind, name), members in ours.items()
             if members != official.get((kind, name))]
    print("\n".join(wrong) or f"{len(ours)} enums, unions and tables agree")
    return 1 if wrong or not ours else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
