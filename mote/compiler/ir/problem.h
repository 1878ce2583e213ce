#pragma once

#include <string>
#include <vector>

namespace mote::ir {

// One reason why a model cannot be compiled, as its author should read it.
struct Problem {
  std::string where;   // node or tensor of the source model, as written there, with its operator: "/features/0/Conv (Conv)"
  std::string what;    // what was expected and what was found
  std::string advice;  // what to do about it; may be empty
};
using Problems = std::vector<Problem>;

}  // namespace mote::ir
