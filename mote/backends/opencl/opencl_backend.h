#pragma once

#include "mote/api/backend.h"
#include "mote/api/backend_compiler.h"
#include "mote/core/op.h"

namespace mote::backends {

// Runs pieces of models on an OpenCL 1.2 device: f32, channels-last. Static; never freed; any number of threads.
const mote_backend* opencl_backend() noexcept;
// The half that the compiler asks. Needs no device.
const mote_backend_compiler* opencl_compiler() noexcept;
// The same device with tensors stored as f16: half the memory and bandwidth, arithmetic in f32.
const mote_backend* opencl_f16_backend() noexcept;
const mote_backend_compiler* opencl_f16_compiler() noexcept;
// The same with products that multiply in f16 where that is good enough, on devices with cl_khr_fp16.
const mote_backend* opencl_f16a_backend() noexcept;
const mote_backend_compiler* opencl_f16a_compiler() noexcept;
// Asked for kernels before the portable ones when the compilers of opencl_f16 and opencl_f16a look at a piece's numbers; null: nobody. Set
// before it is used.
extern KernelFn (*opencl_host_kernels)(uint16_t op, const OpContext&) noexcept;

}  // namespace mote::backends
