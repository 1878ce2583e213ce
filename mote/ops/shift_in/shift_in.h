#pragma once

#include "mote/ops/common/nn_checks.h"
#include "mote/ops/common/select.h"

namespace mote::ops::shift_in {

struct Attrs {
  int32_t axis = 0;
};
using Types = AllTypes;
inline constexpr OpInfo kInfo =
    OpInfo("Appends rows to a state and drops as many of its oldest: the last rows of both, in place for states.")
        .signature("state, x -> state")
        .inputs(2)
        .types(mask_of_list(Types{}))
        .ranks(1, kMaxRank)
        .flags(kStateUpdate | kIntegerExact);
inline constexpr auto kAttrs = std::make_tuple(attr("axis", &Attrs::axis, "axis that x is appended along; negative counts from the end"));

// state (..., L, ...), x (..., N, ...) with N at most L -> as the state.
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(require_type(c, 1, c.in(0).dtype));
  const TensorDesc &state = c.in(0), &x = c.in(1);
  if (state.rank < 1) return c.reject(Why::kRank, 1, 0);
  if (x.rank != state.rank) return c.reject(Why::kRank, state.rank, x.rank);
  int axis;
  MOTE_TRY(c.axis(a.axis, state.rank, &axis));
  for (int i = 0; i < x.rank; ++i)
    if (i == axis ? x.dims[i] > state.dims[i] : x.dims[i] != state.dims[i]) return c.reject(Why::kDimMismatch, state.dims[i], x.dims[i]);
  c.same_as(0, 0, state.dtype);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::shift_in
