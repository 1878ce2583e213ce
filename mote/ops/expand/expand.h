#pragma once

#include "mote/ops/common/int_list.h"
#include "mote/ops/common/moves.h"

namespace mote::ops::expand {

struct Attrs {
  int32_t dims[8] = {};
  int32_t rank = 0;
};
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Broadcasts a tensor together with a shape.")
                                    .signature("x, shape? -> y")
                                    .inputs(1, 2)
                                    .types(mask_of_list(Types{}))
                                    .flags(kIntegerExact)
                                    .onnx("Expand");
inline constexpr auto kAttrs =
    std::make_tuple(attr("dims", &Attrs::dims, "sizes to broadcast with, aligned at the last axis; 1 or -1 keeps the input's size"),
                    attr("rank", &Attrs::rank, "how many of dims count; not read when the shape is an input"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  if (c.has(1)) MOTE_TRY(require_ints(c, 1, kMaxRank));
  const TensorDesc& x = c.in(0);
  const IntList shape(c.op(), 1, a.dims, a.rank);
  if (shape.count() < 0 || shape.count() > kMaxRank) return c.reject(Why::kRank, kMaxRank, shape.count());
  const int rank = x.rank > shape.count() ? x.rank : shape.count();
  const int x_lead = rank - x.rank, shape_lead = rank - shape.count();
  int64_t dims[kMaxRank];
  for (int i = 0; i < rank; ++i) {
    const int64_t size = i < x_lead ? 1 : x.dims[i - x_lead];
    dims[i] = size;
    if (i < shape_lead) continue;
    if (!shape.known()) {
      if (size == 1) dims[i] = kDimUnknown;
      continue;
    }
    const int64_t wanted = shape[i - shape_lead];
    if (wanted < -1) return c.reject(Why::kNegativeDim, 0, wanted);
    if (wanted == -1 || wanted == 1 || wanted == size) continue;
    if (size != 1) return c.reject(Why::kBroadcast, size, wanted);
    dims[i] = wanted;
  }
  return set_shape(c, 0, x.dtype, rank, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::expand
