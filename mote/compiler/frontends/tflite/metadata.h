#pragma once

#include "mote/compiler/frontends/tflite/model.h"

namespace mote::frontends::tflite {

// Copies what the file says about itself into the graph's metadata: description, the TFLITE_METADATA buffer (names, authors, normalization
// of inputs) and label files, which lie in a zip archive behind the FlatBuffer. Damaged metadata is left out: nothing computes with it.
void add_metadata(const Model& model, ir::Graph& graph);

}  // namespace mote::frontends::tflite
