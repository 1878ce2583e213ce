// Binary arithmetic with broadcasting: f32, and 32- and 64-bit integers (shape and index arithmetic).

#include "mote/kernels/common/exact.h"
#include "mote/kernels/elementwise/rows.h"
#include "mote/ops/div/div.h"

namespace mote::kernels::MOTE_ISA_NAME::elementwise {
namespace {

// One loop for each form of broadcasting; f takes vectors.
template <class F>
MOTE_INLINE void binary_row(const float* a, int a_step, const float* b, int b_step, float* y, int32_t n, const F& f) {
  const auto loop = [&](const auto& lhs, const auto& rhs) {
    int32_t i = 0;
    for (; i + kLanes <= n; i += kLanes) store(f(lhs(i, kLanes), rhs(i, kLanes)), y + i);
    if (i < n) store_partial(f(lhs(i, n - i), rhs(i, n - i)), n - i, y + i);
  };
  const auto row = [](const float* p) { return [p](int32_t i, int32_t count) { return load_partial(p + i, count); }; };
  const auto scalar = [](const float* p) { return [v = broadcast(*p)](int32_t, int32_t) { return v; }; };
  if (a_step == 0) loop(scalar(a), row(b));
  else if (b_step == 0) loop(row(a), scalar(b));
  else loop(row(a), row(b));
}

// 32-bit elements: f32, or integers bit-cast to it.
template <class F, int Cost = kCheap>
struct Binary32 {
  static constexpr int kCost = Cost;
  static void row(const OpContext&, const void* a, int a_step, const void* b, int b_step, void* y, int32_t n) {
    if (n > 0) binary_row(static_cast<const float*>(a), a_step, static_cast<const float*>(b), b_step, static_cast<float*>(y), n, F());
  }
};

// 64-bit integers, scalar. Unsigned, because integers wrap.
template <class F>
struct Binary64 {
  static constexpr int kCost = 4 * kRare;
  static void row(const OpContext&, const void* a, int a_step, const void* b, int b_step, void* y, int32_t n) {
    const uint64_t *lhs = static_cast<const uint64_t*>(a), *rhs = static_cast<const uint64_t*>(b);
    uint64_t* out = static_cast<uint64_t*>(y);
    for (int32_t i = 0; i < n; ++i) out[i] = F()(lhs[i * a_step], rhs[i * b_step]);
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
// NaN if either operand is NaN: larger() and smaller() return b when b is NaN, and the test for a covers the rest.
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
KernelFn select_f32(const OpContext& c) {
  return c.input(0).dtype() == DType::f32 ? select_binary<Binary32<F, kRare>>(c) : nullptr;
}
template <class F, class I>
KernelFn select_arithmetic(const OpContext& c) {
  switch (c.input(0).dtype()) {
    case DType::f32: return select_binary<Binary32<F>>(c);
    case DType::s32:
    case DType::u32: return select_binary<Binary32<I, kRare>>(c);
    case DType::s64:
    case DType::u64: return select_binary<Binary64<I>>(c);
    default: return nullptr;
  }
}

}  // namespace

KernelFn select_add(const OpContext& c) noexcept { return select_arithmetic<Add, AddInt>(c); }
KernelFn select_sub(const OpContext& c) noexcept { return select_arithmetic<Sub, SubInt>(c); }
KernelFn select_mul(const OpContext& c) noexcept { return select_arithmetic<Mul, MulInt>(c); }
KernelFn select_div(const OpContext& c) noexcept {
  return c.attrs<ops::div::Attrs>().rounding == ops::div::kExact ? select_f32<Div>(c) : nullptr;
}
KernelFn select_maximum(const OpContext& c) noexcept { return select_f32<Maximum>(c); }
KernelFn select_minimum(const OpContext& c) noexcept { return select_f32<Minimum>(c); }
KernelFn select_squared_difference(const OpContext& c) noexcept { return select_f32<SquaredDifference>(c); }
KernelFn select_prelu(const OpContext& c) noexcept { return select_f32<Prelu>(c); }

}  // namespace mote::kernels::MOTE_ISA_NAME::elementwise
