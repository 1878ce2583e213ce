#pragma once

#include "mote/compiler/emit/cpp/kernels.h"

namespace mote::emit {

// Kernels of mote/kernels/cortexm/floats.h: convolutions and matrix products of f32; nothing for other operators.
std::optional<KernelCall> find_float_kernel(const Source& source, const Instruction& n, Constants* constants);

}  // namespace mote::emit
