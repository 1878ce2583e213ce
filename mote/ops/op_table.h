#pragma once

#include "mote/core/op.h"
#include "mote/ops/op_id.h"

namespace mote {

// Every operator this build has, ordered by id. A selective build has fewer.
Span<const OpDef> builtin_ops() noexcept;

}  // namespace mote
