#pragma once

// What a program says of itself, as Python values.

#include "mote/bindings/python/src/program.h"

namespace mote::python {

std::vector<std::string> method_names(const Program& program);
// Dicts with the fields of docs/json.md ("A tensor").
nb::list input_specs(const Program& program, const std::string& method);
nb::list output_specs(const Program& program, const std::string& method);
// As `mote inspect --json` (docs/json.md), without what only the file's table holds.
nb::dict describe(const Program& program);
// Golden data: dicts of method, example, index, is_output, tolerance, dims, data (bytes).
nb::list golden_records(const Program& program);

}  // namespace mote::python
