#pragma once

// XNNPACK, both halves: what runs pieces of models, and what the compiler asks. Static objects.

#include "mote/api/backend.h"
#include "mote/api/backend_compiler.h"

namespace mote::backends {

const mote_backend* xnnpack_backend() noexcept;
const mote_backend_compiler* xnnpack_compiler() noexcept;

}  // namespace mote::backends
