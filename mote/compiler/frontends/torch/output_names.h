#pragma once

#include <string>
#include <vector>

#include "mote/compiler/frontends/torch/json.h"

namespace mote::frontends::torch {

// Of each user output of a serialized graph_module: "output"; "output_0" of a tuple; the key of a dict or the field of a class ("logits"),
// joined by "_" where they are nested. Empty when the program does not say. Throws SchemaError.
std::vector<std::string> read_output_names(const Json& module);

}  // namespace mote::frontends::torch
