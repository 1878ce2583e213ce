"""PyTorch's own operator samples (torch.testing's OpInfo database) through Mote: exported, compiled, run, compared with eager in values,
shapes and element types.

    opinfo.py RUNNER [--ops add,mul] [--dtypes float32] [--samples N] [--part 1/2] [--table FILE] [--verbose]

For each core ATen operator the samples are those whose decomposed graph contains it. Counts are printed per operator; what fails is listed
with its reason, and the exit code is 1 when anything does. MOTE_FULL_DATA=1 in the environment takes all samples (33,000, an hour).
"""

import argparse
import collections
import os
import sys
import warnings

import torch
from torch.utils import _pytree as pytree

from cases import Runner, difference, remember_operators

HERE = os.path.dirname(os.path.abspath(__file__))
DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64,
          torch.bool]
BATCH = 24  # samples in one exported program
# Without MOTE_FULL_DATA: of float32 so many samples, of each other element type one.
FEW = 2
# No part of inference graphs, or with results that are not fixed.
NOT_INFERENCE = {"_adaptive_avg_pool2d_backward", "avg_pool2d_backward", "convolution_backward", "embedding_dense_backward",
                 "max_pool2d_with_indices_backward", "native_group_norm_backward", "native_layer_norm_backward"}
RANDOM = {"rand", "randn", "randperm", "native_dropout"}
COMPLEX = {"_fft_c2r", "_fft_r2c"}
# Of storage, not of values.
STORAGE = {"resize_", "sym_storage_offset", "sym_is_contiguous", "sym_stride", "empty", "empty_strided"}
# Which of several equal elements an index names is not told.
TIES = {"sort", "topk", "max", "min"}
# Resampling: eager's own integer weights have 15 bits, so bytes may be off by one; a program's scales are 32-bit floats.
RESAMPLED = {"nn.functional.interpolate", "nn.functional.upsample_bilinear"}
# Samples for these come from other operators' graphs, or none exist: OpInfo of this name serves them.
SOURCES = {
    "convolution": ["nn.functional.conv1d", "nn.functional.conv2d", "nn.functional.conv3d", "nn.functional.conv_transpose1d",
                    "nn.functional.conv_transpose2d", "nn.functional.conv_transpose3d"],
    "_native_batch_norm_legit": ["_native_batch_norm_legit", "nn.functional.batch_norm"],
    "_native_batch_norm_legit_no_training": ["nn.functional.batch_norm"],
    "_adaptive_avg_pool2d": ["nn.functional.adaptive_avg_pool2d"],
    "_adaptive_avg_pool3d": ["nn.functional.adaptive_avg_pool3d"],
    "adaptive_avg_pool1d": ["nn.functional.adaptive_avg_pool1d"],
    "_cdist_forward": ["cdist"],
    "_embedding_bag": ["nn.functional.embedding_bag"],
    "_log_softmax": ["log_softmax", "nn.functional.log_softmax"],
    "_pdist_forward": ["nn.functional.pdist"],
    "_softmax": ["softmax", "nn.functional.softmax"],
    "_to_copy": ["to", "_to_copy", "float", "long"],
    "alias": ["alias_copy"],
    "avg_pool1d": ["nn.functional.avg_pool1d"],
    "avg_pool2d": ["nn.functional.avg_pool2d"],
    "avg_pool3d": ["nn.functional.avg_pool3d"],
    "index": ["__getitem__"],
    "constant_pad_nd": ["constant_pad_nd", "nn.functional.pad"],
    "elu": ["nn.functional.elu"],
    "embedding": ["nn.functional.embedding"],
    "gelu": ["nn.functional.gelu"],
    "grid_sampler_2d": ["grid_sampler_2d", "nn.functional.grid_sample"],
    "hardtanh": ["nn.functional.hardtanh"],
    "leaky_relu": ["nn.functional.leaky_relu"],
    "max_pool2d_with_indices": ["nn.functional.max_pool2d"],
    "max_pool3d_with_indices": ["nn.functional.max_pool3d"],
    "native_group_norm": ["nn.functional.group_norm"],
    "native_layer_norm": ["native_layer_norm", "nn.functional.layer_norm"],
    "reflection_pad1d": ["nn.functional.pad"],
    "reflection_pad2d": ["nn.functional.pad"],
    "reflection_pad3d": ["nn.functional.pad"],
    "replication_pad2d": ["nn.functional.pad"],
    "replication_pad3d": ["nn.functional.pad"],
    "relu": ["nn.functional.relu"],
    "scalar_tensor": ["scalar_tensor", "masked_fill"],
    "scatter_reduce": ["scatter_reduce"],
    "upsample_bilinear2d": ["nn.functional.interpolate", "nn.functional.upsample_bilinear"],
    "upsample_nearest2d": ["nn.functional.interpolate", "nn.functional.upsample_nearest"],
    "repeat": ["repeat", "tile"],
    "any": ["any"],
    "view": ["view", "reshape"],
}


class Extra:
    """An operator without an OpInfo, in its form."""

    def __init__(self, name, op, shapes, floats_only=True):
        self.name, self.op, self.shapes, self.floats_only = name, op, shapes, floats_only

    def supported_dtypes(self, device):
        return set(d for d in DTYPES if d.is_floating_point or not self.floats_only)

    def sample_inputs(self, device, dtype, requires_grad):
        for shapes in self.shapes:
            tensors = [torch.testing.make_tensor(s, dtype=dtype, device=device) for s in shapes]
            yield argparse.Namespace(input=tensors[0], args=tuple(tensors[1:]), kwargs={})


# Operators that op_db has no entry for.
EXTRA = [
    Extra("col2im", lambda x: torch.nn.functional.fold(x, (4, 5), (2, 3), dilation=(1, 1), padding=(1, 0), stride=(2, 1)),
          [[(2, 12, 9)], [(6, 9)]]),
    Extra("copy", lambda x, y: torch.ops.aten.copy(x, y), [[(2, 3), (2, 3)], [(2, 3), (3,)], [(), ()]], False),
    Extra("_local_scalar_dense", lambda x, y: x * y.item(), [[(2, 3), ()], [(3,), (1,)]]),
    Extra("sym_size", lambda x: x.new_zeros(x.size(0)) + x.shape[1], [[(2, 3)]]),
    Extra("sym_numel", lambda x: x.reshape(x.numel()), [[(2, 3)]], False),
]


def core_operators():
    """Names of the operators tagged as core, with their overloads."""
    core = collections.defaultdict(list)
    for schema in torch._C._jit_get_all_schemas():
        namespace, name = schema.name.split("::", 1)
        if namespace != "aten":
            continue
        try:
            overload = getattr(getattr(torch.ops.aten, name), schema.overload_name or "default")
        except AttributeError:
            continue
        if torch.Tag.core in overload.tags:
            core[name].append(overload._overloadname)
    return core


def picks(x, found, expected):
    """Whether indices name the values, when several are right: equal elements may come in any order."""
    for dim in range(max(x.dim(), 1)):
        try:
            if torch.equal(x.gather(dim, found[1]), expected[0]):
                return True
        except RuntimeError:
            continue
    return False


class Calls(torch.nn.Module):
    """Several calls of one operator, with their tensors as inputs."""

    def __init__(self, op, samples):
        super().__init__()
        self.op, self.samples = op, samples

    def forward(self, *tensors):
        results, at = [], 0
        for spec, leaves in self.samples:
            filled = []
            for leaf in leaves:
                filled.append(tensors[at] if isinstance(leaf, torch.Tensor) else leaf)
                at += isinstance(leaf, torch.Tensor)
            args, kwargs = pytree.tree_unflatten(filled, spec)
            results.append(outputs_of(self.op, args, kwargs))
        return results


def outputs_of(op, args, kwargs):
    return [r for r in pytree.tree_leaves(op(*args, **kwargs)) if isinstance(r, (torch.Tensor, int, float, bool))]


def resampled(found, expected):
    """What difference() should have said of a resampled tensor: nothing, or None for no opinion."""
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return None
    allowed = {torch.uint8: 1, torch.float64: 2e-6 * max(1.0, expected.abs().max().item())}.get(expected.dtype, 0)
    return "" if (found.double() - expected.double()).abs().max().item() <= allowed else None


def as_tensor(value):
    if isinstance(value, torch.Tensor):
        return value
    return torch.tensor(value, dtype=torch.float64 if isinstance(value, float) else None)


def wide_result(op, sample):
    """The eager result in float32."""
    spec, leaves = sample
    wide = [l.float() if isinstance(l, torch.Tensor) and l.is_floating_point() else l for l in leaves]
    wide = [torch.float32 if isinstance(l, torch.dtype) and l.is_floating_point else l for l in wide]
    args, kwargs = pytree.tree_unflatten(wide, spec)
    return [as_tensor(r) for r in outputs_of(op, args, kwargs)]


class Judge:
    def __init__(self, runner, core, wanted, verbose):
        self.runner, self.core, self.wanted, self.verbose = runner, core, wanted, verbose
        self.passed, self.failed = collections.Counter(), collections.Counter()
        self.types = collections.defaultdict(set)
        self.not_exported = collections.Counter()
        self.reasons = []

    def export(self, op, samples):
        tensors = [leaf for _, leaves in samples for leaf in leaves if isinstance(leaf, torch.Tensor)]
        with torch.no_grad():
            program = torch.export.export(Calls(op, samples), tuple(tensors)).run_decompositions()
        seen = {n.target for n in program.graph.nodes if n.op == "call_function" and isinstance(n.target, torch._ops.OpOverload)}
        self.runner.save(program)
        return tensors, {str(t._schema.name).split("::")[1] for t in seen} & set(self.core)

    def check(self, name, op, group):
        """Several (element type, sample, expected) at once, for exporting is what takes the time; where something fails, those of each
        element type, and then one by one."""
        types, samples, expected = zip(*group)
        try:
            tensors, seen = self.export(op, samples)
        except Exception as e:  # what cannot be exported is not for us to judge
            if len(group) > 1:
                return self.check_parts(name, op, group)
            self.not_exported[name] += 1
            if self.verbose:
                print(f"  not exported: {name} {types[0]}: {str(e).splitlines()[0][:160]}")
            return None
        flat = [as_tensor(e) for sample in expected for e in sample]
        found, why = self.runner.run(tensors, [e.dtype for e in flat])
        if found is None and len(group) > 1:
            return self.check_parts(name, op, group)
        if found is not None:
            why = next((w for w in self.reasons_of(name, op, group, found) if w), "")
            if why and len(group) > 1:
                return self.check_parts(name, op, group)
        for operator in seen:
            (self.failed if why else self.passed)[operator] += len(group)
            self.types[operator].update(str(t).split(".")[1] for t in types)
        (self.failed if why else self.passed)["samples"] += len(group)
        if why:
            shapes = [tuple(l.shape) if isinstance(l, torch.Tensor) else l for l in samples[0][1]]
            self.reasons.append((name, str(types[0]).split(".")[1], why, shapes))
            if self.verbose:
                print(f"  FAILED {name} {types[0]} {shapes}: {why[:300]}", flush=True)
        return None

    @staticmethod
    def reasons_of(name, op, group, found):
        """Of each sample: empty, or what is wrong with its results."""
        rest = iter(found)
        for dtype, sample, expected in group:
            flat = [as_tensor(e) for e in expected]
            mine = [next(rest) for _ in flat]
            differ = [difference(f, e) for f, e in zip(mine, flat)]
            if any(differ):
                differ = excused(name, op, dtype, sample, mine, flat, differ)
            yield next((d for d in differ if d), "")

    def check_parts(self, name, op, group):
        types = list(dict.fromkeys(t for t, _, _ in group))
        parts = [[g for g in group if g[0] == t] for t in types] if len(types) > 1 else [[g] for g in group]
        for part in parts:
            self.check(name, op, part)


def excused(name, op, dtype, sample, found, flat, differ):
    """What remains of the differences of one sample when there is more than one right answer."""
    tensors = [leaf for leaf in sample[1] if isinstance(leaf, torch.Tensor)]
    if name in TIES and len(flat) == 2 and not differ[0] and picks(tensors[0], found, flat):
        differ = [differ[0], ""]
    if any(differ) and dtype in (torch.float16, torch.bfloat16):
        # Eager rounds on the way where Mote computes in 32 bits: being near the wide result is right too.
        differ = [difference(f, w.to(f.dtype)) for f, w in zip(found, wide_result(op, sample))]
    if any(differ) and name in RESAMPLED:
        differ = [d if resampled(f, e) is None else "" for f, e, d in zip(found, flat, differ)]
    return differ


def samples_of(info, dtype, limit):
    """(spec, leaves) of each sample with its eager result; clones, so that none is a view of another."""
    samples, expected = [], []
    torch.manual_seed(0)
    # All of them first: a generator left half-way would be collected in the middle of an export.
    for s in list(info.sample_inputs("cpu", dtype, requires_grad=False)):
        if len(samples) == limit:
            break
        leaves, spec = pytree.tree_flatten(((s.input, *s.args), s.kwargs))
        if any(isinstance(l, torch.Tensor) and (l.is_complex() or l.is_sparse or l.dim() > 8) for l in leaves):
            continue
        leaves = [l.detach().clone(memory_format=torch.contiguous_format) if isinstance(l, torch.Tensor) else l for l in leaves]
        args, kwargs = pytree.tree_unflatten([l.clone() if isinstance(l, torch.Tensor) else l for l in leaves], spec)
        try:
            result = outputs_of(info.op, args, kwargs)
        except Exception:
            continue  # torch itself refuses it
        if result and not any(isinstance(r, torch.Tensor) and (r.is_complex() or r.is_sparse) for r in result):
            samples.append((spec, leaves))
            expected.append(result)
    return samples, expected


def samples_of_types(info, dtypes, limit):
    group = []
    for dtype in dtypes:
        try:
            most = limit if limit != 0 else FEW if dtype is torch.float32 else 1
            group += [(dtype, sample, expected) for sample, expected in zip(*samples_of(info, dtype, most))]
        except Exception as e:
            print(f"  no samples: {info.name} {dtype}: {str(e).splitlines()[0][:120]}")
    return group


def main():
    remember_operators()
    torch.set_num_threads(1)  # small tensors, and the other tests have processors to use
    parser = argparse.ArgumentParser()
    parser.add_argument("runner")
    parser.add_argument("--ops", default="")
    parser.add_argument("--dtypes", default="")
    parser.add_argument("--samples", type=int, default=-1 if "MOTE_FULL_DATA" in os.environ else 0,
                        help="at most so many of each operator and element type, -1: all, 0: some of float32 and one of each other")
    parser.add_argument("--all", action="store_true", help="every OpInfo, not only those of core operators")
    parser.add_argument("--part", default="1/1", help="K/N: only every Nth operator, from the Kth on")
    parser.add_argument("--table", default="")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    try:
        from torch.testing._internal.common_methods_invocations import op_db
    except ImportError as e:
        print(f"skipped: {e}")
        return 77
    infos = collections.defaultdict(list)
    for info in [*op_db, *EXTRA]:
        infos[info.name].append(info)
    core = core_operators()
    excluded = NOT_INFERENCE | RANDOM | COMPLEX | STORAGE
    wanted = [n for n in sorted(core) if n not in excluded]
    names = []
    for operator in wanted:
        for source in SOURCES.get(operator, [operator]):
            if source in infos and source not in names:
                names.append(source)
    if options.all:
        names = sorted(infos)
    if options.ops:
        names = options.ops.split(",")
    part, parts = map(int, options.part.split("/"))
    names = names[part - 1::parts]
    dtypes = [getattr(torch, d) for d in options.dtypes.split(",")] if options.dtypes else DTYPES
    runner = Runner(options.runner)
    judge = Judge(runner, core, wanted, options.verbose)
    for name in names:
        for info in infos[name]:
            group = samples_of_types(info, [d for d in dtypes if d in info.supported_dtypes("cpu")], options.samples)
            for at in range(0, len(group), BATCH):
                judge.check(name, info.op, group[at:at + BATCH])
        if options.verbose:
            print(f"{name}: passed {judge.passed['samples']} failed {judge.failed['samples']}", flush=True)
    runner.close()
    return report(judge, wanted, options)


def report(judge, wanted, options):
    tried = [n for n in wanted if judge.passed[n] + judge.failed[n] > 0]
    fine = [n for n in tried if judge.failed[n] == 0]
    lines = ["operator\tsamples passed\tfailed\telement types"]
    lines += [f"{n}\t{judge.passed[n]}\t{judge.failed[n]}\t{' '.join(sorted(judge.types[n]))}" for n in wanted]
    if options.table:
        with open(options.table, "w") as f:
            f.write("\n".join(lines) + "\n")
    for name, dtype, why, shapes in judge.reasons:
        print(f"FAILED {name} {dtype} {shapes}: {why[:240]}")
    print(f"not exported by PyTorch: {sum(judge.not_exported.values())} samples: {dict(judge.not_exported)}")
    if options.part == "1/1":
        print(f"core operators without a sample: {' '.join(n for n in wanted if n not in tried)}")
    print(f"core operators with a failure: {' '.join(n for n in tried if n not in fine)}")
    print(f"core operators: {len(fine)} of {len(tried)} tried pass all their samples ({len(wanted)} in all); "
          f"samples: {judge.passed['samples']} passed, {judge.failed['samples']} failed")
    return 1 if judge.reasons else 0


if __name__ == "__main__":
    sys.exit(main())
