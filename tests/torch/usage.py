"""Which operators models use, and whether those models come through: torchvision, timm and transformers with random weights, exported by
torch.export, compiled by mote.torch, run, compared with eager.

    PYTHONPATH=build/release/python python3 tests/torch/usage.py RESULTS.jsonl [--libraries timm] [--names resnet18] [--again refused]

RESULTS.jsonl has one line for each model and grows: models in it are not tried again unless their class is in --again. usage_table.py makes
docs/torch-operators.md of it. The classes of a model:

    aside      not made, not run by PyTorch, or not exported by it
    refused    Mote does not compile it
    failed     the program does not run, or ends the process
    wrong      another structure, or a value off by more than 1e-4 of the largest of its tensor
    right
"""

import argparse
import collections
import json
import multiprocessing
import os
import time
import warnings

import torch
from torch.utils import _pytree as pytree

import usage_models
from cases import remember_operators

LIMIT = 1e-4


def operators_of(program):
    """How often each operator is called."""
    nodes = [n for m in program.graph_module.modules() if isinstance(m, torch.fx.GraphModule) for n in m.graph.nodes]
    names = [str(n.target) for n in nodes if n.op == "call_function" and isinstance(n.target, torch._ops.OperatorBase)]
    return dict(collections.Counter(names))


def first_lines(error):
    return f"{type(error).__name__}: {str(error).strip()}"[:600]


def error_of(found, expected):
    """The largest difference relative to the largest value, or inf where the structure differs."""
    a, b = pytree.tree_leaves(found), pytree.tree_leaves(expected)
    if len(a) != len(b):
        return float("inf"), f"expected {len(b)} tensors, found {len(a)}"
    worst, why = 0.0, ""
    for i, (x, y) in enumerate(zip(a, b)):
        if not isinstance(y, torch.Tensor):
            continue
        if not isinstance(x, torch.Tensor) or x.shape != y.shape or x.dtype != y.dtype:
            given = f"{x.dtype}{tuple(x.shape)}" if isinstance(x, torch.Tensor) else type(x).__name__
            return float("inf"), f"output {i}: expected {y.dtype}{tuple(y.shape)}, found {given}"
        if y.numel() == 0 or torch.equal(x, y):
            continue
        off, most = (x.double() - y.double()).abs(), y.double().abs()
        finite = torch.isfinite(y) if y.is_floating_point() else torch.ones_like(y, dtype=torch.bool)
        if not torch.equal(x.double()[~finite].nan_to_num(7), y.double()[~finite].nan_to_num(7)):
            return float("inf"), f"output {i}: infinite or no numbers at other places"
        if finite.any():
            here = (off[finite].max() / most[finite].max().clamp(min=1e-30)).item()
            here = here if here == here else float("inf")
            if here > worst:
                worst, why = here, f"output {i} of {str(y.dtype)[6:]}{list(y.shape)} differs by {here:.1e}"
    return worst, why


def judge(library, name):
    """The line of one model."""
    row = {"library": library, "name": name, "class": "aside", "why": ""}
    begin = time.time()
    try:
        module, args, kwargs = usage_models.make(library, name)
    except Exception as e:
        return {**row, "why": "not made: " + first_lines(e)}
    row["parameters"] = sum(p.numel() for p in module.parameters())
    copies = lambda: pytree.tree_map(lambda t: t.clone() if isinstance(t, torch.Tensor) else t, (args, kwargs))
    try:
        a, k = copies()
        with torch.no_grad():
            expected = module(*a, **k)
    except Exception as e:
        return {**row, "why": "not run: " + first_lines(e)}
    try:
        a, k = copies()
        with torch.no_grad():
            exported = torch.export.export(module, a, k, strict=False)
    except Exception as e:
        return {**row, "why": "not exported: " + first_lines(e)}
    row["exported"], row["plain"] = round(time.time() - begin, 1), operators_of(exported)
    import mote
    import mote.torch

    begin = time.time()
    try:
        lowered = mote.torch._lowered(exported, ())
        row["lowered"] = operators_of(lowered)
        program = mote.torch.compile(lowered, golden_examples=0)
    except mote.CompileError as e:
        return {**row, "class": "refused", "why": "; ".join(dict.fromkeys(what for _, what, _ in e.problems))[:900] or first_lines(e)}
    except Exception as e:
        return {**row, "class": "refused", "why": first_lines(e)}
    row["compiled"], begin = round(time.time() - begin, 1), time.time()
    try:
        a, k = copies()
        found = program(*a, **k)
    except Exception as e:
        return {**row, "class": "failed", "why": first_lines(e)}
    row["run"] = round(time.time() - begin, 2)
    error, why = error_of(found, expected)
    return {**row, "class": "right" if error <= LIMIT else "wrong", "why": why if error > LIMIT else "", "error": error}


def in_a_process(library, name, seconds):
    """Judged in a process of its own, which may end or hang."""
    receive, send = multiprocessing.get_context("fork").Pipe(False)

    def work():
        warnings.filterwarnings("ignore")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        send.send(judge(library, name))

    child = multiprocessing.get_context("fork").Process(target=work)
    child.start()
    send.close()
    row = {"library": library, "name": name, "class": "failed", "why": f"took longer than {seconds} s"}
    try:
        if receive.poll(seconds):
            row = receive.recv()
    except EOFError:
        row["why"] = "ended the process"
    if child.is_alive() and "took" in row["why"]:
        child.kill()
    child.join()
    return row


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("results")
    parser.add_argument("--libraries", default="torchvision,timm,transformers")
    parser.add_argument("--names", default="")
    parser.add_argument("--again", default="", help="classes of models to try again, or 'all'")
    parser.add_argument("--part", default="1/1", help="K/N: every Nth model, from the Kth on")
    parser.add_argument("--seconds", type=float, default=300)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    remember_operators()
    known = {}
    if os.path.exists(options.results):
        with open(options.results) as f:
            known = {(r["library"], r["name"]): r for r in map(json.loads, f)}  # the last one counts
    again, names = set(options.again.split(",")), set(filter(None, options.names.split(",")))
    tasks = [(library, n) for library in options.libraries.split(",") for n in usage_models.names_of(library) if not names or n in names]
    tasks = [t for t in tasks if t not in known or known[t]["class"] in again or "all" in again]
    part, parts = map(int, options.part.split("/"))
    usage_models.torchvision_models()
    import mote.torch  # noqa: F401: imported once, for all processes
    import timm  # noqa: F401
    import transformers

    transformers.logging.set_verbosity_error()
    if len(tasks) > 1:  # what exporting imports on its way is there for all processes, then
        judge("timm", "test_vit")
        judge("transformers", "bert")
    for library, name in tasks[part - 1::parts]:
        row = in_a_process(library, name, options.seconds)
        known[library, name] = row
        with open(options.results, "a") as f:
            f.write(json.dumps(row) + "\n")
        print(f"{row['class']} {library} {name} {row.get('error', '')} {row['why'][:300]}", flush=True)
    for library in options.libraries.split(","):
        counts = collections.Counter(r["class"] for (l, _), r in known.items() if l == library)
        print(library, dict(counts))


if __name__ == "__main__":
    main()
