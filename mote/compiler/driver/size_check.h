#pragma once

// A program with open dimensions beside the model compiled for one size alone.

#include <string>
#include <vector>

#include "mote/compiler/driver/artifacts.h"
#include "mote/compiler/driver/context.h"
#include "mote/compiler/driver/run_setup.h"

namespace mote::driver {

// Facts of values come from three samples of each open dimension; here the program runs at others, as many as the time allows: first both
// ends of the range, then ever closer between them. Adds to *faults what it gets wrong, and to the notes the sizes the model itself
// cannot be run at.
void check_sizes(Context& context, const ModelFacts& model, const RunSetup& setup, HostProgram& program, std::vector<std::string>* faults);

}  // namespace mote::driver
