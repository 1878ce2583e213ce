#!/usr/bin/env python3
"""Fails when docs/threat-model.md names a test that is not in the tree, or has a border that no test holds.

    check_threat_model.py [PAGE]

A name in the last column is a folder, a test of ctest, or Suite.Name of GoogleTest; * stands for any characters.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
GTEST = re.compile(r"^(?:TEST|TEST_F|TEST_P|TYPED_TEST)\((\w+),\s*(\w+)\)", re.MULTILINE)
# mote_fleet_script() and mote_check() make tests too; ${name} in a name may be anything.
CTEST = re.compile(r"(?:add_test\(NAME\s+|mote_fleet_script\(|mote_compiler_tests\()([\w${}]+)")


def sources(pattern):
    for top in ("mote", "tests", "examples", "bench"):
        yield from (ROOT / top).rglob(pattern)
    yield from ROOT.glob(pattern)


def tests_of_the_tree():
    gtests = {f"{suite}.{name}" for path in sources("*_test.cc") for suite, name in GTEST.findall(path.read_text())}
    ctests = [re.compile(re.sub(r"\\\$\\{\w+\\}", r"\\w+", re.escape(name)) + "$")
              for path in sources("CMakeLists.txt") for name in CTEST.findall(path.read_text())
              if re.sub(r"\$\{\w+\}", "", name)]
    return gtests, ctests


def exists(name, gtests, ctests):
    if "/" in name:
        return (ROOT / name).exists()
    pattern = re.compile(re.escape(name).replace(r"\*", r"\w*") + "$")
    if "." in name or any(pattern.match(test.split(".")[0]) for test in gtests):
        full = pattern if "." in name else re.compile(re.escape(name).replace(r"\*", r"\w*") + r"\.\w+$")
        return any(full.match(test) for test in gtests)
    # A name of ctest may come from a pattern, or be asked for by one.
    return any(test.match(name) or pattern.match(test.pattern[:-1]) for test in ctests)


def borders(page):
    """(line, first cell, last cell) of the rows whose last column says what holds them."""
    inside = False
    for number, line in enumerate(page.splitlines(), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            inside = False
        elif cells[-1] == "held by":
            inside = True
        elif inside and not set(line) <= set("|- "):
            yield number, cells[0], cells[-1]


def main(words):
    path = pathlib.Path(words[0]) if words else ROOT / "docs/threat-model.md"
    gtests, ctests = tests_of_the_tree()
    wrong, rows, names = [], 0, 0
    for number, border, held_by in borders(path.read_text()):
        rows += 1
        named = re.findall(r"`([^`]+)`", held_by)
        names += len(named)
        if not named:
            wrong.append(f"{path.name}:{number}: no test holds '{border}'")
        for name in named:
            if not exists(name, gtests, ctests) and name != "docs/fleet.md":
                wrong.append(f"{path.name}:{number}: there is no test '{name}'")
    if rows < 10:
        wrong.append(f"{path.name}: {rows} borders found; the table was not understood")
    print("\n".join(wrong) if wrong else f"{rows} borders, {names} names of tests")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
