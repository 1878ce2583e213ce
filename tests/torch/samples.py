"""The first samples of every operator in PyTorch's OpInfo database through the Python package, as a user would: a module around the
operator, torch.export, mote.torch.compile, run, compared with eager in structure, values, shapes and element types.

    PYTHONPATH=build/release/python python3 tests/torch/samples.py [--ops add,mul] [--dtypes float32] [--samples 6] [--list FILE]

Unlike opinfo.py, which looks at core ATen operators, this judges by operators of the public API: what a sample is decomposed to is Mote's
affair. Each sample falls in one class:

    aside     random, complex or sparse, or PyTorch itself does not run it, gives no tensor, or does not export it
    refused   Mote does not compile it
    failed    the program does not run, or ends the process
    wrong     another structure, shape, element type or value than eager's
    right

The exit code is 1 when fewer than --least percent of refused + failed + wrong + right are right. The whole: some 16,000 samples, 40
minutes.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import json
import multiprocessing
import sys
import time
import warnings

import torch
from torch.utils import _pytree as pytree

from cases import difference, remember_operators

DTYPES = "float32,float16,int8,uint8,int32,int64,bool"
# Whose values are no function of the inputs: only shapes and element types are compared.
UNSET = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided", "resize_", "resize_as_"}
# Random, though OpInfo sets a seed before each call.
RANDOM = {"bernoulli", "cauchy", "exponential", "geometric", "log_normal", "multinomial", "nn.functional.fractional_max_pool2d",
          "nn.functional.fractional_max_pool3d", "nn.functional.rrelu", "normal", "pca_lowrank", "rand_like", "randint", "randint_like",
          "randn", "randn_like", "svd_lowrank", "uniform"}
# These change their statistics where an argument that is True says so.
TRAINED = {"_batch_norm_with_update", "_native_batch_norm_legit", "native_batch_norm", "nn.functional.batch_norm"}
# Random where they are told to train, which two seeds need not show: of few channels all may stay.
DROPPED = {"nn.functional.dropout", "nn.functional.dropout2d", "nn.functional.dropout3d", "nn.functional.alpha_dropout",
           "nn.functional.feature_alpha_dropout", "nn.functional.scaled_dot_product_attention",
           "nn.functional.multi_head_attention_forward"}
# Which of several equal elements an index names is not told: results at the indices are compared.
TIES = {"sort", "argsort", "topk", "median", "nanmedian", "kthvalue", "mode", "max", "min", "msort"}
LONGEST = 300  # seconds without a result


class Call(torch.nn.Module):
    """An operator whose tensors are inputs and whose other arguments are constants."""

    def __init__(self, op, samples):
        super().__init__()
        self.op, self.samples = op, samples

    def forward(self, *tensors):
        results, rest = [], iter(tensors)
        for leaves, spec in self.samples:
            args, kwargs = pytree.tree_unflatten([next(rest) if isinstance(l, torch.Tensor) else l for l in leaves], spec)
            results.append(self.op(*args, **kwargs))
        return results[0] if len(results) == 1 else results


def tensors_of(samples):
    return [l for leaves, _ in samples for l in leaves if isinstance(l, torch.Tensor)]


def copies(sample):
    leaves, spec = sample
    return [l.clone() if isinstance(l, torch.Tensor) else l for l in leaves], spec


def eager(op, sample, seed=0):
    torch.manual_seed(seed)
    leaves, spec = copies(sample)
    args, kwargs = pytree.tree_unflatten(leaves, spec)
    with torch.no_grad():
        return op(*args, **kwargs)


def is_odd(value):
    if not isinstance(value, torch.Tensor):
        return False
    return value.is_complex() or value.layout != torch.strided or value.is_quantized or value.is_nested


def same(a, b):
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        return a.shape == b.shape and a.dtype == b.dtype and torch.equal(a.nan_to_num() if a.is_floating_point() else a,
                                                                        b.nan_to_num() if b.is_floating_point() else b)
    return type(a) is type(b) and (a == b or a != a)


def drops(sample):
    kwargs = pytree.tree_unflatten(*sample)[1]
    return kwargs.get("training", True) is True and kwargs.get("dropout_p", kwargs.get("p", 0.5)) != 0


def aside(op, name, sample):
    """Why a sample is not judged, and its eager result."""
    if name in RANDOM:
        return "random", None
    if name in DROPPED and drops(sample):
        return "random", None
    if name in TRAINED and any(l is True for l in sample[0]):
        return "training", None
    if any(is_odd(l) for l in sample[0]) or any(isinstance(l, torch.dtype) and l.is_complex for l in sample[0]) or any(
            isinstance(l, complex) for l in sample[0]):
        return "complex or sparse", None
    try:
        first = eager(op, sample, 1)
        leaves = pytree.tree_leaves(first)
        if any(is_odd(l) or isinstance(l, complex) for l in leaves):
            return "complex or sparse", None
        if not any(isinstance(l, torch.Tensor) for l in leaves) and not all(isinstance(l, (bool, int, float)) for l in leaves):
            return "gives no tensor", None
        if name not in UNSET and not all(map(same, leaves, pytree.tree_leaves(eager(op, sample, 2)))):
            return "random", None
    except Exception as e:  # whatever it is, it is PyTorch's own
        return "not run by PyTorch: " + first_line(e), None
    return "", first


def first_line(error):
    text = str(error).strip()
    return f"{type(error).__name__}: " + (text.splitlines()[0][:300] if text else "")


def compare(found, expected, name):
    """Empty when they are the same."""
    a, b = pytree.tree_flatten(found), pytree.tree_flatten(expected)
    if str(a[1]) != str(b[1]).replace("TreeSpec(Size,", "TreeSpec(tuple,"):
        return f"structure: expected {type(expected).__name__}, found {type(found).__name__}"
    for x, y in zip(a[0], b[0]):
        if not isinstance(y, torch.Tensor):
            if not isinstance(x, type(y)) or not difference(torch.tensor(float(x)), torch.tensor(float(y))) == "":
                return f"expected {y!r}, found {x!r}"
        elif name in UNSET:
            if x.shape != y.shape or x.dtype != y.dtype:
                return f"expected {y.dtype}{tuple(y.shape)}, found {x.dtype}{tuple(x.shape)}"
        elif why := difference(x, y):
            return why
    return ""


def names_the_same(x, found, expected):
    """Whether indices along some axis of x name elements of the same values."""
    if x.dim() == 0 or found.shape != expected.shape or found.dtype != torch.int64 or expected.dtype != torch.int64:
        return False
    for dim in range(x.dim()):
        try:
            index = [i if i.dim() == x.dim() else i.unsqueeze(dim) for i in (found, expected)]
            if same(x.gather(dim, index[0]), x.gather(dim, index[1])):
                return True
        except (RuntimeError, IndexError):
            continue
    return False


def untied(name, sample, found, expected):
    """The expected result with indices as found where they are as right."""
    if name not in TIES or not isinstance(sample[0][0], torch.Tensor):
        return expected
    a, (b, spec) = pytree.tree_leaves(found), pytree.tree_flatten(expected)
    if len(a) != len(b):
        return expected
    fine = [isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor) and names_the_same(sample[0][0], x, y) for x, y in zip(a, b)]
    return pytree.tree_unflatten([x if ok else y for x, y, ok in zip(a, b, fine)], spec)


class Judge:
    def __init__(self, tell):
        import mote
        import mote.torch

        self.mote, self.tell = mote, tell

    def try_all(self, op, name, samples, results):
        """(class, reason) of samples in one program."""
        inputs = tensors_of([copies(s) for s in samples])
        try:
            with torch.no_grad():
                exported = torch.export.export(Call(op, samples).eval(), tuple(inputs), strict=False)
        except Exception as e:
            return "aside", "not exported: " + first_line(e)
        try:
            program = self.mote.torch.compile(exported, golden_examples=0)
        except self.mote.CompileError as e:
            return "refused", "; ".join(f"{what}" for _, what, _ in e.problems) or first_line(e)
        except Exception as e:
            return "refused", first_line(e)
        try:
            found = program(*tensors_of([copies(s) for s in samples]))
        except Exception as e:
            return "failed", first_line(e)
        every = [found] if len(samples) == 1 else found
        if len(every) == len(results):
            results = [untied(name, *each) for each in zip(samples, every, results)]
        why = compare(found, results[0] if len(results) == 1 else results, name)
        return ("wrong", why) if why else ("right", "")

    def gather(self, info, name, dtype, limit):
        """The first samples of an element type with their results: (number, sample, result)."""
        torch.manual_seed(0)
        try:
            # All of them first: a generator that is left would be collected in the middle of an export.
            given = list(itertools.islice(info.sample_inputs("cpu", dtype, requires_grad=False), limit))
        except Exception as e:
            self.tell(name, dtype, 0, "aside", "no samples: " + first_line(e))
            return []
        out = []
        for i, s in enumerate(given):
            leaves, spec = pytree.tree_flatten(((s.input, *s.args), s.kwargs))
            sample = ([l.detach().clone() if isinstance(l, torch.Tensor) else l for l in leaves], spec)
            why, result = aside(info.op, info.name, sample)
            if why:
                self.tell(name, dtype, i, "aside", why)
            else:
                out.append((i, sample, result))
        return out

    def judge(self, info, name, dtypes, limit):
        """All types in one program, for exporting takes most of the time; then each type, and each sample, where something is not right."""
        groups = [(dtype, i, s, r) for dtype in dtypes for i, s, r in self.gather(info, name, dtype, limit)]
        self.narrow(info, name, groups, 0)

    def narrow(self, info, name, groups, depth):
        if not groups:
            return
        if depth == 2:
            self.tell(name, *groups[0][:2], "", "")  # in case it ends the process
        kind, why = self.try_all(info.op, info.name, [s for _, _, s, _ in groups], [r for _, _, _, r in groups])
        if kind == "right" or depth == 2 or len(groups) == 1:
            for dtype, i, sample, _ in groups:
                self.tell(name, dtype, i, kind, why, describe(sample))
            return
        for _, part in itertools.groupby(groups, key=lambda g: g[:1] if depth == 0 else g[:2]):
            self.narrow(info, name, list(part), depth + 1)


def describe(sample):
    leaves, spec = sample
    args, kwargs = pytree.tree_unflatten(
        [f"{str(l.dtype)[6:]}{list(l.shape)}" if isinstance(l, torch.Tensor) else l for l in leaves], spec)
    return f"{args} {kwargs}"[:300]


def label(info):
    return info.name + ("." + info.variant_test_name if info.variant_test_name else "")


def infos(wanted):
    from torch.testing._internal.common_methods_invocations import op_db

    return [i for i in op_db if not wanted or i.name in wanted]


def work(options, tasks, send):
    """The child: judges one task after the other."""
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    remember_operators()
    by_label = {label(i): i for i in infos(set())}

    def tell(name, dtype, i, kind, why, what=""):
        send.send((name, str(dtype).split(".")[1], i, kind, why, what))

    judge = Judge(tell)
    for name, dtypes in tasks:
        judge.judge(by_label[name], name, [getattr(torch, d) for d in dtypes], options.samples)
        send.send((name, "", -1, "done", "", ""))
    send.send(None)


class Results:
    def __init__(self, path, verbose):
        self.rows, self.file, self.verbose = {}, open(path, "w") if path else None, verbose

    def add(self, row):
        name, dtype, i, kind, why, what = row
        self.rows[name, dtype, i] = (kind, why, what)
        if kind and self.file:
            self.file.write(json.dumps(row) + "\n")
            self.file.flush()
        if self.verbose and kind not in ("right", "aside", ""):
            print(f"{kind} {name} {dtype} {i} {what}: {why}", flush=True)


def run(options, tasks, results):
    """Tasks by a process that is replaced when it ends, or takes too long."""
    context = multiprocessing.get_context("fork")
    while tasks:
        receive, send = context.Pipe(False)
        child = context.Process(target=work, args=(options, tasks, send))
        child.start()
        send.close()
        pending, ended = None, "ended the process"
        while True:
            try:
                if not receive.poll(LONGEST):
                    ended = f"took longer than {LONGEST} s"
                    break
                row = receive.recv()
            except EOFError:
                break
            if row is None:
                tasks, ended = [], ""
                break
            if row[3] == "done":
                tasks = tasks[1:]
                pending = None
                continue
            pending = row if row[3] == "" else None
            results.add(row)
        if child.is_alive() and ended:
            child.kill()
        child.join()
        if ended:
            name, dtype, i = pending[:3] if pending else (tasks[0][0], tasks[0][1][0], 0)
            results.add((name, dtype, i, "failed", ended, ""))
            # The samples behind it are tried by themselves, one type after the other.
            rest = tasks[0][1][tasks[0][1].index(dtype) + 1:]
            tasks = [(name, [d]) for d in rest] + tasks[1:]


def report(results, options):
    counts = collections.Counter(kind for kind, _, _ in results.rows.values())
    reasons = collections.Counter(why.split(":")[0] for kind, why, _ in results.rows.values() if kind == "aside")
    judged = sum(counts[k] for k in ("refused", "failed", "wrong", "right"))
    print("aside: " + ", ".join(f"{n} {why}" for why, n in reasons.most_common()))
    worst = collections.Counter(name for (name, _, _), (kind, _, _) in results.rows.items() if kind in ("refused", "failed", "wrong"))
    print("not right: " + ", ".join(f"{name} {n}" for name, n in worst.most_common()))
    share = 100 * counts["right"] / judged if judged else 100.0
    print(f"{judged} samples: {counts['right']} right ({share:.2f} %), {counts['refused']} refused, {counts['failed']} failed, "
          f"{counts['wrong']} wrong; they run: {100 * (counts['right'] + counts['wrong']) / max(judged, 1):.2f} %")
    return 0 if share >= options.least else 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ops", default="")
    parser.add_argument("--dtypes", default=DTYPES)
    parser.add_argument("--samples", type=int, default=6)
    parser.add_argument("--part", default="1/1", help="K/N: every Nth operator, from the Kth on")
    parser.add_argument("--list", default="", help="file for each sample's class, a JSON array a line")
    parser.add_argument("--least", type=float, default=99.5)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    wanted = set(filter(None, options.ops.split(",")))
    part, parts = map(int, options.part.split("/"))
    asked = options.dtypes.split(",")
    tasks = [(label(i), [d for d in asked if getattr(torch, d) in i.supported_dtypes("cpu")]) for i in infos(wanted)[part - 1::parts]]
    tasks = [task for task in tasks if task[1]]
    results, begin = Results(options.list, options.verbose), time.time()
    run(options, tasks, results)
    status = report(results, options)
    print(f"{time.time() - begin:.0f} s")
    return status


if __name__ == "__main__":
    sys.exit(main())
