#pragma once

#include "mote/api/backend.h"
#include "mote/api/backend_compiler.h"

namespace mote::backends {

// Runs pieces of models on an OpenCL 1.2 device: f32, channels-last. Static; never freed; any number of threads.
const mote_backend* opencl_backend() noexcept;
// The half that the compiler asks. Needs no device.
const mote_backend_compiler* opencl_compiler() noexcept;
// The same device with tensors stored as f16: half the memory and bandwidth, arithmetic in f32.
const mote_backend* opencl_f16_backend() noexcept;
const mote_backend_compiler* opencl_f16_compiler() noexcept;

}  // namespace mote::backends
