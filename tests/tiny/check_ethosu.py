#!/usr/bin/env python3
"""`mote compile --target ethos-u55-128`: Vela's blob and estimates in the program, clear words where something is missing.

check_ethosu.py --mote COMMAND --model MODEL.tflite [--float FLOAT.tflite]
MOTE_VELA names Vela where it is not on PATH. Exit codes: 0 right, 1 not, 77 skipped (no Vela)."""
import argparse, json, os, shutil, subprocess, sys, tempfile
from pathlib import Path


def run(*words):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mote", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--float")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "npu.mote"
        missing = run(args.mote, "compile", args.model, "-o", program, "--target", "ethos-u55-128", "--vela", "no-such-vela")
        assert missing.returncode != 0 and "pip install ethos-u-vela" in missing.stderr, missing.stderr
        wrong = run(args.mote, "compile", args.model, "-o", program, "--target", "ethos-u99")
        assert wrong.returncode == 2 and "ethos-u55-256" in wrong.stderr, wrong.stderr
        vela = os.environ.get("MOTE_VELA") or shutil.which("vela")
        if not vela:
            print("skipped: vela is not installed (pip install ethos-u-vela; MOTE_VELA names it)")
            return 77
        done = run(args.mote, "compile", args.model, "-o", program, "--target", "ethos-u55-128", "--vela", vela, "--json")
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        assert result["cycles"] > 0 and result["sram_bytes"] > 0 and result["blob_bytes"] > 1000 and result["executed"] is False, result
        backend, = json.loads(run(args.mote, "inspect", "--json", program).stdout)["backends"]
        assert backend["name"] == "ethos-u" and backend["capabilities"] == "ethos-u55-128" and "not executed" in backend["version"], backend
        shown = run(args.mote, "inspect", "--placement", program)
        assert shown.returncode == 0 and "ethos-u" in shown.stdout and "not executed" in shown.stdout, shown.stdout + shown.stderr
        refused = run(args.mote, "run", program)
        assert refused.returncode != 0 and "ethos-u" in refused.stderr, refused.stderr
        if args.float:
            stays = run(args.mote, "compile", args.float, "-o", program, "--target", "ethos-u55-128", "--vela", vela)
            assert stays.returncode != 0 and "Ethos-U" in stays.stderr, stays.stderr
    print("PASS")
    return 0


if __name__ == "__main__":
    sys.exit(main())
