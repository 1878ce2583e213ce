#pragma once

#include "mote/ops/common/int_list.h"
#include "mote/ops/common/pool.h"

namespace mote::ops::max_unpool {

struct Attrs {
  int32_t dims[3] = {};
};
using Types = NumberTypes;
inline constexpr OpInfo kInfo = OpInfo(
                                    "Puts each element of (N, spatial, C) at the position its index names in a plane of zeros, undoing "
                                    "max_pool; the last of several wins.")
                                    .signature("x, indices -> y")
                                    .inputs(2)
                                    .types(mask_of_list(Types{}))
                                    .ranks(3, 5)
                                    .onnx("MaxUnpool");
inline constexpr auto kAttrs = std::make_tuple(attr("dims", &Attrs::dims, "spatial sizes of the output; unused entries are ignored"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(c.require(1, kIndex));
  MOTE_TRY(require_spatial(c, 0));
  const TensorDesc& x = c.in(0);
  if (!same_shape(x, c.in(1))) return c.reject(Why::kDimMismatch, x.dims[1], c.in(1).dims[1]);
  int32_t dims[kMaxSpatial + 2] = {x.dims[0]};
  int64_t plane = 1;
  for (int i = 0; i < x.rank - 2; ++i) {
    if (a.dims[i] < 0) return c.reject(Why::kNegativeDim, 0, a.dims[i]);
    dims[i + 1] = a.dims[i];
    plane *= a.dims[i];
    if (plane > kMaxExtent) return c.reject(Why::kShapeOverflow, kMaxExtent, plane);
  }
  dims[x.rank - 1] = x.dims[x.rank - 1];
  return c.set(0, x.dtype, x.rank, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::max_unpool
