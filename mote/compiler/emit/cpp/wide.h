#pragma once

#include "mote/compiler/emit/cpp/kernels.h"

namespace mote::emit {

// Kernels of mote/kernels/cortexm/wide.h: convolutions and matrix products of 16-bit tensors; nothing for other operators and types.
std::optional<KernelCall> find_wide_kernel(const Source& source, const Instruction& n, Constants* constants);

}  // namespace mote::emit
