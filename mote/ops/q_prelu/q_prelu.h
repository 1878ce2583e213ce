#pragma once

#include "mote/ops/common/elementwise.h"
#include "mote/ops/common/quant.h"

namespace mote::ops::q_prelu {

struct Attrs {
  int32_t input_zero = 0;
  int32_t alpha_zero = 0;
  int32_t output_zero = 0;
  int32_t positive_multiplier = 0;
  int32_t positive_shift = 0;
  int32_t negative_multiplier = 0;
  int32_t negative_shift = 0;
};
using Types = TypeList<int8_t, uint8_t, int16_t>;
inline constexpr OpInfo kInfo =
    OpInfo("Multiplies negative elements of a quantized tensor by alpha, with broadcasting, and rescales (TFLite's PRELU and LEAKY_RELU).")
        .signature("x, alpha -> y")
        .inputs(2)
        .types(mask_of_list(Types{}))
        .flags(kElementwise | kRowRange | kIntegerExact);
inline constexpr auto kAttrs = std::make_tuple(
    attr("input_zero", &Attrs::input_zero, "zero point of x"), attr("alpha_zero", &Attrs::alpha_zero, "zero point of alpha"),
    attr("output_zero", &Attrs::output_zero, "zero point of y"),
    attr("positive_multiplier", &Attrs::positive_multiplier, "scales x where it is not negative"),
    attr("positive_shift", &Attrs::positive_shift, "shift of x where it is not negative"),
    attr("negative_multiplier", &Attrs::negative_multiplier, "scales x * alpha where x is negative"),
    attr("negative_shift", &Attrs::negative_shift, "shift of x * alpha where x is negative"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(infer_binary(c, kInfo.types_));
  for (const int32_t zero : {a.input_zero, a.alpha_zero, a.output_zero}) MOTE_TRY(check_zero(c, zero, c.in(0).dtype));
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::q_prelu
