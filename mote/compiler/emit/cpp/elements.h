#pragma once

#include "mote/compiler/emit/cpp/kernels.h"
#include "mote/ops/common/quant_binary.h"
#include "mote/ops/common/window.h"

namespace mote::emit {

// Kernels of mote/kernels/cortexm/elements.h: tables, products and sums with broadcasting, reductions, maxima; nothing for other operators.
std::optional<KernelCall> find_element_kernel(const Source& source, const Instruction& n, Constants* constants);
// Those of wide_elements.h: the same of 16-bit elements, means and softmax.
std::optional<KernelCall> find_wide_element_kernel(const Source& source, const Instruction& n, Constants* constants);

// Initialisers that several kernels share.
std::string list_text(std::initializer_list<int64_t> values);
std::string pointer_text(const std::string& name, const char* type);
std::string rows_text(const TensorDesc& d);
std::string window_text(const ops::Window& w);
bool fits(const ops::Window& w);
// Rows of 8-bit pixels without gaps between channels.
bool is_image(const TensorDesc& d);
// The same of 16-bit pixels.
bool is_wide_image(TensorDesc d);
// The shapes of operands that broadcast, of this type; nothing when they need more than four dimensions.
std::optional<std::string> pairs_text(DType type, const TensorDesc& a, const TensorDesc& b, const TensorDesc& y);
// Nothing where the short form of the sum does not hold: other modes, shifts to the left, values beyond 31 bits.
std::optional<std::string> sum_text(const ops::QuantBinaryAttrs& a, DType type = DType::s8);
std::string scale_text(int32_t multiplier, int32_t shift);
// Means and sums over axes that follow each other.
std::optional<KernelCall> reduction_call(const Source& s, const Instruction& n, DType type);

}  // namespace mote::emit
