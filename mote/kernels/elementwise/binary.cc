// Arithmetic on two operands with broadcasting: f32, and the integers that shapes and indices are made of.

#include "mote/kernels/common/exact.h"
#include "mote/kernels/elementwise/rows.h"
#include "mote/ops/div/div.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

// One loop for each way the sides move; f takes vectors.
template <class F>
MOTE_INLINE void binary_row(const float* a, int a_step, const float* b, int b_step, float* y, int32_t n, const F& f) {
  const auto loop = [&](const auto& left, const auto& right) {
    int32_t i = 0;
    for (; i + kLanes <= n; i += kLanes) store(f(left(i, kLanes), right(i, kLanes)), y + i);
    if (i < n) store_some(f(left(i, n - i), right(i, n - i)), n - i, y + i);
  };
  const auto moving = [](const float* p) { return [p](int32_t i, int32_t count) { return load_some(p + i, count); }; };
  const auto fixed = [](const float* p) { return [v = broadcast(*p)](int32_t, int32_t) { return v; }; };
  if (a_step == 0) loop(fixed(a), moving(b));
  else if (b_step == 0) loop(moving(a), fixed(b));
  else loop(moving(a), moving(b));
}

// Elements of 32 bits: f32, or integers as their bits.
template <class F, int Cost = kCheap>
struct Binary32 {
  static constexpr int kCost = Cost;
  static void row(const OpContext&, const void* a, int a_step, const void* b, int b_step, void* y, int32_t n) {
    if (n > 0) binary_row(static_cast<const float*>(a), a_step, static_cast<const float*>(b), b_step, static_cast<float*>(y), n, F());
  }
};

// Integers wrap, so they are computed unsigned. Of 64 bits, one by one.
template <class F>
struct Binary64 {
  static constexpr int kCost = 4 * kRare;
  static void row(const OpContext&, const void* a, int a_step, const void* b, int b_step, void* y, int32_t n) {
    const uint64_t *left = static_cast<const uint64_t*>(a), *right = static_cast<const uint64_t*>(b);
    uint64_t* out = static_cast<uint64_t*>(y);
    for (int32_t i = 0; i < n; ++i) out[i] = F()(left[i * a_step], right[i * b_step]);
  }
};

#define MOTE_FUNCTION(Name, value)                    \
  struct Name {                                       \
    VF operator()(VF a, VF b) const { return value; } \
  }
MOTE_FUNCTION(Add, hn::Add(a, b));
MOTE_FUNCTION(Sub, hn::Sub(a, b));
MOTE_FUNCTION(Mul, hn::Mul(a, b));
MOTE_FUNCTION(Div, quotient(a, b));
MOTE_FUNCTION(SquaredDifference, hn::Mul(hn::Sub(a, b), hn::Sub(a, b)));
MOTE_FUNCTION(Prelu, hn::IfThenElse(hn::Lt(a, hn::Zero(F32())), hn::Mul(a, b), a));
// NaN if either is: the vector instructions give b when one of the two is NaN.
MOTE_FUNCTION(Maximum, hn::IfThenElse(hn::Eq(a, a), larger(a, b), a));
MOTE_FUNCTION(Minimum, hn::IfThenElse(hn::Eq(a, a), smaller(a, b), a));
#undef MOTE_FUNCTION

using U32 = hn::RebindToUnsigned<F32>;
#define MOTE_FUNCTION(Name, value, wide)                               \
  struct Name {                                                        \
    VF operator()(VF p, VF q) const {                                  \
      const auto a = hn::BitCast(U32(), p), b = hn::BitCast(U32(), q); \
      return hn::BitCast(F32(), value);                                \
    }                                                                  \
    uint64_t operator()(uint64_t a, uint64_t b) const { return wide; } \
  }
MOTE_FUNCTION(AddInt, hn::Add(a, b), a + b);
MOTE_FUNCTION(SubInt, hn::Sub(a, b), a - b);
MOTE_FUNCTION(MulInt, hn::Mul(a, b), a* b);
#undef MOTE_FUNCTION

template <class F>
KernelFn of_floats(const OpContext& c) {
  return c.input(0).dtype() == DType::f32 ? pick_binary<Binary32<F, kRare>>(c) : nullptr;
}
template <class F, class I>
KernelFn of_numbers(const OpContext& c) {
  switch (c.input(0).dtype()) {
    case DType::f32: return pick_binary<Binary32<F>>(c);
    case DType::s32:
    case DType::u32: return pick_binary<Binary32<I, kRare>>(c);
    case DType::s64:
    case DType::u64: return pick_binary<Binary64<I>>(c);
    default: return nullptr;
  }
}

}  // namespace

KernelFn select_add(const OpContext& c) noexcept { return of_numbers<Add, AddInt>(c); }
KernelFn select_sub(const OpContext& c) noexcept { return of_numbers<Sub, SubInt>(c); }
KernelFn select_mul(const OpContext& c) noexcept { return of_numbers<Mul, MulInt>(c); }
KernelFn select_div(const OpContext& c) noexcept {
  return c.attrs<ops::div::Attrs>().rounding == ops::div::kExact ? of_floats<Div>(c) : nullptr;
}
KernelFn select_maximum(const OpContext& c) noexcept { return of_floats<Maximum>(c); }
KernelFn select_minimum(const OpContext& c) noexcept { return of_floats<Minimum>(c); }
KernelFn select_squared_difference(const OpContext& c) noexcept { return of_floats<SquaredDifference>(c); }
KernelFn select_prelu(const OpContext& c) noexcept { return of_floats<Prelu>(c); }

}  // namespace mote::kernels::MOTE_ISA_NAME
