#pragma once

#include "mote/compiler/emit/cpp/kernels.h"

namespace mote::emit {

// Kernels of mote/kernels/cortexm/recurrent.h: q_svdf and q_lstm; nothing for other operators, and for sums that might not fit.
std::optional<KernelCall> find_recurrent_kernel(const Source& source, const Instruction& n, Isa isa, Constants* constants);

}  // namespace mote::emit
