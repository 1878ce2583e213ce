#pragma once

// How long a model would take on its target, by the cost model of compiler/schedule: compiled as far as its plan, without Winograd, not
// run.

#include <map>

#include "mote/compiler/driver/compile.h"

namespace mote::quant {

struct Forecast {
  double ns = 0;                          // one run with all threads of the target
  double converting_ns = 0;               // of it: operators that turn f32 into integers or back
  std::map<std::string, double> node_ns;  // by the model's node, fused ones under their joined name
};

bool forecast(const frontends::Source& source, const driver::CompileOptions& options, Forecast* out, ir::Problems* problems);

}  // namespace mote::quant
