// Softmax of 8-bit elements: how far an element is below the greatest one is a number below 256, so its exponential comes from a table.

#include "mote/ops/q_softmax/q_softmax.h"

#include "mote/kernels/common/parallel.h"
#include "mote/kernels/common/rows_of.h"
#include "mote/kernels/int8/fixed.h"
#include "mote/kernels/softmax_tables.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

using ops::q_softmax::Attrs;

constexpr int32_t kMaxLength = 2048;  // so that sums fit 32 bits

template <class X>
MOTE_INLINE int32_t greatest(const X* x, int32_t n) {
  VI most = set_ints(-256);
  int32_t i = 0;
  for (; i + kIntLanes <= n; i += kIntLanes) most = hn::Max(most, load_as_ints(x + i, kIntLanes));
  int32_t found = hn::GetLane(hn::MaxOfLanes(I32(), most));
  for (; i < n; ++i) found = x[i] > found ? x[i] : found;
  return found;
}

template <class X, class Y>
MOTE_INLINE void row(const int32_t* exps, int32_t lo, int32_t hi, const X* x, Y* y, int32_t n) {
  const VI most = set_ints(greatest(x, n));
  VI sums = hn::Zero(I32());
  const auto exp_at = [&](int32_t i) MOTE_LAMBDA {
    // Lanes behind the last element count as far below.
    VI below = hn::Sub(most, load_as_ints(x + i, n - i));
    if (n - i < kIntLanes) below = hn::IfThenElse(hn::FirstN(I32(), static_cast<size_t>(n - i)), below, set_ints(256));
    return hn::GatherIndex(I32(), exps, below);
  };
  for (int32_t i = 0; i < n; i += kIntLanes) sums = hn::Add(sums, rounding_shift_right(exp_at(i), set_ints(11)));
  int exponent;
  const VI scale = set_ints(softmax_reciprocal(hn::GetLane(hn::SumOfLanes(I32(), sums)), static_cast<int>(sizeof(Y)), &exponent));
  const VI shift = set_ints(exponent - 1), least = set_ints(lo), top = set_ints(hi);
  for (int32_t i = 0; i < n; i += kIntLanes) {
    VI v = high_mul(scale, exp_at(i));
    if (exponent > 0) v = rounding_shift_right(v, shift);
    store_ints(hn::Min(top, hn::Add(v, least)), n - i, y + i);
  }
}

template <class X, class Y>
Status run(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), &y = c.output(0);
  const int32_t n = y.dim(y.rank() - 1);
  if (y.count() == 0) return Status::kOk;
  alignas(64) int32_t exps[257];
  softmax_exponentials(c.attrs<Attrs>(), exps);
  exps[256] = 0;
  const RowsOf in(x), out(y);
  const ops::IntRange range = ops::IntRange{std::is_signed_v<Y> ? -(1 << (sizeof(Y) * 8 - 1)) : 0,
                                            std::is_signed_v<Y> ? (1 << (sizeof(Y) * 8 - 1)) - 1 : (1 << (sizeof(Y) * 8)) - 1};
  split_rows(c.threads, y.count() / n, static_cast<double>(y.count()) * 2,
             [&](int32_t i) { row(exps, range.lo, range.hi, reinterpret_cast<const X*>(in(i)), reinterpret_cast<Y*>(out(i)), n); });
  return Status::kOk;
}

template <class X>
KernelFn select_to(DType y) {
  switch (y) {
    case DType::s8: return &run<X, int8_t>;
    case DType::u8: return &run<X, uint8_t>;
    case DType::s16: return &run<X, int16_t>;
    default: return nullptr;
  }
}

}  // namespace

KernelFn select_q_softmax(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), &y = c.output(0);
  if (x.rank() < 2 || x.dim(x.rank() - 1) > kMaxLength || x.stride(x.rank() - 1) != static_cast<int32_t>(dtype_bytes(x.dtype())))
    return nullptr;
  if (x.dtype() == DType::s8) return select_to<int8_t>(y.dtype());
  return x.dtype() == DType::u8 ? select_to<uint8_t>(y.dtype()) : nullptr;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
