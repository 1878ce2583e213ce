#pragma once

#include "mote/ops/common/quant_walk.h"
#include "mote/ops/common/select.h"

namespace mote::ops::dequantize {

struct Attrs {
  uint32_t to = static_cast<uint32_t>(DType::f32);
  int32_t axis = 0;
  int32_t block = 0;
};
using Types = TypeList<int8_t, uint8_t, int16_t, uint16_t, int32_t, s4, u4>;
using Results = TypeList<float, f16, bf16>;
inline constexpr OpInfo kInfo = OpInfo("Turns integers into real numbers: (x - zero_point) * scale.")
                                    .signature("x, scale, zero_point? -> y")
                                    .inputs(2, 3)
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange)
                                    .onnx("DequantizeLinear");
inline constexpr auto kAttrs = std::make_tuple(
    attr("to", &Attrs::to, "element type of the output: f32, f16 or bf16"),
    attr("axis", &Attrs::axis,
         "axis of x along which scale and zero_point run, where they have more than one element; negative counts from the end"),
    attr("block", &Attrs::block, "0, or: scale and zero_point have the shape of x with the axis divided by this size"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(c.require(1, mask_of(DType::f32)));
  const DType to = named_type(a.to, mask_of_list(Results{}));
  if (to == DType::kNone) return c.reject(Why::kDType, mask_of_list(Results{}), a.to);
  MOTE_TRY(check_grid(c, 1, a.axis, a.block));
  if (c.has(2)) {
    MOTE_TRY(c.require(2, mask_of(c.in(0).dtype) | mask_of(DType::s32)));
    if (!same_shape(c.in(1), c.in(2))) return c.reject(Why::kDimMismatch);
  }
  c.same_as(0, 0, to);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::dequantize
