#pragma once

#include <map>

#include "mote/tools/json_out.h"
#include "mote/tools/program_view.h"

namespace mote::tools {

TensorSpec spec_of(const ProgramView& view, const Io& io);
// What the evidence under a key of mote/format/evidence.h says of an input or output; empty where it says nothing.
std::string border_evidence(const ProgramView& view, const char* kind, const Method& m, const std::string& name);
std::map<std::string, uint32_t> count_ops(const ProgramView& view);  // instructions of each operator

Json inspect_json(const std::string& path, const ProgramView& view, bool with_instructions);

}  // namespace mote::tools
