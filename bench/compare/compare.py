#!/usr/bin/env python3
"""Two commits by the instructions they spend (count.py): builds both, counts both, prints the ratios.

    compare.py COMMIT [COMMIT] [--model FILE ...] [--limit PERCENT] [--work DIR]

The second commit is "." unless given: the working tree as it stands, built in build/compare. Commits are unpacked and built in a
folder of their own (--work keeps it, so that the next comparison builds less); the repository is only read. Exit code 1 when a figure
of the second is more than --limit percent above the first one's.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

from count import ROOT, count

TARGETS = ["mote", "overhead_bench", "load_bench"]


def unpack(commit, to):
    if not to.exists():
        to.mkdir(parents=True)
        archive = subprocess.Popen(["git", "-C", ROOT, "archive", commit], stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", to], stdin=archive.stdout, check=True)
        if archive.wait() != 0:
            sys.exit(f"no such commit: {commit}")


def build(source, to):
    print(f"building {source} ...", file=sys.stderr)
    for command in (["cmake", "-S", source, "-B", to, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"],
                    ["cmake", "--build", to, "--target", *TARGETS]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))} failed:\n{(done.stdout + done.stderr)[-3000:]}")


def figures_of(commit, options, work):
    source = ROOT
    if commit != ".":
        name = subprocess.run(["git", "-C", ROOT, "rev-parse", "--verify", f"{commit}^{{commit}}"], capture_output=True, text=True)
        if name.returncode != 0:
            sys.exit(f"no such commit: {commit}")
        source = work / name.stdout.strip()[:12]
        unpack(commit, source)
    # As deep as other builds are: ccache then knows most of the files.
    to = source / "build" / "compare"
    build(source, to)
    with tempfile.TemporaryDirectory() as folder:
        return dict(count(to, options.model, pathlib.Path(folder)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("commits", nargs="+", metavar="COMMIT")
    parser.add_argument("--model", action="append", default=[])
    parser.add_argument("--limit", type=float, help="percent that a figure may rise")
    parser.add_argument("--work")
    options = parser.parse_args()
    if len(options.commits) > 2:
        parser.error("expected one or two commits")
    if not shutil.which("valgrind"):
        sys.exit("valgrind is not installed")
    before, after = (options.commits + ["."])[:2]
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(options.work or temporary).resolve()
        a, b = (figures_of(c, options, work) for c in (before, after))
    print(f"{'instructions':34} {before[:14]:>14} {after[:14]:>14}   ratio")
    for name in a:
        print(f"{name:34} {a[name]:14,} {b[name]:14,} {b[name] / max(a[name], 1):7.3f}")
    if options.limit is not None:
        worse = [n for n in a if b[n] > a[n] * (1 + options.limit / 100)]
        if worse:
            sys.exit(f"more than {options.limit:g} % above {before}: " + "; ".join(worse))


if __name__ == "__main__":
    main()
