#!/usr/bin/env python3
"""Writes mote/compiler/frontends/executorch/aten_kernels.def: what the kernels of ExecuTorch programs (out variants of PyTorch's operators)
are among the operators that the torch front end reads, and what their arguments are called. From PyTorch's own schemas.

    make_kernels.py FILE            writes it
    make_kernels.py --check FILE    fails when the file differs"""
import collections
import pathlib
import re
import sys

try:
    import torch
except ImportError:
    print("SKIPPED: torch is not installed")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEAD = """// Kernels of ExecuTorch programs: kernel, the operator it is, its arguments, how many outputs follow. "-" is an argument that
// nobody asks for (layout, device, memory format), ":t" an element type. Made by tests/executorch/make_kernels.py from PyTorch's schemas.
"""
# Kernels whose functional form has no importer under its own name, but means the same as another operator.
SAME = {"aten.t_copy.default": "aten.t.default", "aten.detach_copy.default": "aten.detach.default",
        "aten.alias_copy.default": "aten.alias.default", "aten.lift_fresh_copy.default": "aten.lift_fresh.default",
        "aten.transpose_copy.int": "aten.transpose.int", "aten.squeeze_copy.dim": "aten.squeeze.dim"}


def known_operators():
    known = set()
    for line in (ROOT / "docs/generated/aten.md").read_text().splitlines():
        row = re.match(r"\| `([^`]+)` \| ([^|]*) \|", line)
        for overload in row.group(2).split(",") if row else []:
            known.add(row.group(1) + ("." + overload.strip() if overload.strip() else ""))
    return known


def argument(a):
    kind = str(a.type)
    if a.name in ("layout", "device", "pin_memory", "memory_format", "generator", "non_blocking"):
        return "-"
    return a.name + (":t" if a.name in ("dtype", "out_dtype") and "int" in kind else "")


# What out variants leave out: the output has it.
IMPLIED = ("dtype", "layout", "device", "pin_memory", "memory_format", "non_blocking")


def signature(schema, implied=()):
    return tuple((a.name, str(a.type)) for a in schema.arguments if not a.is_out and a.name not in implied)


def writes(schema):
    return any(a.alias_info is not None and a.alias_info.is_write for a in schema.arguments)


def lines():
    known, schemas = known_operators(), collections.defaultdict(list)
    for s in torch._C._jit_get_all_schemas():
        if s.name.startswith("aten::"):
            schemas[s.name].append(s)
    for name, group in sorted(schemas.items()):
        functional = {}
        for implied in (IMPLIED, ()):
            for s in group:
                if not writes(s):
                    functional[signature(s, implied)] = s
        for s in sorted(group, key=lambda x: x.overload_name):
            outs = sum(1 for a in s.arguments if a.is_out)
            base = functional.get(signature(s), functional.get(signature(s, IMPLIED)))
            if outs == 0 or base is None:
                continue
            target = name.replace("::", ".") + "." + (base.overload_name or "default")
            target = target if target in known else SAME.get(target, target)
            if target in known:
                args = " ".join(argument(a) for a in s.arguments if not a.is_out)
                kernel = name + ("." + s.overload_name if s.overload_name else "")
                line = f'MOTE_KERNEL("{kernel}", "{target}", "{args}", {outs})\n'
                yield line if len(line) <= 140 else line.replace(f' "{args}"', f'\n            "{args}"')


def main():
    check = sys.argv[1] == "--check"
    path = pathlib.Path(sys.argv[-1])
    text = HEAD + "".join(lines())
    if not check:
        path.write_text(text)
    elif path.read_text() != text:
        print(f"{path} differs from PyTorch {torch.__version__}'s schemas: run tests/executorch/make_kernels.py {path}")
        return 1
    return 0


sys.exit(main())
