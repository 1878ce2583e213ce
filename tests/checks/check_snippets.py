#!/usr/bin/env python3
"""Compiles the C++ of a page that stands by itself: blocks that begin with a comment and an #include.

    check_snippets.py --mote MOTE --cxx COMPILER PAGE...

What `mote compile ... --emit cpp` lines of the page make is made first, and can be included.
"""
import argparse
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def check(page, mote, cxx, work):
    text = page.read_text()
    for line in re.findall(r"^    (mote compile .*--emit cpp.*)$", text, re.M):
        words = shlex.split(line)
        words[words.index("-o") + 1] = str(work / words[words.index("-o") + 1])
        subprocess.run([mote, *words[1:]], cwd=ROOT, check=True, capture_output=True)
    blocks = re.findall(r"^```cpp\n(//[^\n]*\n#include.*?)^```", text, re.S | re.M)
    for number, block in enumerate(blocks):
        source = work / f"{page.stem}_{number}.cc"
        source.write_text(block)
        command = [cxx, "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-I", str(ROOT), "-I", str(work), str(source)]
        ran = subprocess.run(command, capture_output=True, text=True)
        if ran.returncode != 0:
            print(f"{page}: block {number + 1} does not compile:\n{ran.stderr}")
            return None
    return len(blocks)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mote", required=True)
    parser.add_argument("--cxx", required=True)
    parser.add_argument("pages", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for page in arguments.pages:
            count = check(page, arguments.mote, arguments.cxx, pathlib.Path(folder))
            if not count:
                return 1
            print(f"{page.name}: {count} blocks compile")
    return 0


if __name__ == "__main__":
    sys.exit(main())
