#include "mote/ops/q_avg_pool/q_avg_pool.h"

namespace mote::ops::q_avg_pool {
namespace {

// The mean of `count` elements whose raw values add up to `sum`; `real` of them are no padding.
int64_t mean(const Attrs& a, int64_t sum, int32_t real, int32_t count) {
  if (count == 0) return a.mode == 0 ? a.input_zero : a.output_zero;
  if (a.mode != 0) {
    const float total = static_cast<float>(sum - int64_t{real} * a.input_zero);
    return int64_t{round_to_s32(total / static_cast<float>(count) * a.multiplier)} + a.output_zero;
  }
  sum += (int64_t{count} - real) * a.input_zero;
  return (sum > 0 ? sum + count / 2 : sum - count / 2) / count;
}

template <class T>
struct AvgPool {
  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    const Tensor &x = c.input(0), &y = c.output(0);
    Window window = window_of(a, *x.desc);
    for (int i = 0; i < window.rank; ++i) window.dim[i].out = y.dim(i + 1);
    const IntRange range = clamp_range(a.clamp_lo, a.clamp_hi, y.dtype());
    const int32_t channels = y.dim(y.rank() - 1);
    WindowWalk walk(window, *y.desc, c.rows);
    while (walk.next()) {
      T* out = y.at<T>(walk.output_offset(*y.desc));
      const int32_t real = walk.valid_taps(), count = a.count_include_pad != 0 ? walk.padded_taps() : real;
      for (int32_t k = 0; k < channels; ++k) {
        int64_t sum = 0;
        walk.taps([&](const Tap& t) { sum += x.at<const T>(walk.input_offset(*x.desc, t))[k]; });
        out[k] = static_cast<T>(clamp_to(mean(a, sum, real, count), range));
      }
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::q_avg_pool, AvgPool>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::q_avg_pool
