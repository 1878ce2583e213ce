#!/usr/bin/env python3
"""Shared .tflite models that keep state, run after run: what one run leaves must reach the next as in LiteRT's reference kernels.

check_streams.py --mote COMMAND --library libmote.so --models FOLDER [--runs N]
(tests/models compares every shared model, but each sample from the first state on.)
Exit codes: 0 all agree, 1 not, 77 skipped (no such models, or a package is missing).
"""
import argparse
import pathlib
import sys
import tempfile

try:
    import numpy as np
    import tflite
    from ai_edge_litert import interpreter as _litert  # noqa: F401
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

from reference import agrees, interpreter, litert, mote, random_inputs


def keeps_state(path):
    model = tflite.Model.GetRootAsModel(path.read_bytes(), 0)
    codes = [model.OperatorCodes(i) for i in range(model.OperatorCodesLength())]
    if any(tflite.BuiltinOperator.VAR_HANDLE in (c.BuiltinCode(), c.DeprecatedBuiltinCode()) for c in codes):
        return True
    graphs = [model.Subgraphs(i) for i in range(model.SubgraphsLength())]
    return any(g.Tensors(i).IsVariable() for g in graphs for i in range(g.TensorsLength()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mote", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=10)
    args = parser.parse_args()
    models = sorted(m for m in args.models.glob("*.tflite") if keeps_state(m)) if args.models.is_dir() else []
    if not models:
        print(f"skipped: no .tflite models with state in {args.models}")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for model in models:
            it = interpreter(model)
            details = [(d["shape"], d["dtype"]) for d in it.get_input_details()]
            rng = np.random.default_rng(1)
            runs = [random_inputs(details, rng, 0, 1) for _ in range(args.runs)]
            expected = litert(it, runs)
            try:
                problem = agrees(expected, mote(args.mote, args.library, model, folder, runs))
            except RuntimeError as error:
                problem = str(error)
            failed += bool(problem)
            print(f"{model.name:45} {args.runs} runs: {problem and 'FAILED ' + problem or 'agrees'}", flush=True)
    print(f"{len(models)} models, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
