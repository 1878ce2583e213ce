#pragma once

#include "mote/core/op.h"

namespace mote {

// True when a tensor that an instruction computes with has no elements. Lists of axes and sizes may well be empty: an operator that has
// one asks for its length.
inline bool has_empty_operand(const OpDef& def, const OpContext& c) noexcept {
  for (int i = 0; i < c.input_count + c.output_count; ++i) {
    if (c.operands[i] < 0) continue;
    const TensorDesc& d = *c.tensors[c.operands[i]].desc;
    const bool list =
        i > 0 && i < c.input_count && def.max_in != kVariadic && d.rank == 1 && (d.dtype == DType::s64 || d.dtype == DType::s32);
    if (!list && element_count(d) == 0) return true;
  }
  return false;
}

// The kernel that runs an instruction: the fast one of `select` where there is one, else the operator's portable kernel. Fast kernels may
// count on elements: their loops test behind the body, divide by sizes and read the first element ahead. Empty operands are the portable
// kernel's, which says what they mean: a sum over nothing is the bias, an output without elements is left alone.
inline KernelFn dispatch(const OpDef& def, KernelFn (*select)(uint16_t op, const OpContext&) noexcept, const OpContext& c) noexcept {
  // Operators that were put in front of the built-in ones keep their own kernels.
  const KernelFn fast = select != nullptr && def.id != 0 && !has_empty_operand(def, c) ? select(def.id, c) : nullptr;
  return fast != nullptr ? fast : def.select(c);
}

}  // namespace mote
