#pragma once

// Weights that the quantizer would not see: constants of 16-bit floats that a cast widens, and those inside recurrent layers of one step.

#include "mote/compiler/ir/graph.h"

namespace mote::quant {

// Products read f32 constants instead of casts of f16 and bf16 ones.
void widen_constants(ir::Graph& graph);

// LSTM layers with one step, one direction and the default activations become matrix products and element-wise operators: models that are
// called once for each step of a sequence.
void open_single_steps(ir::Graph& graph);

}  // namespace mote::quant
