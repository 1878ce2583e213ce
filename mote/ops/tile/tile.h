#pragma once

#include "mote/ops/common/int_list.h"
#include "mote/ops/common/moves.h"

namespace mote::ops::tile {

struct Attrs {
  int32_t repeats[8] = {};
};
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Repeats a tensor along each axis.")
                                    .signature("x, repeats? -> y")
                                    .inputs(1, 2)
                                    .types(mask_of_list(Types{}))
                                    .flags(kIntegerExact)
                                    .onnx("Tile");
inline constexpr auto kAttrs =
    std::make_tuple(attr("repeats", &Attrs::repeats, "times per axis, 0 or more; not read when they are an input"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  if (c.has(1)) MOTE_TRY(require_ints(c, 1, kMaxRank));
  const TensorDesc& x = c.in(0);
  const IntList repeats(c.op(), 1, a.repeats, x.rank);
  if (repeats.count() != x.rank) return c.reject(Why::kDimMismatch, x.rank, repeats.count());
  int64_t dims[kMaxRank];
  for (int i = 0; i < x.rank; ++i) {
    dims[i] = kDimUnknown;
    if (!repeats.known()) continue;
    if (repeats[i] < 0) return c.reject(Why::kAttribute, 0, repeats[i]);
    dims[i] = x.dims[i] * repeats[i];
  }
  return set_shape(c, 0, x.dtype, x.rank, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::tile
