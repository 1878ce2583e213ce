#pragma once

// Cases for others to run: a model, inputs and what Mote's reference gives, with how far rounding may move each element.

#include <string>

#include "tests/differential/case.h"

namespace mote::differential {

// PATH.onnx, which holds ranges of sizes and compiler options as metadata, and PATH.INPUT.npy at the bounds. False when they cannot be
// written.
bool write_case(const Case& c, const std::string& path);

// A case from such a model, or from any other: sizes without a range are 0 to 8. False when it is none.
bool read_case(const std::string& path, Case* c);

// The cases of seeds [first, last) in one file, for compare_ort.py ("-": standard output). Exit code.
int emit_cases(uint64_t first, uint64_t last, const std::string& path);

}  // namespace mote::differential
