#pragma once

#include "mote/compiler/emit/cpp/kernels.h"
#include "mote/ops/common/quant_binary.h"
#include "mote/ops/common/window.h"

namespace mote::emit {

// Kernels of mote/kernels/cortexm/elements.h: tables, products and sums with broadcasting, reductions, maxima; nothing for other operators.
std::optional<KernelCall> find_element_kernel(const Source& source, const Instruction& n, Constants* constants);

// Initialisers that several kernels share.
std::string list_text(std::initializer_list<int64_t> values);
std::string pointer_text(const std::string& name, const char* type);
std::string rows_text(const TensorDesc& d);
std::string window_text(const ops::Window& w);
bool fits(const ops::Window& w);
// One batch of rows of 8-bit pixels without gaps between channels.
bool is_image(const TensorDesc& d);
// Nothing where the short form of the sum does not hold: other modes, shifts to the left, values beyond 31 bits.
std::optional<std::string> sum_text(const ops::QuantBinaryAttrs& a);
std::string scale_text(int32_t multiplier, int32_t shift);

}  // namespace mote::emit
