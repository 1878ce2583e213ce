#pragma once

#include "mote/ops/common/scatter.h"

namespace mote::ops::update_slice {

using Attrs = NoAttrs;
using Types = AllTypes;
inline constexpr OpInfo kInfo =
    OpInfo("Writes a block into a copy of x at run-time positions, moved as little as needed to lie inside; in place for states.")
        .signature("x, update, starts -> y")
        .inputs(3)
        .types(mask_of_list(Types{}))
        .flags(kStateUpdate | kIntegerExact);
inline constexpr auto kAttrs = std::make_tuple();

inline Status infer(const Attrs&, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(require_same_type(c, 1, 0));
  MOTE_TRY(require_ints(c, 2, kMaxRank));
  const TensorDesc &x = c.in(0), &update = c.in(1);
  if (update.rank != x.rank) return c.reject(Why::kRank, x.rank, update.rank);
  for (int i = 0; i < x.rank; ++i)
    if (update.dims[i] > x.dims[i]) return c.reject(Why::kDimMismatch, x.dims[i], update.dims[i]);
  const int32_t starts = c.in(2).rank == 0 ? 1 : c.in(2).dims[0];
  if (starts != x.rank) return c.reject(Why::kDimMismatch, x.rank, starts);
  c.same_as(0, 0, x.dtype);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::update_slice
