#pragma once

#include "mote/ops/common/elementwise.h"
#include "mote/ops/common/quant.h"

namespace mote::ops::q_mul {

struct Attrs {
  uint32_t mode = 0;
  int32_t a_zero = 0;
  int32_t b_zero = 0;
  int32_t y_zero = 0;
  int32_t multiplier = 0;
  int32_t shift = 0;
  float a_scale = 1;
  float b_scale = 1;
  float y_scale = 1;
  int32_t clamp_lo = kNoClampLo;
  int32_t clamp_hi = kNoClampHi;
};
using Types = TypeList<int8_t, uint8_t, int16_t>;
inline constexpr OpInfo kInfo = OpInfo("Multiplies quantized tensors with broadcasting and rescales the result.")
                                    .signature("a, b -> y")
                                    .inputs(2)
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange | kIntegerExact);
inline constexpr auto kAttrs =
    std::make_tuple(attr("mode", &Attrs::mode, "0: multiplier and shift (TFLite); 1: float scales (ONNX)"),
                    attr("a_zero", &Attrs::a_zero, "zero point of a"), attr("b_zero", &Attrs::b_zero, "zero point of b"),
                    attr("y_zero", &Attrs::y_zero, "zero point of y"), attr("multiplier", &Attrs::multiplier, "mode 0: scales the product"),
                    attr("shift", &Attrs::shift, "mode 0: shift of the product"), attr("a_scale", &Attrs::a_scale, "mode 1: scale of a"),
                    attr("b_scale", &Attrs::b_scale, "mode 1: scale of b"), attr("y_scale", &Attrs::y_scale, "mode 1: scale of y"),
                    attr("clamp_lo", &Attrs::clamp_lo, "least output value"), attr("clamp_hi", &Attrs::clamp_hi, "greatest output value"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(infer_binary(c, kInfo.types_));
  if (a.mode > 1) return c.reject(Why::kAttribute, 1, a.mode);
  for (const int32_t zero : {a.a_zero, a.b_zero, a.y_zero}) MOTE_TRY(check_zero(c, zero, c.in(0).dtype));
  return check_clamp(c, a.clamp_lo, a.clamp_hi, c.in(0).dtype);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::q_mul
