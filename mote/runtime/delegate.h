#pragma once

#include "mote/api/backend.h"
#include "mote/runtime/instance_layout.h"
#include "mote/runtime/verify.h"

namespace mote {

// The operands of a call as a backend sees them.
struct BackendOperands {
  BackendOperands(const Tensor* all, const Call& call) noexcept;
  mote_backend_tensor tensors[kMaxOperands];
};

// The handle of a delegate whose fallback runs in its place.
extern uint8_t degraded_handle;

}  // namespace mote
