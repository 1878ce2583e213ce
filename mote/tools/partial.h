#pragma once

// `mote compile --partial`: a program whose unsupported operators are custom ones, and the C++ source in which they are filled in.

#include <string>
#include <vector>

#include "mote/compiler/driver/compile.h"
#include "mote/tools/json_out.h"

namespace mote::tools {

// What of a model is supported.
struct Support {
  size_t operators = 0, supported = 0;
  std::vector<ir::MissingOp> missing;  // what --partial would leave out
  ir::Problems remaining;              // what stands in its way; empty: nothing
  bool has_macs = false;
  uint64_t macs = 0;  // of the supported ones
};

// Of a model that could not be compiled. `with_macs`: compiles what is supported for that.
Support support_of(const frontends::Source& source, const driver::CompileOptions& options, bool with_macs);
std::string support_text(const Support& support);
Json support_json(const Support& support);

// Compiles with custom operators in place of what is missing; those are in result->missing_ops. No examples: nothing can be run.
bool compile_partial(const frontends::Source& source, const driver::CompileOptions& options, driver::CompileResult* result,
                     ir::Problems* problems);

// "out.mote" -> "out.custom_ops.cc"
std::string stub_path(const std::string& program);
// A function for each kind of operator, which says that it is not filled in; compiles as it stands.
std::string stub_source(const std::vector<ir::MissingOp>& missing, const std::string& model, const std::string& program);

// Writes it beside the program; never over another file that is there, which somebody may have filled in. Throws a Failure.
void write_stub(const std::vector<ir::MissingOp>& missing, const std::string& model, const std::string& program);

Json missing_json(const std::vector<ir::MissingOp>& missing);

}  // namespace mote::tools
