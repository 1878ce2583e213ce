#pragma once

#include "mote/ops/common/elementwise.h"
#include "mote/ops/common/quant.h"

namespace mote::ops::q_lut {

using Attrs = NoAttrs;
using Types = TypeList<int8_t, uint8_t>;
inline constexpr OpInfo kInfo =
    OpInfo("Looks every 8-bit element up in a table of 256 entries; entry i belongs to the byte i, so negative s8 come after 127.")
        .signature("x, table -> y")
        .inputs(2)
        .types(mask_of_list(Types{}))
        .flags(kElementwise | kRowRange | kIntegerExact);
inline constexpr auto kAttrs = std::make_tuple();

// The output has the table's element type.
inline Status infer(const Attrs&, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(c.require(1, kQuant8));
  if (c.in(1).rank != 1) return c.reject(Why::kRank, 1, c.in(1).rank);
  if (c.in(1).dims[0] != 256) return c.reject(Why::kDimMismatch, 256, c.in(1).dims[0]);
  c.same_as(0, 0, c.in(1).dtype);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::q_lut
