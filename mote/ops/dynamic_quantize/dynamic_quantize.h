#pragma once

#include "mote/ops/common/quant.h"
#include "mote/ops/common/select.h"

namespace mote::ops::dynamic_quantize {

// Values are part of the program format.
enum class Mode : uint32_t { kOnnx = 0, kSymmetric = 1, kAsymmetric = 2 };

struct Attrs {
  uint32_t mode = 0;
  int32_t axis = 0;
};
using Types = TypeList<float>;
inline constexpr OpInfo kInfo = OpInfo("Quantizes to 8 bits with a scale and zero point found from the values themselves.")
                                    .signature("x -> y, scale, zero_point")
                                    .outputs(3)
                                    .types(mask_of_list(Types{}))
                                    .onnx("DynamicQuantizeLinear");
inline constexpr auto kAttrs = std::make_tuple(
    attr("mode", &Attrs::mode,
         "0: u8, one scale, zero point u8, both of rank 0 (ONNX); 1: s8 in -127..127, zero point 0; 2: s8 with zero point. 1 and 2 (TFLite "
         "hybrid) give a vector of scales and one of s32 zero points, one per row"),
    attr("axis", &Attrs::axis,
         "modes 1 and 2: a row is what lies at one index of the dimensions before this one; negative counts from the end"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  if (a.mode > 2) return c.reject(Why::kAttribute, 2, a.mode);
  const bool onnx = a.mode == 0;
  int axis = 0;
  MOTE_TRY(c.axis(a.axis, c.in(0).rank > 0 ? c.in(0).rank : 1, &axis));
  int64_t rows = 1;
  for (int i = 0; i < axis; ++i) {
    rows *= c.in(0).dims[i];
    if (rows > std::numeric_limits<int32_t>::max()) return c.reject(Why::kShapeOverflow);
  }
  const int32_t dims[1] = {static_cast<int32_t>(rows)};
  c.same_as(0, 0, onnx ? DType::u8 : DType::s8);
  MOTE_TRY(c.set(1, DType::f32, onnx ? 0 : 1, dims));
  return c.set(2, onnx ? DType::u8 : DType::s32, onnx ? 0 : 1, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::dynamic_quantize
