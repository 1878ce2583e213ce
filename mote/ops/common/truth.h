#pragma once

// Unary operators that give or take truth values.

#include "mote/ops/common/elementwise.h"

namespace mote::ops {

// infer() of unary operators that answer a question about each element: the input's shape, as bool.
inline Status infer_question(const InferContext& c, DTypeMask types) noexcept {
  MOTE_TRY(c.require(0, types));
  c.same_as(0, 0, DType::boolean);
  return Status::kOk;
}

// True for zero; negates truth values, of which every byte but zero is a true one.
struct IsZero {
  template <class C>
  bool operator()(C x) const { return x == C(0); }
};

// The kernel that negates a bool tensor. It reads bytes: nobody vouches for an input's bools being 0 or 1, and nothing else may
// be loaded as a bool.
template <OpId Op>
KernelFn pick_not() noexcept {
  if constexpr ((selected_types(Op) & kBool) != 0) return &UnaryKernel<IsZero, NoAttrs, uint8_t>::walk;
  else return nullptr;
}

}  // namespace mote::ops
