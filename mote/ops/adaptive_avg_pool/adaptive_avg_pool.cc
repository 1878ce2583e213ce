#include "mote/ops/adaptive_avg_pool/adaptive_avg_pool.h"

#include "mote/ops/common/long_sum.h"

namespace mote::ops::adaptive_avg_pool {
namespace {

// Positions [begin, end) of the input under output position `at` of one dimension, as ATen divides them.
struct Span1 {
  int32_t begin, end;
  Span1(int32_t at, int32_t in, int32_t out)
      : begin(static_cast<int32_t>(int64_t{at} * in / out)), end(static_cast<int32_t>((int64_t{at + 1} * in + out - 1) / out)) {}
  int32_t length() const { return end - begin; }
};

template <class T>
struct AdaptiveAvgPool {
  using C = Compute<T>;

  // Sum of channel values over the window; dimensions that a tensor does not have are one long and have no stride.
  static C mean(const T* first, const Span1 (&s)[3], const int32_t (&strides)[3]) {
    LongSum<C> sum;
    for (int32_t a = s[0].begin; a < s[0].end; ++a)
      for (int32_t b = s[1].begin; b < s[1].end; ++b)
        for (int32_t k = s[2].begin; k < s[2].end; ++k)
          sum.add(*reinterpret_cast<const T*>(reinterpret_cast<const uint8_t*>(first) + a * strides[0] + b * strides[1] + k * strides[2]));
    return sum.value() / (static_cast<C>(s[0].length()) * static_cast<C>(s[1].length()) * static_cast<C>(s[2].length()));
  }

  static Status run(const OpContext& c) noexcept {
    const Tensor &x = c.input(0), &y = c.output(0);
    const int spatial = x.rank() - 2;
    int32_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, from[3] = {}, to[3] = {};
    for (int i = 0; i < spatial; ++i) in[i] = x.dim(i + 1), out[i] = y.dim(i + 1), from[i] = x.stride(i + 1), to[i] = y.stride(i + 1);
    for (int32_t n = 0; n < y.dim(0); ++n) {
      for (int32_t a = 0; a < out[0]; ++a) {
        for (int32_t b = 0; b < out[1]; ++b) {
          for (int32_t k = 0; k < out[2]; ++k) {
            const Span1 spans[3] = {{a, in[0], out[0]}, {b, in[1], out[1]}, {k, in[2], out[2]}};
            const T* source = x.at<const T>(n * x.stride(0));
            T* target = y.at<T>(n * y.stride(0) + a * to[0] + b * to[1] + k * to[2]);
            for (int32_t i = 0; i < y.dim(y.rank() - 1); ++i) target[i] = static_cast<T>(mean(source + i, spans, from));
          }
        }
      }
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::adaptive_avg_pool, AdaptiveAvgPool>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::adaptive_avg_pool
