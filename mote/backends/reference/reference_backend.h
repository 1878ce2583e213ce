#pragma once

// Static objects, named "reference".

#include "mote/api/backend.h"
#include "mote/api/backend_compiler.h"
#include "mote/core/op.h"

namespace mote::backends {

const mote_backend* reference_backend() noexcept;
const mote_backend_compiler* reference_compiler() noexcept;

// Asked for kernels before the operators' portable ones; null: nobody. Set before the first program.
extern KernelFn (*reference_kernels)(uint16_t op, const OpContext&) noexcept;

}  // namespace mote::backends
