#pragma once

#include "mote/ops/common/select.h"
#include "mote/ops/common/window.h"

namespace mote::ops::adaptive_avg_pool {

struct Attrs {
  int32_t size[3] = {1, 1, 1};
};
using Types = FloatTypes;
inline constexpr OpInfo kInfo = OpInfo(
                                    "Takes the mean of (N, spatial, C) over as many windows per dimension as asked for; windows differ by "
                                    "at most two positions in size.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .ranks(3, 5);
inline constexpr auto kAttrs = std::make_tuple(attr("size", &Attrs::size, "windows per spatial dimension; unused entries are ignored"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(require_spatial(c, 0));
  const TensorDesc& x = c.in(0);
  int32_t dims[kMaxSpatial + 2] = {x.dims[0]};
  for (int i = 0; i + 2 < x.rank; ++i) {
    if (a.size[i] < 1 || x.dims[i + 1] < 1) return c.reject(Why::kWindow, 1, a.size[i] < 1 ? a.size[i] : x.dims[i + 1]);
    dims[i + 1] = a.size[i];
  }
  dims[x.rank - 1] = x.dims[x.rank - 1];
  return c.set(0, x.dtype, x.rank, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::adaptive_avg_pool
