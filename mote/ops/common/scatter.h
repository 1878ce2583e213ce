#pragma once

#include "mote/ops/common/int_list.h"
#include "mote/ops/common/moves.h"
#include "mote/ops/common/number.h"

namespace mote::ops {

// How an update meets the element it falls on. Values are part of the program format.
enum ScatterReduction : int32_t { kScatterSet = 0, kScatterAdd = 1, kScatterMul = 2, kScatterMin = 3, kScatterMax = 4 };

// Integers wrap; NaN wins in minimum and maximum; for bool, add and maximum are "or", the others "and".
// Sums and products of two f32, f16 or bf16 are exact enough in double that rounding afterwards equals computing in float.
inline Number combine(int32_t reduction, const Number& a, const Number& b) noexcept {
  const bool less = a.kind == Number::kReal ? b.real < a.real : a.kind == Number::kSigned ? b.i < a.i : b.u < a.u;
  const bool greater = a.kind == Number::kReal ? b.real > a.real : a.kind == Number::kSigned ? b.i > a.i : b.u > a.u;
  Number r = a;
  switch (reduction) {
    case kScatterAdd:
      if (a.kind == Number::kReal) r.real = a.real + b.real;
      else r.u = a.u + b.u;
      return r;
    case kScatterMul:
      if (a.kind == Number::kReal) r.real = a.real * b.real;
      else r.u = a.u * b.u;
      return r;
    case kScatterMin: return less || (b.kind == Number::kReal && b.real != b.real) ? b : a;
    case kScatterMax: return greater || (b.kind == Number::kReal && b.real != b.real) ? b : a;
    default: return b;
  }
}

// Puts an update on an element of the same type.
inline void scatter_one(int32_t reduction, DType t, void* to, const void* update) noexcept {
  if (reduction == kScatterSet) std::memcpy(to, update, dtype_bytes(t));
  else store_number(t, to, combine(reduction, load_number(t, to), load_number(t, update)));
}

// Output 0 starts as input 0, unless they are the same bytes.
inline void start_from_input(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), &y = c.output(0);
  if (x.data != y.data) copy_grid(dtype_bytes(x.dtype()), y.rank(), y.desc->dims, x.data, x.desc->strides, y.data, y.desc->strides);
}

}  // namespace mote::ops
