#!/usr/bin/env python3
"""Streaming programs give the same bits on a board as the program has on the host, run after run.

  stream_test.py --mote COMMAND --board host|m4|m55 [--shared FOLDER]

The .mote program hears the sound through `mote run --sound`; the emitted one reads the same samples on the board (or, with the plain C++
of the kernels, on the host), built with the start-up code of examples/tiny/project."""

import argparse, json, math, os, random, re, struct, subprocess, sys, tempfile, wave
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECT = ROOT / "examples/tiny/project"
SIZES = {"int8_t": 1, "uint8_t": 1, "int16_t": 2, "float": 4}


def command(*words, **more):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=600, **more)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, words[:3]))} ...: {(done.stderr + done.stdout).strip()[-3000:]}")
    return done.stdout + done.stderr  # the board's console is the latter


def printed(*words):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=600, check=True).stdout


def sound(count):
    """A whistle that rises and falls, in noise, with pauses."""
    rng, phase, out = random.Random(5), 0.0, []
    for i in range(count):
        phase += 2 * math.pi * (900 + 700 * math.sin(i / 4000)) / 16000
        out.append(int((4000 if i // 4800 % 3 else 30) * math.sin(phase)) + rng.randrange(-40, 41))
    return out


def speech(path):
    with wave.open(str(path)) as w:
        return struct.unpack(f"<{w.getnframes()}h", w.readframes(w.getnframes()))


def write_sound(folder, samples):
    data = struct.pack(f"<{len(samples)}h", *samples)
    (folder / "sound.raw").write_bytes(data)
    with wave.open(str(folder / "sound.wav"), "wb") as w:
        w.setnchannels(1)
        w.setsampwidth(2)
        w.setframerate(16000)
        w.writeframes(data)


def on_host(mote, program, folder):
    """The output's bytes after the last run."""
    outputs = folder / "outputs"
    command(mote, "run", program, "--kernels", "portable", "--sound", folder / "sound.wav", "--output", outputs)
    path, = outputs.iterdir()
    data = path.read_bytes()
    path.unlink()
    return data[10 + struct.unpack("<H", data[8:10])[0]:].hex()


def build_and_run(board, folder, flags):
    model = folder / "stream.cc"
    if board == "host":
        command("cc", "-c", "-I", PROJECT, ROOT / "tests/tiny/console_host.c", "-o", folder / "console.o")
        command("c++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-I", PROJECT, "-I", folder, *flags,
                ROOT / "tests/tiny/stream_main.cc", model, folder / "console.o", "-o", folder / "stream")
        return command(folder / "stream", env={**os.environ, "CONSOLE_ARGUMENT": str(folder / "sound.raw")})
    return command("make", "-s", "-C", PROJECT, f"APP={ROOT / 'tests/tiny/stream_main.cc'}", f"MODEL={model}", f"BOARD={board}",
                   f"OUT={folder}", f"APPFLAGS={' '.join(flags)}", f"ARG={folder / 'sound.raw'}", "run")


def check(mote, board, model, options, steps, samples):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command(mote, "compile", model, "-o", folder / "stream.mote", "--golden-examples", "0", "--json", *options)
        target = ["--emit", "cpp", "--target", "cortex-m55" if board == "m55" else "cortex-m4", "--io-in-arena"]
        emitted = json.loads(printed(mote, "compile", model, "-o", folder / "stream.cc", *target, "--golden-examples", "0", "--json",
                                     *options))
        header = (folder / "stream.h").read_text()
        step = int(re.search(r"samples_count = (\d+);", header)[1])
        kind, output = re.findall(r"^inline (\w+)\* (\w+)\(uint8_t\*", header, re.M)[-1]
        count = int(re.search(rf"{output}_count = (\d+);", header)[1])
        flags = [f"-DOUTPUT=stream::{output}", f"-DOUTPUT_BYTES={count * SIZES[kind]}"]
        write_sound(folder, samples[:steps * step])
        output_line = re.compile(rf"[0-9a-f]{{{2 * count * SIZES[kind]}}}")
        lines = [line for line in build_and_run(board, folder, flags).split() if output_line.fullmatch(line)]
        if len(lines) != steps or len(set(lines)) < 2:
            raise SystemExit(f"{model.name}: expected {steps} outputs, not all equal; found {len(lines)}, {len(set(lines))} different")
        for runs in sorted({1, steps // 4, steps // 2, steps - 1, steps}):
            write_sound(folder, samples[:runs * step])
            expected = on_host(mote, folder / "stream.mote", folder)
            if lines[runs - 1] != expected:
                raise SystemExit(f"{model.name} on {board}: after run {runs} the host has {expected}, the board {lines[runs - 1]}")
        print(f"{model.name} {' '.join(options)}: {steps} runs of {step} samples, memory {emitted['ram_bytes']} B: the same bits")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mote", required=True)
    parser.add_argument("--board", choices=["host", "m4", "m55"], default="host")
    parser.add_argument("--shared", default=str(ROOT.parent / "shared"), help="folder with models/, for more cases")
    args = parser.parse_args()
    models = Path(args.shared) / "models"
    cases = [(ROOT / "examples/tiny/keyword/whistle.tflite", ["--audio-frontend", "micro", "--streaming", "5"], 60),
             (ROOT / "tests/tiny/models/svdf.tflite", ["--audio-frontend", "micro", "--streaming"], 60),
             (models / "tflm_micro_speech_int8.tflite", ["--audio-frontend", "micro", "--streaming", "7"], 60),
             (models / "mlperf_kws_dscnn_int8.tflite", ["--audio-frontend", "mfcc", "--streaming", "20"], 60),
             (models / "mlperf_sww_int8.tflite", ["--audio-frontend", "lfbe", "--streaming", "10"], 40),
             (models / "mww_okay_nabu_int8.tflite", ["--audio-frontend", "micro,frames.step=160", "--streaming"], 200)]
    # A wake word says nothing of whistles.
    said = Path(args.shared) / "data/audio/speech.wav"
    for model, options, steps in cases:
        if model.is_file():
            check(args.mote, args.board, model, options, steps, speech(said) if "mww" in model.name else sound(20480))


main()
