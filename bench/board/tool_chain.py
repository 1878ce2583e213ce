"""Objects, programs and runs for the boards of bench/tiny."""

import re, subprocess, tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# QEMU's machine, its clock, memory map, compiler flags, target of `mote compile`.
BOARDS = {
    "m4": ("mps2-an386", 25000000, "m4.ld", "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16", "cortex-m4"),
    "m7": ("mps2-an500", 25000000, "m4.ld", "-mcpu=cortex-m7 -mthumb -mfloat-abi=hard -mfpu=fpv5-d16", "cortex-m7"),
    "m55": ("mps3-an547", 32000000, "m55.ld", "-mcpu=cortex-m55 -mthumb -mfloat-abi=hard", "cortex-m55"),
    "m0": ("microbit", 16000000, "m0.ld", "-mcpu=cortex-m0plus -mthumb", "cortex-m0plus"),
    # What does not fit the micro:bit: the same code on a Cortex-M3, which runs it too but would forgive unaligned words.
    "m0-large": ("mps2-an385", 25000000, "m4.ld", "-mcpu=cortex-m0plus -mthumb", "cortex-m0plus"),
    "host": ("", 0, "", "", "cortex-m4"),
}
# As Mote's own build has them: without contraction and with precise functions floats have the same bits everywhere.
FLAGS = "-std=c++17 -O2 -fno-exceptions -fno-rtti -fno-threadsafe-statics -ffunction-sections -fdata-sections -fno-unwind-tables " \
        "-fno-asynchronous-unwind-tables -ffp-contract=off -Wall -Wextra"
HARNESS = ["bench/board/main.cc", "bench/board/counter.cc", "tests/baremetal/startup.cc", "tests/baremetal/semihosting.cc"]
RUNTIME = ["mote/core", "mote/format", "mote/runtime"]


class Failed(RuntimeError):
    """Said to the user as it is."""


def command(*words):
    try:
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    except FileNotFoundError:
        raise Failed(f"{words[0]} is not installed")
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, words[:3]))} ...: {(done.stderr + done.stdout).strip()[:800]}")
    return done.stdout


def sources_of(folder):
    return [s for s in sorted((ROOT / folder).glob("*.cc")) if not re.search(r"_(test|bench|fuzz)$", s.stem)]


class ToolChain:
    """Compiles for one board. Sources of Mote that do not depend on the model are compiled once."""

    def __init__(self, board):
        self.board = board
        self.machine, self.clock, self.script, cpu, self.target = BOARDS[board]
        self.compiler = ["c++"] if board == "host" else ["arm-none-eabi-g++", *cpu.split()]
        self.kept = tempfile.TemporaryDirectory()

    def compile(self, source, to, include=(), flags=()):
        words = [w for folder in (ROOT, *include) for w in ("-I", folder)]
        command(*self.compiler, *FLAGS.split(), f"-DMOTE_BOARD_CLOCK_HZ={self.clock}", *words, *flags, "-c", source, "-o", to)
        return to

    def link(self, objects, work):
        program = work / "bench.elf"
        if self.board == "host":
            main = self.compile(ROOT / "bench/board/host_main.cc", work / "host_main.o", [work])
            command(*self.compiler, main, *objects, "-o", program)
            return program
        harness = [self.compile(ROOT / s, work / f"harness_{Path(s).stem}.o", [work]) for s in HARNESS]
        command(*self.compiler, *harness, *objects, "-nostartfiles", "--specs=nosys.specs", "-Wl,--gc-sections",
                "-Wl,--no-warn-rwx-segments", f"-L{ROOT / 'bench/board'}", f"-T{ROOT / 'bench/board' / self.script}", "-o", program)
        return program

    def run(self, program):
        """What the program prints, by name; sizes of the sections that count."""
        if self.board == "host":
            if subprocess.run([str(program)]).returncode != 0:
                raise Failed("the outputs differ from the program's")
            return {}
        sizes = dict(re.findall(r"^(\.\w+)\s+(\d+)", command("arm-none-eabi-size", "-A", program), re.M))
        try:
            done = subprocess.run(["qemu-system-arm", "-M", self.machine, "-nographic", "-monitor", "none", "-serial", "none", "-icount",
                                   "shift=6", "-semihosting-config", "enable=on,target=native", "-kernel", str(program)],
                                  capture_output=True, text=True, timeout=1200)
        except FileNotFoundError:
            raise Failed("qemu-system-arm is not installed")
        text = done.stdout + done.stderr
        if done.returncode != 0 or "PASS" not in text:
            raise Failed(f"on {self.machine}: {text.strip()[:500]}")
        figures = {k: int(v) for k, v in re.findall(r"^(\w+) (\d+)$", text, re.M)}
        return {"code_bytes": int(sizes[".code"]), "constant_bytes": int(sizes[".mote_constants"]), **figures}
