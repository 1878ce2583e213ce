#pragma once

#include <cstdint>

namespace mote {

// Operator ids, from ops.def. Values are part of the program format.
enum class OpId : uint16_t {
  kNone = 0,
#define MOTE_OP(id, name) name = id,
#include "mote/ops/ops.def"
#undef MOTE_OP
};

}  // namespace mote
