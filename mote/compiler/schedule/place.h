#pragma once

// Where the buffers of a plan lie in its banks.

#include <string>
#include <vector>

#include "mote/compiler/emit/memory.h"
#include "mote/compiler/schedule/plan.h"

namespace mote::schedule {

// When each buffer is needed, in steps. States are always needed.
std::vector<emit::Life> buffer_lives(const Plan& plan);

// Gives every buffer a bank and an offset, and the banks their sizes; sets the plan's lower bound. Banks are filled in their order:
// what is used least for its size goes on to the next one. `alignment` is for buffers that are large enough to care.
// False with *error when the banks are too small.
bool place_buffers(Plan& plan, uint32_t alignment, emit::Effort effort, std::string* error);

}  // namespace mote::schedule
