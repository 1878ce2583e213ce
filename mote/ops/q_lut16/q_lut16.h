#pragma once

#include "mote/ops/common/elementwise.h"
#include "mote/ops/common/quant.h"

namespace mote::ops::q_lut16 {

// Values are part of the program format.
enum class Kind : uint32_t { kTable = 0, kLogistic = 1, kTanh = 2 };

struct Attrs {
  uint32_t kind = 0;
  int32_t multiplier = 0;
  int32_t shift = 0;
};
using Types = TypeList<int16_t>;
inline constexpr OpInfo kInfo = OpInfo("Looks every 16-bit element up in a table and interpolates between neighbours, as TFLite does.")
                                    .signature("x, table -> y")
                                    .inputs(2)
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange | kIntegerExact);
inline constexpr auto kAttrs = std::make_tuple(
    attr("kind", &Attrs::kind,
         "0: a table of 513 s16 over the whole range of x; 1, 2: TFLite's int16 LOGISTIC and TANH, with a table of 256 u16, round(65536 * "
         "sigmoid(i / 24)) saturated"),
    attr("multiplier", &Attrs::multiplier, "kinds 1 and 2: x is first multiplied by this (3 << shift for scales that are powers of two)"),
    attr("shift", &Attrs::shift, "kinds 1 and 2: and then shifted right by this, rounding, 0 to 30"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  if (a.kind > 2) return c.reject(Why::kAttribute, 2, a.kind);
  if (a.shift < 0 || a.shift > 30) return c.reject(Why::kAttribute, 30, a.shift);
  MOTE_TRY(c.require(1, mask_of(a.kind == 0 ? DType::s16 : DType::u16)));
  if (c.in(1).rank != 1) return c.reject(Why::kRank, 1, c.in(1).rank);
  const int32_t entries = a.kind == 0 ? 513 : 256;
  if (c.in(1).dims[0] != entries) return c.reject(Why::kDimMismatch, entries, c.in(1).dims[0]);
  c.same_as(0, 0, c.in(0).dtype);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::q_lut16
