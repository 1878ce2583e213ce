#pragma once

// Puts a front end in front of a model: the program then takes samples.

#include "mote/compiler/audio/front_end.h"
#include "mote/compiler/ir/graph.h"

namespace mote::audio {

struct AttachOptions {
  bool streaming = false;
  int32_t every = 0;  // streaming: frames from one run of the network to the next; 0: 1, or the model's own number where it has states
};

// The model's input becomes `samples` (s16): all a run needs, or with streaming those of one step. Then the program keeps what it needs of
// earlier runs, a run makes one frame of features, and each `every`-th runs the network; outputs stay as they are in between.
// The model's states, if any, advance with the network. Before the first sample there is silence.
// False with *error for inputs that do not fit the front end: which input, what was expected, what was found.
bool attach(ir::Graph& graph, const FrontEnd& front_end, const AttachOptions& options, std::string* error);

}  // namespace mote::audio
