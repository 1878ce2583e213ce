#pragma once

// The backends of this build that have both halves, by name.

#include <cstring>

#include "mote/api/backend.h"
#include "mote/api/backend_compiler.h"
#ifdef MOTE_WITH_OPENCL
#include "mote/backends/opencl/opencl_backend.h"
#endif
#ifdef MOTE_WITH_XNNPACK
#include "mote/backends/xnnpack/xnnpack_backend.h"
#endif

namespace mote::backends {

struct KnownBackend {
  const mote_backend* device;
  const mote_backend_compiler* compiler;
  bool carries_nan;  // false: a NaN that an operator should give may be any number
};

// Null members when there is none of that name.
inline KnownBackend known_backend([[maybe_unused]] const char* name) {
#ifdef MOTE_WITH_OPENCL
  if (std::strcmp(name, "opencl") == 0) return {opencl_backend(), opencl_compiler(), true};
#endif
#ifdef MOTE_WITH_XNNPACK
  if (std::strcmp(name, "xnnpack") == 0) return {xnnpack_backend(), xnnpack_compiler(), false};
#endif
  return {nullptr, nullptr, true};
}

}  // namespace mote::backends
