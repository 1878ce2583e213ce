#include "mote/ops/mel_weights/mel_weights.h"

namespace mote::ops::mel_weights {
namespace {

double mel(double hertz) noexcept { return 2595 * std::log10(1 + hertz / 700); }
double hertz(double mels) noexcept { return 700 * (std::pow(10.0, mels / 2595) - 1); }

// The row where band edge i lies: the edges divide the mel range into num_mel_bins + 2 steps, as ONNX says.
int64_t edge(const Attrs& a, int32_t i) noexcept {
  const double low = mel(a.lower_edge_hertz), step = (mel(a.upper_edge_hertz) - low) / (a.num_mel_bins + 2.0);
  const double row = std::floor((a.dft_length + 1.0) * hertz(low + i * step) / a.sample_rate);
  return row < 1e15 ? static_cast<int64_t>(row) : int64_t{1000000000000000};
}

// A triangle from edge i over its peak at edge i + 1 to edge i + 2.
double weight(int64_t row, int64_t left, int64_t peak, int64_t right) noexcept {
  if (row == peak) return 1;
  if (row < peak && row >= left) return static_cast<double>(row - left) / static_cast<double>(peak - left);
  if (row > peak && row < right) return static_cast<double>(right - row) / static_cast<double>(right - peak);
  return 0;
}

template <class T>
struct MelWeights {
  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    const Tensor& y = c.output(0);
    for (int32_t band = 0; band < y.dim(1); ++band) {
      const int64_t left = edge(a, band), peak = edge(a, band + 1), right = edge(a, band + 2);
      for (int32_t row = 0; row < y.dim(0); ++row) y.at<T>(row * y.stride(0))[band] = static_cast<T>(weight(row, left, peak, right));
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::mel_weights, MelWeights>(c.output(0).dtype(), Types{}); }

}  // namespace mote::ops::mel_weights
