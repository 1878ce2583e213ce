"""make_payloads.py FOLDER: the payload files of payloads/, with the inputs they are tried on and what ExecuTorch computes from these."""

import pathlib
import sys

import numpy as np
import torch

import xnnpack_export as et
from xnnpack_ops import all_cases, make_case

CASES = {
    "f32": ["conv_relu", "depthwise", "conv_transpose_groups", "max_pool_ceil", "linear_relu", "bmm", "cat3", "slice_two",
            "pad", "upsample", "prelu"],
    "int8": ["small_net", "residual", "add", "mul", "global_pool", "linear_3d"],
    "dynamic": ["linear_relu", "conv", "conv_1x1"],
    "four": ["rows_odd", "groups"],
}


def main():
    target = pathlib.Path(sys.argv[1])
    work = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None  # cases that xnnpack_ops.py --keep left
    target.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    for kind, names in CASES.items():
        made = {} if work else {name: (make, inputs) for name, make, inputs in all_cases(kind)}
        for name in names:
            folder = (work or target / "cases") / f"{kind}_{name}"
            why = make_case(folder, *made[name]) if not work else ""
            if why or not (folder / "model.xnn").exists():
                print(f"{kind} {name}: {why or 'is not there'}")
                continue
            payload, named = et.unbundle((folder / "model.xnn").read_bytes())
            for part, prefix in (("in", "test.in"), ("exp", "test.out")):
                for file in folder.glob(f"{part}_*.npy"):
                    named[f"{prefix}.{file.stem.split('_')[1]}"] = np.load(file).tobytes()
            (target / f"{kind}_{name}.xnn").write_bytes(et.bundle(payload, named))


if __name__ == "__main__":
    main()
