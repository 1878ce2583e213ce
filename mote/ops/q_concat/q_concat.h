#pragma once

#include "mote/ops/common/quant.h"
#include "mote/ops/common/select.h"

namespace mote::ops::q_concat {

struct Attrs {
  int32_t axis = 0;
  float output_scale = 1;
  int32_t output_zero = 0;
  uint32_t mode = 0;
};
using Types = TypeList<int8_t, uint8_t, int16_t>;
inline constexpr OpInfo kInfo = OpInfo("Joins quantized tensors along an axis, bringing each to the output's scale and zero point.")
                                    .signature("scales, zero_points, x... -> y")
                                    .inputs(3, kVariadic)
                                    .types(mask_of_list(Types{}), 2)
                                    .ranks(1, kMaxRank);
inline constexpr auto kAttrs =
    std::make_tuple(attr("axis", &Attrs::axis, "axis to join along; negative counts from the end"),
                    attr("output_scale", &Attrs::output_scale, "scale of y"), attr("output_zero", &Attrs::output_zero, "zero point of y"),
                    attr("mode", &Attrs::mode,
                         "0: (x - zero) * scale / output_scale, ties to even (ONNX); 1: TFLite's float arithmetic, ties away from zero"));

// Brings one value from (scale, zero) to the output's.
inline int32_t convert(const Attrs& a, float scale, int32_t zero, int32_t v, IntRange range) {
  if (scale == a.output_scale && zero == a.output_zero) return v;
  if (a.mode == 0) return quantize_value(static_cast<float>(int64_t{v} - zero) * scale / a.output_scale, a.output_zero, range);
  const float ratio = scale * (1.0f / a.output_scale), bias = -static_cast<float>(zero) * ratio;
  return quantize_value(static_cast<float>(v) * ratio + bias, a.output_zero, range, Rounding::kHalfAway);
}

// scales (f32) and zero_points (s32) have one element per x.
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  const int count = c.inputs() - 2;
  MOTE_TRY(c.require(0, mask_of(DType::f32)));
  MOTE_TRY(c.require(1, mask_of(DType::s32)));
  for (int i = 0; i < 2; ++i)
    if (c.in(i).rank != 1 || c.in(i).dims[0] != count)
      return c.reject(Why::kDimMismatch, count, c.in(i).rank == 1 ? c.in(i).dims[0] : c.in(i).rank);
  MOTE_TRY(c.require(2, kInfo.types_));
  const TensorDesc& first = c.in(2);
  if (a.mode > 1) return c.reject(Why::kAttribute, 1, a.mode);
  MOTE_TRY(check_zero(c, a.output_zero, first.dtype));
  if (first.rank == 0) return c.reject(Why::kRank, 1, 0);
  int axis = 0;
  MOTE_TRY(c.axis(a.axis, first.rank, &axis));
  int64_t size = 0;
  for (int i = 2; i < c.inputs(); ++i) {
    MOTE_TRY(c.require(i, kInfo.types_));
    if (c.in(i).dtype != first.dtype)
      return c.reject(Why::kDTypeMismatch, static_cast<uint8_t>(first.dtype), static_cast<uint8_t>(c.in(i).dtype));
    if (c.in(i).rank != first.rank) return c.reject(Why::kRank, first.rank, c.in(i).rank);
    for (int k = 0; k < first.rank; ++k)
      if (k != axis && c.in(i).dims[k] != first.dims[k]) return c.reject(Why::kDimMismatch, first.dims[k], c.in(i).dims[k]);
    size += c.in(i).dims[axis];
  }
  if (size > std::numeric_limits<int32_t>::max()) return c.reject(Why::kShapeOverflow);
  c.same_as(0, 2, first.dtype);
  c.out(0).dims[axis] = static_cast<int32_t>(size);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::q_concat
