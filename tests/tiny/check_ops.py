#!/usr/bin/env python3
"""Random single-operator TFLite models (tests/tflite) as emitted C++, against the program: the same bits on the host and on boards.

check_ops.py --mote COMMAND [--board host|m0|m4|m55] [--only PREFIX] [--match REGEX] [--format cpp|mote] [--count N] [--seconds S]
Exit codes: 0 all agree, 1 not, 77 skipped (a package is missing)."""
import argparse, re, sys, tempfile, time, zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tests/tflite"), str(ROOT / "bench/board")]
try:
    import flatbuffers, tflite  # noqa: F401
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
import move_cases, recurrent_cases  # noqa: E402,F401
from op_cases import CASES  # noqa: E402
from tflite_writer import write  # noqa: E402
import cpp_format, mote_format  # noqa: E402
from samples import measure  # noqa: E402
from tool_chain import Failed, ToolChain  # noqa: E402

FORMATS = {"cpp": cpp_format, "mote": mote_format}
# Sizes that depend on values, which is said when compiling; inputs that bench/tiny cannot make up.
REFUSED = re.compile(r"known only when running|depend on values|can make up")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mote", required=True)
    parser.add_argument("--board", default="host", choices=["host", "m0", "m4", "m55"])
    parser.add_argument("--only", default="")
    parser.add_argument("--match", default="", help="names of cases, as a whole; all unless given")
    parser.add_argument("--format", default="cpp", choices=FORMATS, help="mote: as a file in flash, on a board")
    parser.add_argument("--count", type=int, default=1, help="models for each case")
    parser.add_argument("--seconds", type=float, default=0, help="stop after this time; 0: never")
    args = parser.parse_args()
    start, failed, refused, done, fast = time.time(), 0, 0, 0, 0
    # What microcontrollers compute most comes first.
    chosen = [n for n in CASES if n.startswith(args.only) and (not args.match or re.fullmatch(args.match, n))]
    names = sorted(chosen, key=lambda n: ("int8" not in n, "int16" not in n))
    chain = ToolChain(args.board)
    for number in range(args.count):
        for name in names:
            if args.seconds and time.time() - start > args.seconds:
                break
            with tempfile.TemporaryDirectory() as folder:
                model = Path(folder) / "case.tflite"
                model.write_bytes(write(CASES[name](np.random.default_rng([number, zlib.crc32(name.encode())]))))
                done += 1
                try:
                    fast += not measure(chain, args.mote, model, FORMATS[args.format], [], Path(folder))["portable"]
                except Failed as error:
                    if REFUSED.search(str(error)):
                        refused += 1
                        continue
                    failed += 1
                    print(f"FAILED {name} #{number}: {error}", flush=True)
    print(f"{len(names)} cases, {done} models, {fast} without portable kernels, {failed} failed, {refused} refused, "
          f"{time.time() - start:.0f} s")
    return 1 if failed or done == refused else 0


if __name__ == "__main__":
    sys.exit(main())
