#pragma once

#include "mote/ops/common/int_list.h"
#include "mote/ops/common/moves.h"

namespace mote::ops::fill {

struct Attrs {
  int32_t dims[8] = {};
  int32_t rank = 0;
};
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Makes a tensor of a given shape whose elements all have one value.")
                                    .signature("value, shape? -> y")
                                    .inputs(1, 2)
                                    .types(mask_of_list(Types{}))
                                    .flags(kIntegerExact)
                                    .onnx("ConstantOfShape");
inline constexpr auto kAttrs = std::make_tuple(attr("dims", &Attrs::dims, "sizes; not read when the shape is an input"),
                                               attr("rank", &Attrs::rank, "how many of dims count; not read when the shape is an input"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(require_one(c, 0, kInfo.types_));
  if (c.has(1)) MOTE_TRY(require_ints(c, 1, kMaxRank));
  if (c.has(1) && c.in(1).rank != 1) return c.reject(Why::kRank, 1, c.in(1).rank);
  const IntList shape(c.op(), 1, a.dims, a.rank);
  const int rank = shape.count();
  if (rank < 0 || rank > kMaxRank) return c.reject(Why::kRank, kMaxRank, rank);
  int64_t dims[kMaxRank];
  for (int i = 0; i < rank; ++i) {
    dims[i] = shape.known() ? shape[i] : kDimUnknown;
    if (shape.known() && dims[i] < 0) return c.reject(Why::kNegativeDim, 0, dims[i]);
  }
  return set_shape(c, 0, c.in(0).dtype, rank, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::fill
