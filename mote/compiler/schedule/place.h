#pragma once

// Assigns the buffers of a plan to banks and offsets.

#include <string>
#include <vector>

#include "mote/compiler/memory/assign_offsets.h"
#include "mote/compiler/schedule/plan.h"

namespace mote::schedule {

constexpr uint64_t kMaxBankBytes = 0xffffffffu;  // where a target names no limit

// The live range of each buffer, in steps. States are always live.
std::vector<memory::LiveRange> buffer_live_ranges(const Plan& plan);

// Gives every buffer a bank and an offset, and the banks their sizes; sets the plan's lower bound. Banks are filled in their order:
// buffers with the fewest accesses go on to the next one. `alignment` is that of large buffers; small ones have 16 bytes.
// False with *error when the banks are too small.
bool place_buffers(Plan& plan, uint32_t alignment, memory::Effort effort, std::string* error);

}  // namespace mote::schedule
