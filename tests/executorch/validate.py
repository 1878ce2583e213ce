"""validate.py MOTE: `mote validate` asks the runtime that a model is for: ExecuTorch for .pte files, eager PyTorch for .pt2 files."""

import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

import torch

from programs import seeded

FIXTURES = pathlib.Path(__file__).parent / "fixtures"


def call(*command):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, env={**os.environ, "MOTE_PYTHON": sys.executable})
    return done.returncode, done.stdout + done.stderr


def check(mote, model, program, runtime, right=True):
    code, text = call(mote, "validate", model, program)
    if f"against {runtime} " not in text or (code == 0) != right:
        sys.exit(f"{model}: expected {'agreement' if right else 'a difference'} with {runtime}, found exit code {code}:\n{text}")
    print(f"{model.parent.name}/{model.name}: {runtime}, {'agrees' if right else 'differs'}")


def main():
    warnings.filterwarnings("ignore")
    mote = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "p.mote"
        for name in ("linear", "cache", "methods", "external"):
            model = FIXTURES / name / "model.pte"
            code, text = call(mote, "compile", model, "-o", program)
            if code != 0:
                sys.exit(text)
            check(mote, model, program, "executorch")
        for name in ("right", "wrong"):
            module = seeded(lambda: torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)))
            if name == "wrong":
                with torch.no_grad():
                    module[0].bias += 1
            model = pathlib.Path(folder) / f"{name}.pt2"
            torch.export.save(torch.export.export(module.eval(), (torch.zeros(3, 8),)), model)
            if name == "right":
                call(mote, "compile", model, "-o", program)
            check(mote, model, program, "torch", name == "right")


if __name__ == "__main__":
    main()
