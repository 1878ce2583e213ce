#include "mote/ops/svdf/svdf.h"

namespace mote::ops::svdf {
namespace {

template <class T>
struct Svdf {
  using C = Compute<T>;

  // Moves the memory of filter f one step on and returns its product with the time weights. `to` may be `from`.
  static C filter(const OpContext& c, int32_t b, int32_t f, const T* from, T* to) noexcept {
    const Tensor &x = c.input(1), &feature = c.input(2), &time = c.input(3);
    const T *in = x.at<const T>(b * x.stride(0)), *w = feature.at<const T>(f * feature.stride(0)),
            *wt = time.at<const T>(f * time.stride(0));
    const int32_t memory = time.dim(1);
    C fresh = 0, sum = 0;
    for (int32_t i = 0; i < x.dim(1); ++i) fresh += static_cast<C>(w[i]) * static_cast<C>(in[i]);
    for (int32_t m = 0; m < memory; ++m) {
      to[m] = m + 1 < memory ? from[m + 1] : static_cast<T>(fresh);
      sum += static_cast<C>(wt[m]) * static_cast<C>(to[m]);
    }
    return sum;
  }

  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    const Tensor &state = c.input(0), &next = c.output(0), &y = c.output(1);
    const int32_t memory = c.input(3).dim(1);
    for (int32_t b = 0; b < y.dim(0); ++b) {
      const T* from = state.at<const T>(b * state.stride(0));
      T* to = next.at<T>(b * next.stride(0));
      T* out = y.at<T>(b * y.stride(0));
      for (int32_t u = 0; u < y.dim(1); ++u) {
        C sum = c.has_input(4) ? static_cast<C>(c.input(4).as<const T>()[u]) : C(0);
        for (int32_t f = u * a.rank; f < (u + 1) * a.rank; ++f) sum += filter(c, b, f, from + f * memory, to + f * memory);
        out[u] = static_cast<T>(apply_activation(a.activation, a.act_a, a.act_b, sum));
      }
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::svdf, Svdf>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::svdf
