#pragma once

// Predicts the time of a model on its target with the cost model of compiler/schedule: the model is compiled up to its plan, without
// Winograd, and not run.

#include <map>

#include "mote/compiler/driver/compile.h"

namespace mote::quant {

struct Forecast {
  double ns = 0;                          // one run with all threads of the target
  double converting_ns = 0;               // of that: quantize and dequantize operators
  std::map<std::string, double> node_ns;  // by the model's node, fused ones under their joined name
};

bool forecast(const frontends::Source& source, const driver::CompileOptions& options, Forecast* out, ir::Problems* problems);

}  // namespace mote::quant
