#pragma once

#include "mote/ops/common/quant_walk.h"
#include "mote/ops/common/select.h"

namespace mote::ops::requantize {

struct Attrs {
  uint32_t to = static_cast<uint32_t>(DType::s8);
  int32_t input_zero = 0;
  int32_t output_zero = 0;
  int32_t axis = 0;
  int32_t clamp_lo = kNoClampLo;
  int32_t clamp_hi = kNoClampHi;
};
using Types = TypeList<int8_t, uint8_t, int16_t, int32_t>;
constexpr DTypeMask kResults = kQuant | mask_of(DType::s32);
inline constexpr OpInfo kInfo =
    OpInfo("Changes the scale, zero point and type of a quantized tensor: (x - input_zero) * multiplier + output_zero.")
        .signature("x, multiplier, shift? -> y")
        .inputs(2, 3)
        .types(mask_of_list(Types{}))
        .flags(kElementwise | kRowRange | kIntegerExact);
inline constexpr auto kAttrs = std::make_tuple(
    attr("to", &Attrs::to, "element type of the output: s8, u8, s16 or s32"), attr("input_zero", &Attrs::input_zero, "zero point of x"),
    attr("output_zero", &Attrs::output_zero, "zero point of the output"),
    attr("axis", &Attrs::axis, "axis of x along which multiplier and shift run, where they have more than one element"),
    attr("clamp_lo", &Attrs::clamp_lo, "least output value"), attr("clamp_hi", &Attrs::clamp_hi, "greatest output value"));

// multiplier s32 and shift: TFLite's fixed point. multiplier f32 and no shift: a float product, ties to even.
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(c.require(1, mask_of(DType::s32) | mask_of(DType::f32)));
  const DType to = named_type(a.to, kResults);
  if (to == DType::kNone) return c.reject(Why::kDType, kResults, a.to);
  MOTE_TRY(check_zero(c, a.input_zero, c.in(0).dtype));
  MOTE_TRY(check_zero(c, a.output_zero, to));
  MOTE_TRY(check_clamp(c, a.clamp_lo, a.clamp_hi, to));
  MOTE_TRY(check_grid(c, 1, a.axis, 0));
  const bool fixed = c.in(1).dtype == DType::s32;
  if (c.has(2) != fixed) return c.reject(Why::kInputCount, fixed ? 3 : 2, c.inputs());
  if (fixed) {
    MOTE_TRY(c.require(2, mask_of(DType::s32)));
    if (!same_shape(c.in(1), c.in(2))) return c.reject(Why::kDimMismatch);
  }
  c.same_as(0, 0, to);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::requantize
