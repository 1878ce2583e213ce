#pragma once

// Which operator of the parts on backends gives something else than the CPU.

#include <string>

#include "mote/tools/golden.h"

namespace mote::tools {

struct Bisected {
  bool found = false;
  size_t part = 0;  // which delegate, in the order they run
  std::string backend, op, node;
  double largest_error = 0, allowed = 0;  // of the operator's output, after everything before it ran on the backend
  bool alone = false;                     // it differs by itself, too, on the CPU's values
  std::string note;                       // why nothing was found, or not more
};

// Runs the example with the CPU in the place of every backend, then each part on its backend with the CPU's inputs; of the first part that
// differs, beginnings of growing length until the operator is found that brings the difference in.
Bisected bisect(const std::string& path, const OpenSettings& settings, const GoldenExample& example);

}  // namespace mote::tools
