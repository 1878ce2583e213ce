"""A model as emitted C++ (`mote compile --emit cpp`)."""

import json, re
from pathlib import Path

from samples import array, comparison
from tool_chain import Failed, command


def write_glue(work, name, examples, exact):
    header = (work / f"{name}.h").read_text()
    # In the order of the declarations, so that names need no second set of rules.
    accessors = [a[0] for a in re.findall(r"^inline \S+ (\w+)\(uint8_t\* (\w+)\)", header, re.M)]
    banks = re.findall(r"^constexpr unsigned (\w+)_bytes = ", header, re.M)
    if banks != ["arena"]:
        raise Failed(f"bench/tiny measures models in one memory bank, found {', '.join(banks)}")
    inputs, outputs, types = examples
    text = f'#pragma once\n#include "{name}.h"\n#include "bench/board/compare.h"\nnamespace bench {{\n'
    for i, data in enumerate(inputs + outputs):
        text += array(f"kData{i}", data)
    text += f"constexpr unsigned kMemoryBytes = {name}::arena_bytes > 0 ? {name}::arena_bytes : 1;\n"
    has_init = "void init(" in header
    text += "inline int init([[maybe_unused]] uint8_t* m) {" + (f" {name}::init(m);" if has_init else "") + " return 0; }\n"
    text += "inline void fill([[maybe_unused]] uint8_t* m) {\n"
    for i, data in enumerate(inputs):
        text += f"  std::memcpy({name}::{accessors[i]}(m), kData{i}, {len(data)});\n"
    text += f"}}\ninline int run(uint8_t* m) {{ return {name}::run(m); }}\n"
    text += "inline bool same([[maybe_unused]] uint8_t* m) {\n  bool same = true;\n"
    for i, data in enumerate(outputs, len(inputs)):
        text += f"  same = same && {comparison(f'{name}::{accessors[i]}(m)', i, data, types[i - len(inputs)], exact)};\n"
    (work / "bench_model.h").write_text(text + "  return same;\n}\n}  // namespace bench\n")


def build(chain, mote, model, options, examples, work):
    """The program to run and what is known of it before."""
    name = "m_" + re.sub(r"\W", "_", Path(model).stem)
    emitted = json.loads(command(mote, "compile", model, "--emit", "cpp", "--target", chain.target, "--io-in-arena", "--golden-examples",
                                 "0", "--json", "-o", work / f"{name}.cc", *options))
    write_glue(work, emitted["name"], examples, chain.board == "host")
    objects = [chain.compile(work / f"{emitted['name']}.cc", work / "model.o")]
    return chain.link(objects, work), {"ram_bytes": emitted["ram_bytes"], "portable": emitted["portable"]}
