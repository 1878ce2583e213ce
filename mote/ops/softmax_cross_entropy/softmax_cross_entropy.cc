#include "mote/ops/softmax_cross_entropy/softmax_cross_entropy.h"

#include <cmath>

namespace mote::ops::softmax_cross_entropy {
namespace {

// The log of a position's softmax: score - peak - log_sum.
template <class T>
struct LogSoftmax {
  using C = Compute<T>;
  C peak = 0, log_sum = 0;

  void set(const T* line, int32_t stride, int32_t classes) noexcept {
    if (classes == 0) return;
    peak = line_at(line, 0, stride);
    for (int32_t i = 1; i < classes; ++i) peak = std::fmax(peak, static_cast<C>(line_at(line, i, stride)));
    C sum = 0;
    for (int32_t i = 0; i < classes; ++i) sum += std::exp(static_cast<C>(line_at(line, i, stride)) - peak);
    log_sum = std::log(sum);
  }
  C operator()(C score) const noexcept { return score - peak - log_sum; }
};

template <class T>
struct SoftmaxCrossEntropy {
  using C = Compute<T>;
  static Status run(const OpContext& c) noexcept {
    const Tensor& x = c.input(0);
    LogSoftmax<T> log_softmax;
    const auto log_prob = [&](int32_t k, const T* line, int32_t stride) { return log_softmax(static_cast<C>(line_at(line, k, stride))); };
    if (c.has_output(1)) write_log_prob(c);
    return class_loss<T>(
        c, c.attrs<Attrs>(), [&](const T* line, int32_t stride) { log_softmax.set(line, stride, x.dim(1)); }, log_prob);
  }
  static void write_log_prob(const OpContext& c) noexcept {
    const Tensor &x = c.input(0), &y = c.output(1);
    LogSoftmax<T> log_softmax;
    AxisWalk<2> walk(*x.desc, 1, {x.desc, y.desc});
    while (walk.next()) {
      const T* line = x.at<const T>(walk.offset[0]);
      log_softmax.set(line, walk.stride[0], x.dim(1));
      for (int32_t k = 0; k < x.dim(1); ++k)
        line_at(y.at<T>(walk.offset[1]), k, walk.stride[1]) = static_cast<T>(log_softmax(static_cast<C>(line_at(line, k, walk.stride[0]))));
    }
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::softmax_cross_entropy, SoftmaxCrossEntropy>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::softmax_cross_entropy
