#pragma once

// What builds generate for the programs they are made for; op_scan, which finds that out, knows of everything.

#include "mote/core/dtype.h"
#include "mote/ops/op_id.h"

namespace mote {
constexpr DTypeMask selected_types(OpId) { return ~DTypeMask{0}; }
}  // namespace mote
