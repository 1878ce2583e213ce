#pragma once

#include <string>

#include "mote/tools/judgement.h"
#include "mote/tools/reference.h"

namespace mote::tools {

// The first value, in the order of the program, that differs from the reference's value of the same name.
struct FirstDifference {
  bool found = false;
  size_t compared = 0;  // values with a name both sides know, up to that one
  std::string value, node;
  driver::Difference difference;
};
// `expected` are the reference's values, `found` those of the program with its values exposed; `nodes` tells where those come from.
FirstDifference first_difference(const std::vector<NamedArray>& found, const std::vector<NamedArray>& expected,
                                 const std::map<std::string, std::string>& nodes, const Judgement& judgement);

}  // namespace mote::tools
