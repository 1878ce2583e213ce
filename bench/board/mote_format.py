"""A model as a .mote file in flash, used in place by the runtime; only the operators and element types of the model are linked."""

import json, re
from pathlib import Path

from samples import array, comparison
from tool_chain import ROOT, RUNTIME, Failed, command, sources_of

FLATBUFFERS = next((p for p in ("/usr/include", "/usr/local/include") if Path(p, "flatbuffers").exists()), "/usr/include")


def scan_tool(chain):
    """Tells operators and element types of a program; made once, for this machine."""
    folder = Path(chain.kept.name) / "scan"
    tool = folder / "op_scan"
    if tool.exists():
        return tool
    folder.mkdir(exist_ok=True)
    command("flatc", "--cpp", "-o", folder, ROOT / "mote/format/program.fbs")
    source = ROOT / "cmake/op_scan"
    command("c++", "-std=c++17", "-O1", "-I", ROOT, "-I", source, "-I", folder, "-idirafter", FLATBUFFERS, source / "op_scan.cc",
            *sources_of("mote/format"), *sources_of("mote/core"), "-o", tool)
    return tool


def write_selection(chain, program, work):
    """Operators by name with masks of their types, and the headers that select them."""
    names = dict(re.findall(r"^MOTE_OP\((\d+), (\w+)\)", (ROOT / "mote/ops/ops.def").read_text(), re.M))
    used = {number: masks for number, *masks in (line.split(":") for line in command(scan_tool(chain), program).split())}
    lines = ["".join(f"  if (op == OpId::{names[number]}) return {masks[i]}u;\n" for number, masks in used.items()) for i in range(2)]
    (work / "mote_selection.h").write_text('#pragma once\n#include "mote/core/dtype.h"\n#include "mote/ops/op_id.h"\nnamespace mote {\n'
                                           f"constexpr DTypeMask selected_types(OpId op) {{\n{lines[0]}  return 0;\n}}\n}}\n")
    (work / "mote_forms.h").write_text('#pragma once\n#include "mote/ops/op_id.h"\nnamespace mote {\n'
                                       f"constexpr uint32_t selected_forms(OpId op) {{\n{lines[1]}  return 0;\n}}\n}}\n")
    operators = [names[number] for number in used]
    (work / "ops_selected.h").write_text("".join(f'#include "mote/ops/{op}/{op}.h"\n' for op in operators))
    (work / "ops_selected.def").write_text("".join(f"MOTE_OP({number}, {names[number]})\n" for number in sorted(used, key=int)))
    return operators


def write_glue(work, program, inspected, examples):
    inputs, outputs, types = examples
    certificate = inspected["certificate"]
    if len(inspected["banks"]) != 1:
        raise Failed(f"bench/tiny measures models in one memory bank, found {len(inspected['banks'])}")
    scratch = certificate["scratch_base_bytes"] + certificate["scratch_per_thread_bytes"]
    text = '#pragma once\n#include "bench/board/mote_model.h"\n#include "bench/board/compare.h"\nnamespace bench {\n'
    text += array("kProgram", program.read_bytes(), '[[gnu::section(".model")]] ')
    for i, data in enumerate(inputs + outputs):
        text += array(f"kData{i}", data)
    text += f"constexpr Sizes kSizes = {{{certificate['instance_bytes_32']}, {scratch}, {inspected['banks'][0]['bytes']}}};\n"
    text += "constexpr unsigned kMemoryBytes = memory_bytes(kSizes);\n"
    text += "inline int init(uint8_t* m) { return open(kProgram, sizeof kProgram, kSizes, m); }\ninline void fill(uint8_t*) {\n"
    for i, data in enumerate(inputs):
        text += f"  std::memcpy(input({i}), kData{i}, {len(data)});\n"
    text += "}\ninline int run(uint8_t*) { return run_model(); }\ninline bool same(uint8_t*) {\n  bool same = true;\n"
    for i, data in enumerate(outputs):
        text += f"  same = same && {comparison(f'output({i})', i + len(inputs), data, types[i], False)};\n"
    (work / "bench_model.h").write_text(text + "  return same;\n}\n}  // namespace bench\n")
    return certificate["instance_bytes_32"] + scratch + inspected["banks"][0]["bytes"]


def link(chain, operators, lean, work):
    """With the runtime's kernels for microcontrollers; lean: without the portable ones they stand for."""
    include = [work, Path(chain.kept.name) / "scan"]
    served = ["q_conv", "q_matmul", "q_avg_pool"] if lean else []
    kernels = ROOT / "mote/kernels/cortexm/runtime"
    sources = [s for folder in RUNTIME for s in sources_of(folder)] + [ROOT / "mote/ops/op_table.cc", ROOT / "bench/board/mote_model.cc"]
    sources += [ROOT / f"mote/ops/{op}/{op}.cc" for op in operators if op not in served]
    sources += [kernels / "select.cc"] + ([kernels / "instead.cc"] if lean else [])
    objects = []
    for source in sources:
        # What no selection reaches is the same for every model.
        own = "mote/ops" in str(source) or "mote/kernels" in str(source) or source.stem == "mote_model"
        to = (work if own else Path(chain.kept.name)) / f"runtime_{source.parent.name}_{source.stem}.o"
        # Speed counts in kernels and in what looks at every tensor and operand of a program.
        fast = "mote/kernels" in str(source) or source.stem in ("op_table", "reader", "op")
        flags = ["-idirafter", FLATBUFFERS, f"-DMOTE_BENCH_LEAN={int(lean)}"] + ([] if fast else ["-Os"])
        objects.append(to if to.exists() and not own else chain.compile(source, to, include, flags))
    return chain.link(objects, work)


def build(chain, mote, model, options, examples, work):
    if chain.board == "host":
        raise Failed("--format mote is measured on boards; on the host: mote run")
    program = work / "device.mote"
    command(mote, "compile", model, "--target", chain.target, "--io-in-arena", "--golden-examples", "0", "--alignment", "64",
            "--strip-names", "--json", "-o", program, *options)
    ram = write_glue(work, program, json.loads(command(mote, "inspect", "--json", program)), examples)
    operators = write_selection(chain, program, work)
    try:
        elf = link(chain, operators, True, work)
        chain.run(elf)
    except Failed as error:
        if "does not open" not in str(error):
            raise
        elf = link(chain, operators, False, work)
    return elf, {"ram_bytes": ram, "portable": []}
