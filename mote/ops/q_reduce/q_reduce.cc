#include "mote/ops/q_reduce/q_reduce.h"

namespace mote::ops::q_reduce {
namespace {

// The sum of n elements, without their zero points, as an output value. TFLite folds 1/n of a mean into the multiplier.
int64_t scaled(const Attrs& a, int64_t sum, int64_t n) {
  const bool mean = static_cast<Kind>(a.kind) == Kind::kMean;
  if (a.mode != 0) {
    const float total = static_cast<float>(sum);
    return int64_t{round_to_s32((mean ? total / static_cast<float>(n) : total) * a.real_multiplier)} + a.output_zero;
  }
  int32_t multiplier = a.multiplier, shift = a.shift;
  if (mean) {
    int32_t up = 31 - leading_zeros(static_cast<uint32_t>(n));
    up = up < 31 + shift ? up : 31 + shift;
    multiplier = wrap_to_s32((int64_t{multiplier} << up) / n);
    shift -= up;
  }
  return int64_t{scale_by(wrap_to_s32(sum), multiplier, shift)} + a.output_zero;
}

template <class T>
struct Reduce {
  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    return run_reduce<T>(c, reduction(a), [&a](const Reduced<T>& values) {
      const int64_t n = values.count();
      if (static_cast<Kind>(a.kind) == Kind::kMax) {
        T most = std::numeric_limits<T>::min();
        values.each([&most](T v) { most = v > most ? v : most; });
        return most;
      }
      if (static_cast<Kind>(a.kind) == Kind::kMin) {
        T least = std::numeric_limits<T>::max();
        values.each([&least](T v) { least = v < least ? v : least; });
        return least;
      }
      int64_t sum = 0;
      values.each([&sum](T v) { sum += v; });
      return saturate_to<T>(n == 0 ? a.output_zero : scaled(a, sum - n * a.input_zero, n));
    });
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::q_reduce, Reduce>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::q_reduce
