#pragma once

#include "mote/api/backend.h"
#include "mote/runtime/instance_layout.h"
#include "mote/runtime/verify.h"

namespace mote {

// The operands of a call as a backend sees them.
struct BackendOperands {
  BackendOperands(const Tensor* all, const Call& call) noexcept {
    for (uint32_t k = 0; k < uint32_t{call.input_count} + call.output_count; ++k) {
      const Tensor& t = all[call.operands[k]];
      tensors[k] = {t.data, t.desc->dims, t.desc->strides, static_cast<uint8_t>(t.dtype()), t.desc->rank, 0};
    }
  }
  mote_backend_tensor tensors[kMaxOperands];
};

}  // namespace mote
