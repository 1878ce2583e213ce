#!/usr/bin/env python3
"""Checks the tree itself: file and line length, folder READMEs, large files, machine paths.

Reads what git tracks or would track, so build output does not count.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODE = (".h", ".hpp", ".cc", ".c", ".py", ".cmake", ".def", ".fbs")
MAX_LINES, GOAL_P95, MAX_COLUMNS, MAX_FILE_BYTES, README_LINES = 500, 400, 140, 1_000_000, 40
# A path of somebody's machine. Examples in prose use relative paths.
MACHINE_PATH = re.compile(rb"(?<![\w.])/(home|Users|root|work|workspace|mnt)/[\w.-]+")
SOURCES = CODE + (".sh", ".ld", ".java", ".cs", ".js", ".ts")
# Folders that hold no sources themselves, and those that hold one operator each: there the header says it.
ALSO_WITH_README = ["mote/bindings", "mote/compiler", "mote/fleet", "mote/backends", "examples"]
ONE_OPERATOR = re.compile(r"mote/ops/(?!(?:common|testing)$)\w+$")


def tracked():
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
    return sorted(path for name in out.decode().split("\0") if name and (path := ROOT / name).is_file())


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
    if len(lines) > MAX_LINES and not name.startswith("docs/"):
        yield f"{name}: {len(lines)} lines; past {MAX_LINES} a file wants splitting by idea"
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
    if p95 > GOAL_P95:
        found.append(f"p95 of file lengths is {p95} lines; the goal is {GOAL_P95}")
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
