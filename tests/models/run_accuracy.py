#!/usr/bin/env python3
"""Runs accuracy.py under $MOTE_PYTHON, or says why not (exit code 77). Takes its arguments."""
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PACKAGES = "import numpy, onnxruntime, ai_edge_litert"


def main():
    python = os.environ.get("MOTE_PYTHON")
    data = sys.argv[sys.argv.index("--data") + 1]
    if not python or subprocess.run([python, "-c", PACKAGES], capture_output=True, check=False).returncode != 0:
        print("SKIPPED: MOTE_PYTHON names no interpreter with numpy, onnxruntime and ai-edge-litert")
        sys.exit(77)
    if not pathlib.Path(data).is_dir():
        print(f"SKIPPED: no data in {data}")
        sys.exit(77)
    sys.exit(subprocess.run([python, str(HERE / "accuracy.py"), *sys.argv[1:]], check=False).returncode)


if __name__ == "__main__":
    main()
