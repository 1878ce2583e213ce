#pragma once

// Element-wise operators: an operator supplies a function over contiguous rows, these templates supply the loop nests.

#include "mote/core/op.h"
#include "mote/kernels/common/math.h"

namespace mote::kernels::MOTE_ISA_NAME::elementwise {

// Cost of an element in steps of common/parallel.h: cheap ones are bound by memory, costly ones take a few dozen instructions per vector.
inline constexpr int kCheap = 5, kCostly = 384 / kLanes;
// Cheap, but rarely on a hot path with small tensors: no dedicated loop is compiled (see UnaryKernels).
inline constexpr int kRare = 6;

// y[i] = f(x[i]) for n contiguous elements. y may be x.
using UnaryRow = void (*)(const OpContext&, const void* x, void* y, int32_t n);
// y[i] = f(a[i * a_step], b[i * b_step]); the steps are 0 or 1, and not both 0 when n > 1. y may be a or b.
using BinaryRow = void (*)(const OpContext&, const void* a, int a_step, const void* b, int b_step, void* y, int32_t n);

// Dense tensors of one shape; an operand of a binary operator may be a single element.
Status flat_unary(const OpContext& c, UnaryRow row, int cost) noexcept;
Status flat_binary(const OpContext& c, BinaryRow row, int cost) noexcept;
// Everything else: views, broadcasting, depth-first strips.
Status strided_unary(const OpContext& c, UnaryRow row, int cost) noexcept;
Status strided_binary(const OpContext& c, BinaryRow row, int cost) noexcept;

bool is_flat_unary(const OpContext& c) noexcept;
bool is_flat_binary(const OpContext& c) noexcept;
// False where an operand of another rank is a ring buffer, which the loop nests do not support.
bool strided_supported(const OpContext& c) noexcept;

inline bool single_threaded(const OpContext& c) { return c.threads == nullptr || c.threads->count < 2; }

// Kernel entry points for Op, which has row() and kCost.
template <class Op>
struct UnaryKernels {
  static Status flat(const OpContext& c) noexcept {
    // Costly and rare operators use the shared loop: a dedicated one would not be faster, or not matter.
    if (Op::kCost != kCheap || !single_threaded(c)) return flat_unary(c, &Op::row, Op::kCost);
    Op::row(c, c.input(0).data, c.output(0).data, c.output(0).count());
    return Status::kOk;
  }
  static Status strided(const OpContext& c) noexcept { return strided_unary(c, &Op::row, Op::kCost); }
};
template <class Op>
struct BinaryKernels {
  // Operands of equal size. Small tensors are dominated by overhead, so a single thread goes straight to the row function.
  static Status flat(const OpContext& c) noexcept {
    if (Op::kCost != kCheap || !single_threaded(c)) return flat_binary(c, &Op::row, Op::kCost);
    Op::row(c, c.input(0).data, 1, c.input(1).data, 1, c.output(0).data, c.output(0).count());
    return Status::kOk;
  }
  static Status flat_broadcast(const OpContext& c) noexcept { return flat_binary(c, &Op::row, Op::kCost); }
  static Status strided(const OpContext& c) noexcept { return strided_binary(c, &Op::row, Op::kCost); }
};
template <class Op>
MOTE_INLINE KernelFn select_unary(const OpContext& c) {
  if (is_flat_unary(c)) return &UnaryKernels<Op>::flat;
  return strided_supported(c) ? &UnaryKernels<Op>::strided : nullptr;
}
template <class Op>
MOTE_INLINE KernelFn select_binary(const OpContext& c) {
  if (is_flat_binary(c)) {
    if (c.input(0).desc->dynamic != 0 || c.input(1).desc->dynamic != 0) return &BinaryKernels<Op>::flat_broadcast;
    const int32_t count = c.output(0).count();
    const bool same_size = c.input(0).count() == count && c.input(1).count() == count;
    return same_size ? &BinaryKernels<Op>::flat : &BinaryKernels<Op>::flat_broadcast;
  }
  return strided_supported(c) ? &BinaryKernels<Op>::strided : nullptr;
}

// A unary operator on f32 from a function object F, which is constructed from the context and has VF operator()(VF) const.
template <class F, int Cost = kCheap>
struct UnaryF32 {
  static constexpr int kCost = Cost;
  static void row(const OpContext& c, const void* x, void* y, int32_t n) {
    const F f(c);
    const auto value = [&](VF v) {
      if constexpr (Cost != kCostly) return f(v);
      else return hn::IfThenElse(hn::Eq(v, v), f(v), v);  // NaN keeps its payload, whatever f computes for it
    };
    map_row(static_cast<const float*>(x), static_cast<float*>(y), n, value);
  }
};
template <class F, int Cost = kCheap>
MOTE_INLINE KernelFn unary_f32(const OpContext& c) {
  return c.input(0).dtype() == DType::f32 ? select_unary<UnaryF32<F, Cost>>(c) : nullptr;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::elementwise
