#pragma once

#include "mote/compiler/emit/writer.h"

namespace mote::emit {

// Gives every intermediate tensor a place in its bank so that tensors alive at the same time do not overlap, and every state
// tensor a place of its own; sets the banks' sizes. Lifetimes run from the first to the last instruction that names a tensor;
// one used inside a loop or strip lives through all of it. `view_of[i]` >= 0: tensor i lies inside that one, `view_offset[i]` bytes in.
void plan_arena(ProgramRecords& records, const std::vector<int32_t>& view_of, const std::vector<uint64_t>& view_offset);

}  // namespace mote::emit
