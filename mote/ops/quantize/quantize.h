#pragma once

#include "mote/ops/common/quant_walk.h"
#include "mote/ops/common/select.h"

namespace mote::ops::quantize {

struct Attrs {
  uint32_t to = static_cast<uint32_t>(DType::s8);
  int32_t axis = 0;
  int32_t block = 0;
  uint32_t rounding = 0;
};
using Types = FloatTypes;
constexpr DTypeMask kResults = kQuant | mask_of(DType::u16) | mask_of(DType::s32);
inline constexpr OpInfo kInfo =
    OpInfo("Turns real numbers into integers: round(x / scale) + zero_point, saturated; NaN gives the zero point.")
        .signature("x, scale, zero_point? -> y")
        .inputs(2, 3)
        .types(mask_of_list(Types{}))
        .flags(kElementwise | kRowRange)
        .onnx("QuantizeLinear");
inline constexpr auto kAttrs = std::make_tuple(
    attr("to", &Attrs::to, "element type of the output: s8, u8, s16, u16 or s32"),
    attr("axis", &Attrs::axis,
         "axis of x along which scale and zero_point run, where they have more than one element; negative counts from the end"),
    attr("block", &Attrs::block, "0, or: scale and zero_point have the shape of x with the axis divided by this size"),
    attr("rounding", &Attrs::rounding, "0: ties to even (ONNX), 1: ties away from zero (TFLite)"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(c.require(1, mask_of(DType::f32)));
  const DType to = named_type(a.to, kResults);
  if (to == DType::kNone) return c.reject(Why::kDType, kResults, a.to);
  if (a.rounding > 1) return c.reject(Why::kAttribute, 1, a.rounding);
  MOTE_TRY(check_grid(c, 1, a.axis, a.block));
  if (c.has(2)) {
    MOTE_TRY(c.require(2, mask_of(to)));
    if (!same_shape(c.in(1), c.in(2))) return c.reject(Why::kDimMismatch);
  }
  c.same_as(0, 0, to);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::quantize
