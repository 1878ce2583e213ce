#pragma once

#include "mote/ops/common/moves.h"

namespace mote::ops::transpose {

struct Attrs {
  int32_t perm[8] = {};
  int32_t rank = 0;
};
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Exchanges axes: axis i of the result is axis perm[i] of the input.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .flags(kIntegerExact)
                                    .aten("aten::permute_copy.out")
                                    .onnx("Transpose");
inline constexpr auto kAttrs =
    std::make_tuple(attr("perm", &Attrs::perm, "input axis of each output axis; negative counts from the end"),
                    attr("rank", &Attrs::rank, "how many of perm count: the input's rank, or 0 to reverse all axes"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  const TensorDesc& x = c.in(0);
  if (a.rank != 0 && a.rank != x.rank) return c.reject(Why::kRank, x.rank, a.rank);
  int64_t dims[kMaxRank];
  uint32_t seen = 0;
  for (int i = 0; i < x.rank; ++i) {
    int axis;
    MOTE_TRY(c.axis(a.rank == 0 ? x.rank - 1 - i : a.perm[i], x.rank, &axis));
    if ((seen >> axis & 1) != 0) return c.reject(Why::kAxis, x.rank, a.perm[i]);
    seen |= 1u << axis;
    dims[i] = x.dims[axis];
  }
  return set_shape(c, 0, x.dtype, x.rank, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::transpose
