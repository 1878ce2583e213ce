"""The shared models, for scripts that look at what `mote compile` says of each."""
import argparse
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


class Models:
    """From the words --mote COMMAND --models FOLDER; ends the script with 77 where there are none."""

    def __init__(self):
        parser = argparse.ArgumentParser()
        parser.add_argument("--mote", required=True)
        parser.add_argument("--models", required=True, type=pathlib.Path)
        args = parser.parse_args()
        self.mote, self.files = args.mote, sorted(p for p in args.models.glob("*") if p.suffix in (".onnx", ".tflite"))
        if not self.files:
            print(f"SKIPPED: no models in {args.models}")
            sys.exit(77)
        self.entries = json.loads((HERE / "models.json").read_text())
        self.budgets = json.loads((HERE.parent / "budgets.json").read_text())

    def options(self, model):
        """What `mote compile` must be told of it."""
        return self.entries.get(model.name, {}).get("options", [])

    def compile(self, model, options, folder):
        """The finished process; its output is JSON."""
        command = [self.mote, "compile", model, "-o", folder / "out.mote", "--json", "--golden-examples", "0", *options]
        return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
