#pragma once

// Element-wise operators row by row: an operator gives a function over neighbours, these give the loops around it.

#include "mote/core/op.h"
#include "mote/kernels/common/math.h"

namespace mote::kernels::MOTE_ISA_NAME {

// What an element costs in steps of common/parallel.h: to read and write it, and a few dozen instructions for a vector of them.
inline constexpr int kCheap = 5, kCostly = 384 / kLanes;
// As kCheap, and not often needed in small tensors.
inline constexpr int kRare = 6;

// y[i] = f(x[i]) for n neighbours. y may be x.
using UnaryRow = void (*)(const OpContext&, const void* x, void* y, int32_t n);
// y[i] = f(a[i * a_step], b[i * b_step]); the steps are 0 or 1, and not both 0 when n > 1. y may be a or b.
using BinaryRow = void (*)(const OpContext&, const void* a, int a_step, const void* b, int b_step, void* y, int32_t n);

// Dense tensors of one shape. Of binary operators, one side may be a single element.
Status flat_unary(const OpContext& c, UnaryRow row, int cost) noexcept;
Status flat_binary(const OpContext& c, BinaryRow row, int cost) noexcept;
// Views, broadcasting, strips.
Status walk_unary(const OpContext& c, UnaryRow row, int cost) noexcept;
Status walk_binary(const OpContext& c, BinaryRow row, int cost) noexcept;

bool flat_for_unary(const OpContext& c) noexcept;
bool flat_for_binary(const OpContext& c) noexcept;
// False where an operand is ring-buffered in a way that walks do not know.
bool can_walk(const OpContext& c) noexcept;

inline bool is_alone(const OpContext& c) { return c.threads == nullptr || c.threads->count < 2; }

// Op: row() and kCost. kOut is the element type of the result.
template <class Op>
struct UnaryKernels {
  static Status flat(const OpContext& c) noexcept {
    // What costs more, or is rare, is not worth a loop of its own here.
    if (Op::kCost != kCheap || !is_alone(c)) return flat_unary(c, &Op::row, Op::kCost);
    Op::row(c, c.input(0).data, c.output(0).data, c.output(0).count());
    return Status::kOk;
  }
  static Status walk(const OpContext& c) noexcept { return walk_unary(c, &Op::row, Op::kCost); }
};
template <class Op>
struct BinaryKernels {
  // Small tensors are all overhead: for one thread and whole operands the loop is chosen once and for all.
  static Status flat(const OpContext& c) noexcept {
    if (Op::kCost != kCheap || !is_alone(c)) return flat_binary(c, &Op::row, Op::kCost);
    Op::row(c, c.input(0).data, 1, c.input(1).data, 1, c.output(0).data, c.output(0).count());
    return Status::kOk;
  }
  static Status flat_by_count(const OpContext& c) noexcept { return flat_binary(c, &Op::row, Op::kCost); }
  static Status walk(const OpContext& c) noexcept { return walk_binary(c, &Op::row, Op::kCost); }
};
template <class Op>
MOTE_INLINE KernelFn pick_unary(const OpContext& c) {
  if (flat_for_unary(c)) return &UnaryKernels<Op>::flat;
  return can_walk(c) ? &UnaryKernels<Op>::walk : nullptr;
}
template <class Op>
MOTE_INLINE KernelFn pick_binary(const OpContext& c) {
  if (flat_for_binary(c)) {
    if (c.input(0).desc->dynamic != 0 || c.input(1).desc->dynamic != 0) return &BinaryKernels<Op>::flat_by_count;
    const int32_t count = c.output(0).count();
    const bool whole = c.input(0).count() == count && c.input(1).count() == count;
    return whole ? &BinaryKernels<Op>::flat : &BinaryKernels<Op>::flat_by_count;
  }
  return can_walk(c) ? &BinaryKernels<Op>::walk : nullptr;
}

// A unary operator on f32 from a function object F, made from the context: VF operator()(VF) const.
template <class F, int Cost = kCheap>
struct UnaryF32 {
  static constexpr int kCost = Cost;
  static void row(const OpContext& c, const void* x, void* y, int32_t n) {
    const F f(c);
    const auto value = [&](VF v) {
      if constexpr (Cost != kCostly) return f(v);
      else return hn::IfThenElse(hn::Eq(v, v), f(v), v);  // NaN keeps its bits, whichever way it would go through f
    };
    map_row(static_cast<const float*>(x), static_cast<float*>(y), n, value);
  }
};
template <class F, int Cost = kCheap>
MOTE_INLINE KernelFn unary_f32(const OpContext& c) {
  return c.input(0).dtype() == DType::f32 ? pick_unary<UnaryF32<F, Cost>>(c) : nullptr;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
