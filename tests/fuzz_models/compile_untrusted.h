#pragma once

#include <cstdint>
#include <string>

#include "mote/core/span.h"

namespace mote::fuzz {

struct CompiledModel {
  bool tflite = false, torch = false, tosa = false, executorch = false;  // else ONNX
  bool imported = false;                                                 // got past the front end
  bool compiled = false;
  size_t file_bytes = 0;
  std::string problem;  // the first
};

// What `mote compile` does with bytes nobody trusts, bounded: few loop trips, small runs. Aborts when a program comes out that its own
// verifier refuses, or a failure comes without a reason. `run`: the examples are made too.
CompiledModel compile_untrusted(ConstBytes model, bool run);

}  // namespace mote::fuzz
