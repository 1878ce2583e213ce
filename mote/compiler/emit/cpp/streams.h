#pragma once

#include "mote/compiler/emit/cpp/kernels.h"

namespace mote::emit {

// Kernels of the audio front end, and of what moves states on; nothing for other operators.
std::optional<KernelCall> find_stream_kernel(const Source& source, const Instruction& n, Constants* constants);

}  // namespace mote::emit
