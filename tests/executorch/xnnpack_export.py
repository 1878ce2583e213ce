"""Exports modules to ExecuTorch with its XNNPACK partitioner, and takes the delegate's payload out of the program."""

import io
import struct
import warnings

import numpy as np
import torch

warnings.filterwarnings("ignore")

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner  # noqa: E402
from executorch.exir import to_edge_transform_and_lower  # noqa: E402
from executorch.exir._serialize._program import deserialize_pte_binary  # noqa: E402
from executorch.runtime import Runtime  # noqa: E402


def quantized(module, inputs, dynamic=False, per_channel=True, samples=2, shapes=None):
    """The module with PT2E quantization as XNNPACKQuantizer places it."""
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    quantizer = XNNPACKQuantizer()
    quantizer.set_global(get_symmetric_quantization_config(is_per_channel=per_channel, is_dynamic=dynamic))
    prepared = prepare_pt2e(torch.export.export(module, inputs, dynamic_shapes=shapes).module(), quantizer)
    for _ in range(samples):
        prepared(*[torch.randn_like(x) if x.dtype == torch.float32 else x for x in inputs])
    prepared(*inputs)
    return convert_pt2e(prepared)


def four_bits(module, group):
    """Linear layers with dynamically quantized inputs and weights of 4 bits; one scale for `group` weights of a row, 0: for the row."""
    from torchao.quantization.granularity import PerAxis, PerGroup
    from torchao.quantization.quant_api import Int8DynamicActivationIntxWeightConfig, quantize_
    granularity = PerGroup(group) if group else PerAxis(0)
    quantize_(module, Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int4, weight_granularity=granularity))
    return module


def export(module, inputs, partitioner=None, dynamic_shapes=None):
    """The bytes of the .pte file."""
    program = torch.export.export(module, inputs, dynamic_shapes=dynamic_shapes)
    edge = to_edge_transform_and_lower(program, partitioner=[partitioner or XnnpackPartitioner()])
    return bytes(edge.to_executorch().buffer)


def run(pte, inputs):
    """What ExecuTorch's runtime computes."""
    method = Runtime.get().load_program(pte).load_method("forward")
    return [v.detach().clone() for v in method.execute([x.clone() for x in inputs])]


class NotWhole(Exception):
    """The program is more than one call of the delegate."""


def parts_of(pte):
    """Payload, named data, and which inputs and outputs of the method the arguments of the call are."""
    file = deserialize_pte_binary(pte)
    plan = file.program.execution_plan[0]
    instructions = [i.instr_args for chain in plan.chains for i in chain.instructions]
    kinds = [type(i).__name__ for i in instructions]
    if kinds != ["DelegateCall"] or len(plan.delegates) != 1:
        names = [op.name for op in plan.operators]
        raise NotWhole(f"{kinds.count('DelegateCall')} calls of the delegate, besides {names}")
    payload = file.program.backend_delegate_data[plan.delegates[0].processed.index].data
    named = {}
    if file.named_data is not None:
        for key, entry in file.named_data.pte_data.items():
            named[key] = bytes(file.named_data.buffers[entry.buffer_index if hasattr(entry, "buffer_index") else entry])
    args = instructions[0].args
    if any(a not in plan.inputs and a not in plan.outputs for a in args):
        raise NotWhole("a constant of the program is an argument of the call")
    ins = [plan.inputs.index(a) for a in args if a in plan.inputs]
    outs = [args.index(o) - len(ins) for o in plan.outputs]
    return bytes(payload), named, ins, outs


def bundle(payload, named):
    out = io.BytesIO()
    out.write(b"MXP1" + struct.pack("<I", 1 + len(named)))
    for key, data in [("", payload)] + sorted(named.items()):
        out.write(struct.pack("<I", len(key)) + key.encode() + struct.pack("<I", len(data)) + data)
    return out.getvalue()


def write_case(folder, pte, inputs):
    """Files for xnnpack_runner; the order of the outputs is returned."""
    payload, named, ins, outs = parts_of(pte)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.xnn").write_bytes(bundle(payload, named))
    for i, k in enumerate(ins):
        np.save(folder / f"in_{i}.npy", inputs[k].detach().contiguous().numpy())
    return outs


def unbundle(data):
    """Payload and named data of a file that bundle() made."""
    parts, at = [], 8
    for _ in range(struct.unpack_from("<I", data, 4)[0]):
        for _ in range(2):
            size = struct.unpack_from("<I", data, at)[0]
            parts.append(data[at + 4:at + 4 + size])
            at += 4 + size
    named = {key.decode(): value for key, value in zip(parts[2::2], parts[3::2])}
    return parts[1], named
