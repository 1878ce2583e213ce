#pragma once

// Small models that backends are measured on.

#include <functional>
#include <string>
#include <vector>

#include "mote/compiler/ir/builder.h"

namespace mote::tools {

// A small model: one operator, or a few of the same.
struct Probe {
  std::string name;
  ir::Dims input;
  std::function<ir::Value*(ir::Graph&, ir::NodeBuilder&, ir::Value*)> make;
};

// What models are made of, at sizes from their beginnings and their ends.
std::vector<Probe> measure_probes();
// The same of models of 8-bit numbers.
std::vector<Probe> measure_byte_probes();
// As operators stand in models: in there, nothing that one reads is as near as when it runs alone, over and over.
std::vector<Probe> measure_models();

}  // namespace mote::tools
