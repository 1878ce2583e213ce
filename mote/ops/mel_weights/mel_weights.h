#pragma once

#include <cmath>

#include "mote/ops/common/nn_checks.h"
#include "mote/ops/common/select.h"

namespace mote::ops::mel_weights {

struct Attrs {
  int32_t num_mel_bins = 0;
  int32_t dft_length = 0;
  int32_t sample_rate = 0;
  float lower_edge_hertz = 0;
  float upper_edge_hertz = 0;
};
using Types = TypeList<float>;
inline constexpr OpInfo kInfo = OpInfo("Makes the matrix that turns a spectrum of linear frequencies into one of mel-scaled bands.")
                                    .signature("-> y")
                                    .inputs(0)
                                    .types(mask_of_list(Types{}), kOfOutput)
                                    .ranks(2, 2)
                                    .onnx("MelWeightMatrix");
inline constexpr auto kAttrs =
    std::make_tuple(attr("num_mel_bins", &Attrs::num_mel_bins, "bands, columns of y"),
                    attr("dft_length", &Attrs::dft_length, "points of the transform; y has dft_length/2 + 1 rows"),
                    attr("sample_rate", &Attrs::sample_rate, "samples per second of the signal"),
                    attr("lower_edge_hertz", &Attrs::lower_edge_hertz, "where the lowest band begins"),
                    attr("upper_edge_hertz", &Attrs::upper_edge_hertz, "where the highest band ends"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(require_range(c, a.num_mel_bins, 0, 1 << 20));
  MOTE_TRY(require_range(c, a.dft_length, 0, 1 << 24));
  MOTE_TRY(require_range(c, a.sample_rate, 1, 0x7fffffff));
  if (!(a.lower_edge_hertz >= 0) || !(a.upper_edge_hertz >= a.lower_edge_hertz) || !std::isfinite(a.upper_edge_hertz))
    return c.reject(Why::kAttribute);
  const int32_t dims[] = {a.dft_length / 2 + 1, a.num_mel_bins};
  MOTE_TRY(require_elements(c, DType::f32, {dims[0], dims[1]}));
  return c.set(0, DType::f32, 2, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::mel_weights
