"""docs/torch-operators.md from what usage.py found, and from the samples that opinfo.py --table counted.

    PYTHONPATH=build/release/python python3 tests/torch/usage_table.py RESULTS.jsonl ... [--samples TABLE ...] > docs/torch-operators.md
"""

import argparse
import collections
import json

import torch

LIBRARIES = ["torchvision", "timm", "transformers"]
FIRST = 60
HEAD = """# Operators that models use

Made by `tests/torch/usage.py` and `usage_table.py`; by hand, for it takes an hour. Models of torchvision, timm and transformers with random
weights are exported by torch.export, compiled by `mote.torch`, run, and compared with eager PyTorch {torch}: right are those within 1e-4 of
the largest value of each output. Models of more than 60 million parameters are left out; transformers' are made small.
"""
OPERATORS = """
## Operators

{count} operators are in what torch.export gives. Taken: `as it is` by Mote's importer ([aten.md](generated/aten.md)), or `decomposed` into
such by `mote.torch`. Samples: of PyTorch's OpInfo database, those right of those tried, through `mote.torch` for operators beyond core ATen
(`tests/torch/samples.py`), by core operators in the graphs otherwise (`opinfo.py`). The first {first} are the most used beyond core ATen.
"""


def packet(target):
    """aten.add of aten.add.Tensor, and of aten.add_.Tensor: forms that work in place count with the others."""
    words = target.split(".")
    name = ".".join(words[:2])
    return name[:-1] if name.endswith("_") and not name.endswith("__") else name


def used(rows, form):
    """By operator: the models that use it, by library."""
    found = collections.defaultdict(collections.Counter)
    for row in rows:
        for name in {packet(t) for t in row.get(form, {})}:
            found[name][row["library"]] += 1
    return found


def ways():
    """By operator: how it comes into a program."""
    import mote.torch

    import transformers  # noqa: F401: its own operators are known

    kept = {packet(t) for t in mote.torch._mote.exported_operators()}
    decomposed = {packet(str(op)) for op in mote.torch.decompositions()}
    implicit = torch._C.DispatchKey.CompositeImplicitAutograd

    def way(name):
        if name in kept:
            return "as it is"
        if name in decomposed:
            return "decomposed"
        overloads = overloads_of(name)
        return "decomposed" if any(o.has_kernel_for_dispatch_key(implicit) for o in overloads) else "no"

    return way


def samples_of(paths):
    """By operator: samples that were right, and those that were not. TSV of opinfo.py, JSON lines of samples.py."""
    found = collections.defaultdict(lambda: [0, 0])
    for path in paths:
        with open(path) as f:
            lines = list(f)
        if lines and lines[0].startswith("["):
            for name, _, _, kind, *_ in map(json.loads, lines):
                if kind in ("right", "wrong", "failed", "refused"):
                    name = name.removeprefix("nn.functional.").removesuffix(".").split(".", 1)
                    found["aten." + ("linalg_" + name[1] if name[0] == "linalg" else name[0])][kind != "right"] += 1
            continue
        for line in lines[1:]:
            name, passed, failed = line.split("\t")[:3]
            found["aten." + name][0] += int(passed)
            found["aten." + name][1] += int(failed)
    return found


def totals(rows):
    lines = ["| library | tried | exported | compiled | right | wrong or failed | refused |", "|---|---|---|---|---|---|---|"]
    for library in [*LIBRARIES, "all"]:
        mine = [r for r in rows if library in ("all", r["library"])]
        counts = collections.Counter("late" if r["why"].startswith("took longer") else r["class"] for r in mine)
        exported = sum("plain" in r for r in mine)
        lines.append(f"| {library} | {len(mine)} | {exported} | {exported - counts['refused']} | {counts['right']} | "
                     f"{counts['wrong'] + counts['failed']} | {counts['refused']} |")
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("results", nargs="+")
    parser.add_argument("--samples", nargs="*", default=[])
    options = parser.parse_args()
    rows = {}
    for path in options.results:
        with open(path) as f:
            rows.update({(r["library"], r["name"]): r for r in map(json.loads, f)})
    rows = [r for _, r in sorted(rows.items()) if "larger than what is looked at" not in r["why"]]
    plain, lowered, samples, way = used(rows, "plain"), used(rows, "lowered"), samples_of(options.samples), ways()
    print(HEAD.format(torch=torch.__version__.split("+")[0]))
    print("\n".join(totals(rows)))
    late = [r for r in rows if r["why"].startswith("took longer")]
    troubles = [r for r in rows if r["class"] in ("refused", "wrong", "failed") and r not in late]
    print("\nExported, but not right:\n")
    print("\n".join(f"- {r['library']} `{r['name']}`: {r['class']}, {' '.join(r['why'].split())[:200]}" for r in troubles) or "none")
    if late:
        print("\nNot judged, for want of time: " + ", ".join(f"`{r['name']}`" for r in late) + ".")
    counts = collections.Counter({name: sum(c.values()) for name, c in plain.items()})
    print(OPERATORS.format(count=len(counts), first=FIRST))
    columns = ["operator", "models", *LIBRARIES, "after decomposition", "taken", "samples"]
    head = "| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|"

    def line(name):
        c, (passed, failed) = plain[name], samples.get(name, (0, 0))
        tried = f"{passed} of {passed + failed}" if passed + failed else ""
        cells = [f"`{name}`", counts[name], *(c[library] for library in LIBRARIES), sum(lowered[name].values()), way(name), tried]
        return "| " + " | ".join(map(str, cells)) + " |"

    ranked = [n for n, _ in sorted(counts.items(), key=lambda x: (-x[1], x[0]))]
    core = {n for n in ranked if is_core(n)}
    beyond = [n for n in ranked if n not in core]
    print(f"### Beyond core ATen: the first {FIRST} and the rest\n\n{head}")
    for i, name in enumerate(beyond):
        if i == FIRST:
            print(f"\nThe rest:\n\n{head}")
        print(line(name))
    print(f"\n### Core ATen\n\n{head}")
    for name in ranked:
        if name in core:
            print(line(name))


def overloads_of(name):
    namespace, _, op = name.partition(".")
    found = getattr(getattr(torch.ops, namespace, None), op, None) if op else None
    return [getattr(found, o) for o in found.overloads()] if hasattr(found, "overloads") else []


def is_core(name):
    return any(torch.Tag.core in overload.tags for overload in overloads_of(name))


if __name__ == "__main__":
    main()
