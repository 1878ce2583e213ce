#!/usr/bin/env python3
"""A model over the banks of a board's description (`mote compile --target board.toml`): the same bits as the program, static_asserts that
hold, and clear words when a bank is too small.

check_board.py --mote COMMAND --model MODEL.tflite"""
import argparse, json, re, subprocess, sys, tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "bench/board"))
from samples import array, run_on_host  # noqa: E402
from tool_chain import ToolChain, command  # noqa: E402

BOARD = """format = 1
[board]
core = "cortex-m7"
flash_bytes = {flash}
alignment = 32
[dtcm]
bytes = {dtcm}
section = ".dtcm"
[sram]
bytes = {sram}
"""


def compile_for(mote, model, work, **sizes):
    (work / "board.toml").write_text(BOARD.format(**sizes))
    return subprocess.run([mote, "compile", str(model), "-o", str(work / "m.cc"), "--emit", "cpp", "--target", str(work / "board.toml"),
                           "--golden-examples", "0", "--json"], capture_output=True, text=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mote", required=True)
    parser.add_argument("--model", required=True)
    args = parser.parse_args()
    chain = ToolChain("host")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        done = compile_for(args.mote, args.model, work, flash=1 << 20, dtcm=8192, sram=65536)
        assert done.returncode == 0, done.stderr
        header = (work / "m.h").read_text()
        banks = dict(re.findall(r"constexpr unsigned (\w+)_bytes = (\d+);", header))
        assert 0 < int(banks["dtcm"]) <= 8192 and 0 < int(banks["sram"]) <= 65536, banks
        for text in ("static_assert(dtcm_bytes <= 8192", "static_assert(kConstantBytes <= 1048576", "M_IN_DTCM", "kAlignment = 32"):
            assert text in header, (text, header)
        command(args.mote, "compile", args.model, "-o", work / "p.mote", "--golden-examples", "0", "--json")
        method = json.loads(command(args.mote, "inspect", "--json", work / "p.mote"))["methods"][0]
        inputs, outputs, _ = run_on_host(args.mote, work / "p.mote", method, work)
        (work / "bench_model.h").write_text(
            '#pragma once\n#include "m.h"\n#include <cstring>\nnamespace bench {\n' +
            array("kIn", inputs[0]) + array("kOut", outputs[0]) +
            "constexpr unsigned kMemoryBytes = 1;\nalignas(32) inline uint8_t dtcm[m::dtcm_bytes], sram[m::sram_bytes];\n"
            f"inline uint8_t out[{len(outputs[0])}];\ninline int init(uint8_t*) {{ return 0; }}\ninline void fill(uint8_t*) {{}}\n"
            "inline int run(uint8_t*) {\n  return m::run(dtcm, sram, reinterpret_cast<const int8_t*>(kIn), "
            "reinterpret_cast<int8_t*>(out));\n}\n"
            "inline bool same(uint8_t*) { return std::memcmp(out, kOut, sizeof out) == 0; }\n}\n")
        chain.run(chain.link([chain.compile(work / "m.cc", work / "model.o")], work))
        small = compile_for(args.mote, args.model, work, flash=1 << 20, dtcm=1024, sram=1024)
        assert small.returncode != 0 and "too small" in small.stderr and "at least" in small.stderr, small.stderr
    print("PASS")


if __name__ == "__main__":
    main()
