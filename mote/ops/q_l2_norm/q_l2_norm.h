#pragma once

#include "mote/ops/common/quant.h"
#include "mote/ops/common/select.h"

namespace mote::ops::q_l2_norm {

struct Attrs {
  int32_t input_zero = 0;
};
using Types = TypeList<int8_t, uint8_t>;
inline constexpr OpInfo kInfo =
    OpInfo("Divides the rows of the last axis by their Euclidean length; the result has scale 1/128 and zero point 0 (s8) or 128 (u8).")
        .signature("x -> y")
        .types(mask_of_list(Types{}))
        .ranks(1, kMaxRank)
        .flags(kIntegerExact);
inline constexpr auto kAttrs = std::make_tuple(attr("input_zero", &Attrs::input_zero, "zero point of x"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  if (c.in(0).rank < 1) return c.reject(Why::kRank, 1, 0);
  MOTE_TRY(check_zero(c, a.input_zero, c.in(0).dtype));
  c.same_as(0, 0, c.in(0).dtype);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::q_l2_norm
