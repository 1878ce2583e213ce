#pragma once

#include "mote/ops/common/quant.h"
#include "mote/ops/common/reduce.h"

namespace mote::ops::q_reduce {

// Values are part of the program format.
enum class Kind : uint32_t { kMean = 0, kSum = 1, kMax = 2, kMin = 3 };

struct Attrs {
  int32_t axes[kMaxRank] = {};
  int32_t axis_count = 0;
  int32_t keep_dims = 1;
  uint32_t kind = 0;
  uint32_t mode = 0;
  int32_t input_zero = 0;
  int32_t output_zero = 0;
  int32_t multiplier = 1 << 30;
  int32_t shift = 1;
  float real_multiplier = 1;
};
using Types = TypeList<int8_t, uint8_t, int16_t>;
inline constexpr OpInfo kInfo = OpInfo("Reduces a quantized tensor along axes by mean, sum, maximum or minimum, and rescales mean and sum.")
                                    .signature("x, axes? -> y")
                                    .inputs(1, 2)
                                    .types(mask_of_list(Types{}))
                                    .flags(kIntegerExact);
inline constexpr auto kAttrs =
    std::make_tuple(attr("axes", &Attrs::axes, "axes to reduce; negative ones count from the end; input 1, if present, replaces them"),
                    attr("axis_count", &Attrs::axis_count, "how many of `axes` count; 0: all axes"),
                    attr("keep_dims", &Attrs::keep_dims, "1: reduced axes stay with size 1; 0: they go"),
                    attr("kind", &Attrs::kind, "0: mean, 1: sum, 2: maximum, 3: minimum (the last two keep scale and zero point)"),
                    attr("mode", &Attrs::mode,
                         "0: multiplier and shift (TFLite; for a mean they do not include the division); 1: real_multiplier, ties to even"),
                    attr("input_zero", &Attrs::input_zero, "zero point of x"), attr("output_zero", &Attrs::output_zero, "zero point of y"),
                    attr("multiplier", &Attrs::multiplier, "mode 0: scale of x divided by scale of y, not negative"),
                    attr("shift", &Attrs::shift, "mode 0: its shift, -31 to 30"),
                    attr("real_multiplier", &Attrs::real_multiplier, "mode 1: scale of x divided by scale of y"));

// Mode 0: what sums of n elements are scaled by. TFLite folds 1/n of a mean into the multiplier.
struct Scaling {
  int32_t multiplier, shift;
};
inline Scaling scaling(const Attrs& a, int64_t n) {
  if (static_cast<Kind>(a.kind) != Kind::kMean) return {a.multiplier, a.shift};
  int32_t up = 31 - leading_zeros(static_cast<uint32_t>(n));
  up = up < 31 + a.shift ? up : 31 + a.shift;
  return {wrap_to_s32((int64_t{a.multiplier} << up) / n), a.shift - up};
}

// The sum of n elements, without their zero points, as an output value.
inline int64_t scaled(const Attrs& a, int64_t sum, int64_t n) {
  const bool mean = static_cast<Kind>(a.kind) == Kind::kMean;
  if (a.mode != 0) {
    const float total = static_cast<float>(sum);
    return int64_t{round_to_s32((mean ? total / static_cast<float>(n) : total) * a.real_multiplier)} + a.output_zero;
  }
  const Scaling f = scaling(a, n);
  return int64_t{scale_by(wrap_to_s32(sum), f.multiplier, f.shift)} + a.output_zero;
}

inline ReduceAttrs reduction(const Attrs& a) {
  ReduceAttrs r;
  for (int i = 0; i < kMaxRank; ++i) r.axes[i] = a.axes[i];
  r.axis_count = a.axis_count;
  r.keep_dims = a.keep_dims;
  return r;
}

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(infer_reduce(reduction(a), c, kInfo.types_));
  if (a.kind > 3 || a.mode > 1) return c.reject(Why::kAttribute, a.kind > 3 ? 3 : 1, a.kind > 3 ? a.kind : a.mode);
  if (a.multiplier < 0 || a.shift < -31 || a.shift > 30) return c.reject(Why::kAttribute, 0, a.multiplier < 0 ? a.multiplier : a.shift);
  MOTE_TRY(check_zero(c, a.input_zero, c.in(0).dtype));
  return check_zero(c, a.output_zero, c.in(0).dtype);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::q_reduce
