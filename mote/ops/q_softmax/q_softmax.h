#pragma once

#include "mote/ops/common/quant.h"
#include "mote/ops/common/select.h"

namespace mote::ops::q_softmax {

struct Attrs {
  uint32_t to = 0;
  int32_t multiplier = 0;
  int32_t shift = 0;
  int32_t diff_min = 0;
};
using Types = TypeList<int8_t, uint8_t, int16_t>;
inline constexpr OpInfo kInfo = OpInfo(
                                    "Normalises exponentials along the last axis in fixed point, as TFLite does; 8-bit results have scale "
                                    "1/256, 16-bit ones 1/32768 or 1/65536.")
                                    .signature("x, exp_table?, reciprocal_table? -> y")
                                    .inputs(1, 3)
                                    .types(mask_of_list(Types{}))
                                    .ranks(1, kMaxRank)
                                    .flags(kIntegerExact);
inline constexpr auto kAttrs = std::make_tuple(
    attr("to", &Attrs::to, "element type of the output: that of x (0), or for 8-bit x any of s8, u8, s16 (the least value stands for 0)"),
    attr("multiplier", &Attrs::multiplier, "beta times the scale of x, as TFLite prepares it"), attr("shift", &Attrs::shift, "its shift"),
    attr("diff_min", &Attrs::diff_min, "8-bit x: elements this far below the greatest count as 0; not positive"));

// The tables (513 entries of s16: exp, and 1 / (1 + x)) are for 16-bit x, which needs them.
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  const DType x = c.in(0).dtype, y = a.to == 0 ? x : named_type(a.to, kQuant);
  const bool tables = x == DType::s16;
  if (y == DType::kNone || (tables && y != x)) return c.reject(Why::kDType, kQuant, a.to);
  if (c.in(0).rank < 1) return c.reject(Why::kRank, 1, 0);
  if (a.diff_min > 0) return c.reject(Why::kAttribute, 0, a.diff_min);
  if (a.shift < -31 || a.shift > 31 || (!tables && a.shift < 0)) return c.reject(Why::kAttribute, 31, a.shift);
  for (int i = 1; i < 3; ++i) {
    if (c.has(i) != tables) return c.reject(tables ? Why::kInputMissing : Why::kInputCount, tables, !tables);
    if (!tables) continue;
    MOTE_TRY(c.require(i, mask_of(DType::s16)));
    if (c.in(i).rank != 1 || c.in(i).dims[0] != 513) return c.reject(Why::kDimMismatch, 513, c.in(i).dims[0]);
  }
  c.same_as(0, 0, y);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

// exp() of an element below the greatest, 0 integer bits; 8-bit x.
inline Fixed<int32_t, 0> exp_of(const Attrs& a, int32_t below) {
  return exp_of_negative(Fixed<int32_t, 5>{doubling_high_mul(wrapping_shift_left(below, a.shift), a.multiplier)});
}
// For kernels of 8-bit x. The exponentials of elements 0 to 255 below the greatest.
inline void exponentials(const Attrs& a, int32_t* out_exps) noexcept {
  for (int32_t below = 0; below < 256; ++below) out_exps[below] = -below >= a.diff_min ? exp_of(a, -below).raw : 0;
}
// One divided by a sum of exponentials (12 integer bits), and how far to the right its product with one of them is shifted for outputs of
// `width` bytes: 0 to 31.
inline int32_t reciprocal(int64_t sum, int width, int* out_exponent) noexcept {
  int over_unit;
  const int32_t scale = reciprocal_of(clamp_to(sum, 1, 0x7fffffff), 12, &over_unit);
  const int exponent = over_unit + 31 - width * 8;
  *out_exponent = exponent < 0 ? 0 : exponent > 31 ? 31 : exponent;
  return scale;
}

}  // namespace mote::ops::q_softmax
