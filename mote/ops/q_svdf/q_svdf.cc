#include "mote/ops/q_svdf/q_svdf.h"

namespace mote::ops::q_svdf {
namespace {

template <class T>
struct Svdf {
  // Moves the memory of every filter on by one frame; the newest entry is the product with this frame.
  static void push_frame(const OpContext& c, const Attrs& a, int32_t batch) {
    const Tensor &old = c.input(0), &x = c.input(1), &feature = c.input(2), &state = c.output(0);
    const int32_t memory = c.input(3).dim(1);
    const int16_t* from = old.at<const int16_t>(batch * old.stride(0));
    int16_t* to = state.at<int16_t>(batch * state.stride(0));
    const T* in = x.at<const T>(batch * x.stride(0));
    for (int32_t f = 0; f < feature.dim(0); ++f) {
      const T* weights = feature.at<const T>(f * feature.stride(0));
      int64_t sum = 0;
      for (int32_t i = 0; i < x.dim(1); ++i) sum += int64_t{weights[i]} * (in[i] - a.input_zero);
      for (int32_t m = 0; m + 1 < memory; ++m) to[f * memory + m] = from[f * memory + m + 1];
      to[f * memory + memory - 1] = saturate_to<int16_t>(scale_by(wrap_to_s32(sum), a.feature_multiplier, a.feature_shift));
    }
  }
  static void filter(const OpContext& c, const Attrs& a, int32_t batch) {
    const Tensor &time = c.input(3), &state = c.output(0), &y = c.output(1);
    const int32_t memory = time.dim(1);
    const int16_t* frames = state.at<const int16_t>(batch * state.stride(0));
    T* out = y.at<T>(batch * y.stride(0));
    for (int32_t u = 0; u < y.dim(1); ++u) {
      int64_t sum = c.has_input(4) ? c.input(4).as<const int32_t>()[c.input(4).count() == 1 ? 0 : u] : 0;
      for (int32_t f = u * a.rank; f < (u + 1) * a.rank; ++f) {
        const int16_t* weights = time.at<const int16_t>(f * time.stride(0));
        for (int32_t m = 0; m < memory; ++m) sum += int64_t{weights[m]} * frames[f * memory + m];
      }
      out[u] = saturate_to<T>(int64_t{scale_by(wrap_to_s32(sum), a.time_multiplier, a.time_shift)} + a.output_zero);
    }
  }
  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    for (int32_t b = 0; b < c.input(1).dim(0); ++b) {
      push_frame(c, a, b);
      filter(c, a, b);
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::q_svdf, Svdf>(c.input(1).dtype(), Types{}); }

}  // namespace mote::ops::q_svdf
