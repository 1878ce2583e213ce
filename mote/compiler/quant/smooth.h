#pragma once

// SmoothQuant for transformers: channels that a norm makes large are divided by a factor, and the weights that read them multiplied by it,
// so that one scale fits all channels.

#include "mote/compiler/ir/graph.h"

namespace mote::quant {

// Works on norms (layer_norm, rms_norm) over the last axis with constant factors whose output matrix products with constant weights read;
// for other readers the output is multiplied back. How large a channel gets is told by the norm's own factors: what it makes has variance 1
// before them. `strength`: 0 leaves all as it is, 1 takes differences between channels into the weights alone. True when something changed.
bool smooth(ir::Graph& graph, float strength);

}  // namespace mote::quant
