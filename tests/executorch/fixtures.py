#!/usr/bin/env python3
"""Writes the programs of tests/executorch/fixtures: each as NAME/model.pte, with the inputs and, from ExecuTorch's own runtime, the outputs
of its runs, one after the other, as NAME/RUN_in_I.npy and NAME/RUN_out_I.npy. Needs the PyPI package executorch 1.5.

    fixtures.py [FOLDER] [NAME...]"""
import pathlib
import sys
import warnings

import numpy as np
import torch
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge, to_edge_transform_and_lower
from executorch.runtime import Runtime

import executorch.exir.passes._quant_patterns_and_replacements  # noqa: F401  operators of quantized embeddings
import executorch.kernels.quantized  # noqa: F401  kernels that the runtime does not have by itself

import xnnpack_export
from programs import Block, Linear, Tokens, dim, image, seeded, small_programs

warnings.filterwarnings("ignore")
PLAIN = EdgeCompileConfig(_check_ir_validity=False)


def run(folder, runs, method="forward"):
    loaded = Runtime.get().load_program(str(folder / "model.pte")).load_method(method)
    for n, inputs in enumerate(runs):
        for i, x in enumerate(inputs):
            np.save(folder / f"{n}_in_{i}.npy", x.contiguous().numpy())
        for i, y in enumerate(loaded.execute(list(inputs))):
            np.save(folder / f"{n}_out_{i}.npy", y.clone().contiguous().numpy())


def export(module, example, shapes=None):
    return torch.export.export(module, example, dynamic_shapes=shapes, strict=False)


def write(folder, program):
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*"):
        old.unlink()
    (folder / "model.pte").write_bytes(program.buffer)
    program.write_tensor_data_to_file(str(folder))


def partitioned(program):
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    return to_edge_transform_and_lower(program, compile_config=PLAIN, partitioner=[XnnpackPartitioner()]).to_executorch()


def quantized(root, wanted):
    """Integers: portable kernels, and delegates between these."""
    rows, tokens = (image(2, 5, 16),), (torch.tensor([[0, 12, 3], [7, 7, 1]]),)
    if "tokens" in wanted:
        write(root / "tokens", to_edge(export(seeded(Tokens), tokens), compile_config=PLAIN).to_executorch())
        run(root / "tokens", [tokens])
    if "dynamic" in wanted:
        module = xnnpack_export.quantized(seeded(Linear), (image(2, 8),), dynamic=True)
        write(root / "dynamic", to_edge(export(module, (image(2, 8),)), compile_config=PLAIN).to_executorch())
        # Values that spread little, and none: the kernel has a least scale, and one for zeros.
        run(root / "dynamic", [(image(2, 8),), (image(2, 8) * 1e-3,), (torch.zeros(2, 8),)])
    if "int8" in wanted:
        write(root / "int8", partitioned(export(xnnpack_export.quantized(seeded(Block), rows), rows)))
        run(root / "int8", [rows])
    if "open_int8" in wanted:
        shapes = ({0: dim("n", 6)},)
        module = xnnpack_export.quantized(seeded(Linear), (image(3, 8),), shapes=shapes)
        write(root / "open_int8", partitioned(export(module, (image(3, 8),), shapes)))
        run(root / "open_int8", [(image(n, 8),) for n in (1, 3, 6)])


def special(root, wanted):
    """Programs that are no single method on portable kernels."""
    exported, x = export(seeded(Linear), (image(2, 8),)), image(2, 8)
    if "methods" in wanted:
        both = {"forward": exported, "half": export(seeded(Linear), (image(1, 8),))}
        write(root / "methods", to_edge(both, compile_config=PLAIN).to_executorch())
        run(root / "methods", [(x,)])
    if "external" in wanted:
        config = ExecutorchBackendConfig(external_constants=True)
        write(root / "external", to_edge(exported, compile_config=PLAIN).to_executorch(config))
        np.save(root / "external" / "0_in_0.npy", x.numpy())
        np.save(root / "external" / "0_out_0.npy", seeded(Linear)(x).detach().numpy())
    if "xnnpack" in wanted:
        write(root / "xnnpack", partitioned(exported))
        run(root / "xnnpack", [(x,)])
    if "own_backend" in wanted:
        from executorch.exir.backend.test.backend_with_compiler_demo import BackendWithCompilerDemo
        from executorch.exir.backend.backend_api import to_backend

        class Sum(torch.nn.Module):
            def forward(self, v):
                return torch.sin(v)

        lowered = to_backend(BackendWithCompilerDemo.__name__, to_edge(export(Sum(), (x,))).exported_program(), [])
        write(root / "own_backend", to_edge(export(lowered, (x,)), compile_config=PLAIN).to_executorch())


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "fixtures"
    programs = small_programs()
    others = ("methods", "external", "xnnpack", "own_backend", "tokens", "dynamic", "int8", "open_int8")
    wanted = sys.argv[2:] or [*programs, *others]
    for name, (make, example, shapes, runs) in programs.items():
        if name in wanted:
            edge = to_edge(export(seeded(make), example, shapes), compile_config=PLAIN)
            write(root / name, edge.to_executorch())
            run(root / name, runs or [example])
            print(name, (root / name / "model.pte").stat().st_size, flush=True)
    special(root, wanted)
    quantized(root, wanted)


main()
