#!/usr/bin/env python3
"""Checks the tree itself: length of files, functions and lines, folder READMEs, large files, machine paths.

Reads what git tracks or would track, so build output does not count.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODE = (".h", ".hpp", ".cc", ".c", ".cl", ".py", ".cmake", ".def", ".fbs")
MAX_LINES, MAX_FUNCTION, MAX_COLUMNS, MAX_FILE_BYTES, README_LINES = 400, 60, 140, 1_000_000, 40
MAX_TEST_LINES = 500
TEST = re.compile(r"_test\.|/testing/|^tests/")
NO_FUNCTION = re.compile(r"\b(namespace|struct|class|enum|union|extern)\b")
NO_CODE = re.compile(r"""R"(?P<end>\w*)\(.*?\)(?P=end)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'|//[^\n]*""", re.S)
# A path of somebody's machine. Examples in prose use relative paths.
MACHINE_PATH = re.compile(rb"(?<![\w.])/(home|Users|root|work|workspace|mnt)/[\w.-]+")
SOURCES = CODE + (".sh", ".ld", ".java", ".cs", ".js", ".ts")
# Folders that hold no sources themselves, and those that hold one operator each: there the header says it.
ALSO_WITH_README = ["mote/bindings", "mote/compiler", "mote/fleet", "mote/backends", "examples"]
ONE_OPERATOR = re.compile(r"mote/ops/(?!(?:common|testing)$)\w+$")


def tracked():
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
    return sorted(path for name in out.decode().split("\0") if name and (path := ROOT / name).is_file())


def long_functions(text):
    """(line, length) of bodies in braces behind a parameter list."""
    blank = NO_CODE.sub(lambda m: "\n" * m.group().count("\n"), text)
    open_at = []
    for number, line in enumerate(blank.splitlines(), 1):
        for c in line:
            if c == "{":
                open_at.append((number, line))
            elif c == "}" and open_at:
                begin, first = open_at.pop()
                if number - begin >= MAX_FUNCTION and ")" in first and not NO_FUNCTION.search(first):
                    yield begin, number - begin + 1


def check_file(path, lengths):
    name = path.relative_to(ROOT).as_posix()
    data = path.read_bytes()
    if len(data) > MAX_FILE_BYTES:
        yield f"{name}: {len(data)} bytes; the limit is {MAX_FILE_BYTES}"
    for match in MACHINE_PATH.finditer(data):
        yield f"{name}: names a path of one machine: {match.group().decode()}"
    if path.suffix not in CODE:
        return
    lines = data.decode().splitlines()
    if path.suffix in (".h", ".cc", ".hpp", ".c"):
        lengths.append(len(lines))
    most = MAX_TEST_LINES if TEST.search(name) else MAX_LINES
    if len(lines) > most and not name.startswith("docs/"):
        yield f"{name}: {len(lines)} lines; past {most} a file wants splitting by idea"
    if name.startswith("mote/") and path.suffix in (".h", ".hpp", ".cc", ".c", ".cl") and not TEST.search(name):
        for begin, length in long_functions(data.decode()):
            yield f"{name}:{begin}: a function of {length} lines; past {MAX_FUNCTION} it wants splitting by idea"
    for number, line in enumerate(lines, 1):
        # C++ is clang-format's to judge.
        if len(line) > MAX_COLUMNS and path.suffix in (".py", ".cmake") and "http" not in line:
            yield f"{name}:{number}: {len(line)} columns; the limit is {MAX_COLUMNS}"


def check_readmes(files):
    folders = {f.parent.relative_to(ROOT).as_posix() for f in files if f.suffix in SOURCES}
    for folder in sorted(folders | set(ALSO_WITH_README)):
        readme = ROOT / folder / "README.md"
        if ONE_OPERATOR.match(folder) or folder == ".":
            continue
        if not readme.is_file():
            yield f"{folder}/README.md is missing: what it is, what it must not do, where to start reading"
        elif len(readme.read_text().splitlines()) > README_LINES:
            yield f"{folder}/README.md has more than {README_LINES} lines"


def main():
    lengths, found = [], []
    files = tracked()
    for path in files:
        found += check_file(path, lengths)
    found += check_readmes(files)
    lengths.sort()
    p95 = lengths[len(lengths) * 95 // 100]
    print(f"{len(lengths)} C++ files: median {lengths[len(lengths) // 2]} lines, p95 {p95}, longest {lengths[-1]}")
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
