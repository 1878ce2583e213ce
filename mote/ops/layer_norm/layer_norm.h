#pragma once

#include "mote/ops/common/normalize.h"

namespace mote::ops::layer_norm {

struct Attrs {
  int32_t axis = -1;
  float epsilon = 1e-5f;
};
using Types = FloatTypes;
// The statistics are f64 for f64 and f32 otherwise; they keep x's rank, with size 1 from `axis` on.
inline constexpr OpInfo kInfo =
    OpInfo("Normalises the dimensions from an axis to the end to mean 0 and variance 1, then scales and shifts by what broadcasts to x.")
        .signature("x, scale?, bias? -> y, mean?, inverse_deviation?")
        .inputs(1, 3)
        .outputs(1, 3)
        .types(mask_of_list(Types{}))
        .flags(kElementwise)
        .aten("aten::native_layer_norm.out")
        .onnx("LayerNormalization");
inline constexpr auto kAttrs = std::make_tuple(attr("axis", &Attrs::axis, "first normalised dimension; negative counts from the end"),
                                               attr("epsilon", &Attrs::epsilon, "added to the variance"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(check_epsilon(c, a.epsilon));
  const TensorDesc& x = c.in(0);
  int axis;
  MOTE_TRY(c.axis(a.axis, x.rank > 0 ? x.rank : 1, &axis));
  MOTE_TRY(check_factor(c, 1));
  MOTE_TRY(check_factor(c, 2));
  c.same_as(0, 0, x.dtype);
  for (int o = 1; o < c.outputs(); ++o) {
    c.same_as(o, 0, x.dtype == DType::f64 ? DType::f64 : DType::f32);
    for (int i = axis; i < x.rank; ++i) c.out(o).dims[i] = 1;
  }
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::layer_norm
