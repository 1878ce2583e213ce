#pragma once

#include "mote/ops/common/nn_checks.h"
#include "mote/ops/common/select.h"

namespace mote::ops::shift_in {

using Attrs = NoAttrs;
using Types = AllTypes;
inline constexpr OpInfo kInfo =
    OpInfo("Appends rows to a state and drops as many of its oldest: the last rows of both, in place for states.")
        .signature("state, x -> state")
        .inputs(2)
        .types(mask_of_list(Types{}))
        .ranks(1, kMaxRank)
        .flags(kStateUpdate | kIntegerExact);
inline constexpr auto kAttrs = std::make_tuple();

// state (L, ...), x (N, ...), N at most L -> (L, ...).
inline Status infer(const Attrs&, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(require_type(c, 1, c.in(0).dtype));
  const TensorDesc &state = c.in(0), &x = c.in(1);
  if (state.rank < 1) return c.reject(Why::kRank, 1, 0);
  if (x.rank != state.rank) return c.reject(Why::kRank, state.rank, x.rank);
  if (x.dims[0] > state.dims[0]) return c.reject(Why::kDimMismatch, state.dims[0], x.dims[0]);
  for (int i = 1; i < x.rank; ++i)
    if (x.dims[i] != state.dims[i]) return c.reject(Why::kDimMismatch, state.dims[i], x.dims[i]);
  c.same_as(0, 0, state.dtype);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::shift_in
