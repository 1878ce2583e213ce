#pragma once

#include "mote/compiler/ir/graph.h"

namespace mote::quant {

// Products of tensors that are quantized while running (TFLite's hybrid operators) as the float products they stand for, so that they
// can be quantized for good.
void undo_dynamic(ir::Graph& graph);

}  // namespace mote::quant
