#include "mote/backends/opencl/half_math.h"

#include <cmath>

#include "mote/backends/opencl/families.h"
#include "mote/core/half.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/op_id.h"

namespace mote::backends::opencl {
namespace {

constexpr int64_t kSamples = 64;
constexpr double kLeastNormal = 6.103515625e-05;  // devices may take what is smaller for 0

double to_half(double v) { return std::fabs(v) < kLeastNormal ? 0 : double{static_cast<float>(f16(static_cast<float>(v)))}; }

// The sum of a row of the input and a column of weights, in f16 by blocks, minus the true one.
class RoundingError {
 public:
  explicit RoundingError(float scale) : scale_(scale) {}
  void add(double x, double w) {
    exact_ += x * w;
    block_ = to_half(x * to_half(w / scale_) + block_);
    if (++terms_ == kHalfBlock) carry();
  }
  void carry() {
    sum_ += block_;
    block_ = 0, terms_ = 0;
  }
  double value() {
    carry();
    return sum_ * scale_ - exact_;
  }

 private:
  const double scale_;
  double exact_ = 0, block_ = 0, sum_ = 0;
  int32_t terms_ = 0;
};

}  // namespace

double half_math_error(const OpView& op, const float* x) {
  const Operand &w = op.inputs[1], &y = op.outputs[0];
  const bool conv = op.op == static_cast<uint16_t>(OpId::conv);
  const int32_t n = y.dim(-1), k = static_cast<int32_t>(w.count() / n);
  const std::vector<float> weights = plain_weights(w, n, k);
  const float scale = half_scale(weights);
  WindowArgs p{};
  if (conv) p = {window_of(op, op.attributes<ops::conv::Attrs>(), w.dims + 1), op.attributes<ops::conv::Attrs>().groups, 0};
  const int64_t count = y.count(), step = count <= kSamples ? 1 : count / kSamples | 1;  // odd: all columns are met
  double squares = 0;
  int64_t samples = 0;
  for (int64_t at = 0; at < count && samples < kSamples; at += step, ++samples) {
    const auto column = static_cast<int32_t>(at % n), row = static_cast<int32_t>(at / n);
    const float* v = weights.data() + static_cast<size_t>(column) * static_cast<size_t>(k);
    RoundingError e(scale);
    if (!conv) {
      for (int32_t i = 0; i < k; ++i) e.add(double{x[int64_t{row} * k + i]}, double{v[i]});
    } else {
      const int32_t depth = p.in_c / p.groups, first = p.groups > 1 ? column : 0;
      const int32_t ow = row % p.out_w, oh = row / p.out_w % p.out_h, batch = row / p.out_w / p.out_h;
      for (int32_t i = 0; i < p.kernel_h; ++i) {
        for (int32_t j = 0; j < p.kernel_w; ++j) {
          const int32_t h = oh * p.stride_h + i * p.dilation_h - p.pad_h, q = ow * p.stride_w + j * p.dilation_w - p.pad_w;
          const bool inside = h >= 0 && h < p.in_h && q >= 0 && q < p.in_w;
          const int64_t from = ((int64_t{batch} * p.in_h + h) * p.in_w + q) * p.in_c + first;
          for (int32_t c = 0; c < depth; ++c) e.add(inside ? double{x[from + c]} : 0, double{v[(i * p.kernel_w + j) * depth + c]});
        }
        if (p.groups > 1) e.carry();
      }
    }
    const double error = e.value();
    squares += error * error;
  }
  const double alpha = conv ? 1 : std::fabs(double{op.attributes<ops::matmul::Attrs>().alpha});
  return alpha * std::sqrt(squares / static_cast<double>(samples));
}

}  // namespace mote::backends::opencl
