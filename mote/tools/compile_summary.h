#pragma once

// What `mote compile` says of a program it has written.

#include <string>

#include "mote/compiler/driver/compile.h"
#include "mote/tools/json_out.h"
#include "mote/tools/program_view.h"

namespace mote::tools {

// The files a compilation read and wrote, and whether a table of sizes was asked for.
struct CompiledFiles {
  std::string model, output, weights;
  bool size = false;
};

Json result_json(const CompiledFiles& files, const driver::CompileResult& r, const target::Target& target, const ProgramView& view,
                 double seconds);
// The same for people: a table, warnings and notes.
void print_result(const CompiledFiles& files, const driver::CompileResult& r, const target::Target& target, const ProgramView& view,
                  double seconds);

}  // namespace mote::tools
