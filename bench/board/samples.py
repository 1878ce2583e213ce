"""Inputs of a model and what the host makes of them."""

import json, random, re, struct
from pathlib import Path

from tool_chain import Failed, command

FORMATS = {"s8": "b", "u8": "B", "s16": "h", "u16": "H", "s32": "i", "u32": "I", "s64": "q", "f32": "f", "f16": "e", "bool": "?"}
NUMPY = {"s8": "|i1", "u8": "|u1", "s16": "<i2", "u16": "<u2", "s32": "<i4", "u32": "<u4", "s64": "<i8", "f32": "<f4", "f16": "<f2",
         "bool": "|b1"}


def file_name(name):
    return re.sub(r"[^A-Za-z0-9._-]", "_", name)


def write_npy(path, dtype, dims, data):
    header = f"{{'descr': '{NUMPY[dtype]}', 'fortran_order': False, 'shape': ({''.join(f'{d}, ' for d in dims)}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def read_npy(path):
    data = path.read_bytes()
    return data[10 + struct.unpack("<H", data[8:10])[0]:]


def sample(io, seed):
    """Bytes of an input: anything for 8 and 16 bits, small numbers for wider integers (they may be indices), 0 to 1 for floats."""
    if io["dtype"] not in FORMATS:
        raise Failed(f"input '{io['name']}' is {io['dtype']}: bench/tiny can make up {', '.join(FORMATS)}")
    count, rng, kind = 1, random.Random(seed), FORMATS[io["dtype"]]
    for d in io["dims"]:
        count *= d
    ranges = {"b": (-128, 128), "B": (0, 256), "h": (-32768, 32768), "H": (0, 65536), "?": (0, 2)}
    low, high = ranges.get(kind, (0, 2))
    return struct.pack(f"<{count}{kind}", *(rng.random() if kind in "ef" else rng.randrange(low, high) for _ in range(count)))


def run_on_host(mote, program, method, work):
    """Input and output bytes of one run and the types of outputs, by the operators' own kernels: those of the host's instruction sets add
    floats in other orders."""
    words, inputs = [], []
    for i, io in enumerate(method["inputs"]):
        path = work / f"{file_name(io['name'])}.in.npy"
        inputs.append(sample(io, i))
        write_npy(path, io["dtype"], io["dims"], inputs[-1])
        words += ["--input", f"{io['name']}={path}"]
    command(mote, "run", program, "--kernels", "portable", *words, "--output", work / "outputs")
    outputs = [read_npy(work / "outputs" / (file_name(io["name"]) + ".npy")) for io in method["outputs"]]
    return inputs, outputs, [io["dtype"] for io in method["outputs"]]


def array(name, data, section=""):
    return f"{section}alignas(16) const unsigned char {name}[] = {{{','.join(map(str, data)) if data else '0'}}};\n"


def comparison(address, number, data, dtype, exact):
    """C++ that is true for the expected output. Floats on a board: its C library rounds functions such as exp in its own way."""
    if dtype != "f32" or exact:
        return f"std::memcmp({address}, kData{number}, {len(data)}) == 0"
    return f"bench::close({address}, kData{number}, {len(data) // 4})"


def measure(chain, mote, model, how, options, work):
    """Everything about a model in one format (cpp_format, mote_format)."""
    if not Path(model).is_file():
        raise Failed("there is no such file")
    program = work / "host.mote"
    command(mote, "compile", model, "-o", program, "--target", chain.target, "--golden-examples", "0", "--json", *options)
    methods = json.loads(command(mote, "inspect", "--json", program))["methods"]
    if len(methods) != 1:
        raise Failed(f"bench/tiny runs models with one method, found {len(methods)}: {', '.join(m['name'] for m in methods)}")
    for io in methods[0]["inputs"]:
        if io["dynamic_axes"]:
            raise Failed(f"input '{io['name']}' has open sizes: fix them, such as with -- --shape {io['name']}=1x...")
    examples = run_on_host(mote, program, methods[0], work)
    elf, known = how.build(chain, mote, model, options, examples, work)
    return {"model": Path(model).name, "board": chain.board, **known, **chain.run(elf)}
