#pragma once

#include "mote/ops/common/moves.h"

namespace mote::ops::space_to_batch {

struct Attrs {
  int32_t block[8] = {};
  int32_t begin[8] = {};
  int32_t end[8] = {};
  int32_t count = 0;
  float value = 0;
};
using Types = AllTypes;
inline constexpr OpInfo kInfo =
    OpInfo("Pads the spatial axes and deals each block of positions out to the batch: (N, spatial..., C) to (blocks*N, smaller..., C).")
        .signature("x -> y")
        .types(mask_of_list(Types{}))
        .ranks(1, kMaxRank)
        .flags(kIntegerExact);
inline constexpr auto kAttrs = std::make_tuple(attr("block", &Attrs::block, "block size of axis 1, 2, ..."),
                                               attr("begin", &Attrs::begin, "positions added before axis 1, 2, ..."),
                                               attr("end", &Attrs::end, "positions added after axis 1, 2, ..."),
                                               attr("count", &Attrs::count, "spatial axes: how many of block, begin and end count"),
                                               attr("value", &Attrs::value, "of added positions"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  const TensorDesc& x = c.in(0);
  if (x.rank < 1) return c.reject(Why::kRank, 1, 0);
  if (a.count < 0 || a.count >= x.rank) return c.reject(Why::kAttribute, x.rank - 1, a.count);
  int64_t dims[kMaxRank], blocks = 1;
  for (int i = 0; i < x.rank; ++i) dims[i] = x.dims[i];
  for (int i = 0; i < a.count; ++i) {
    if (a.block[i] < 1 || a.begin[i] < 0 || a.end[i] < 0) return c.reject(Why::kWindow, 1, a.block[i]);
    const int64_t padded = int64_t{x.dims[i + 1]} + a.begin[i] + a.end[i];
    if (padded > kMaxTensorBytes) return c.reject(Why::kShapeOverflow, kMaxTensorBytes, padded);
    if (padded % a.block[i] != 0) return c.reject(Why::kDimMismatch, a.block[i], padded);
    dims[i + 1] = padded / a.block[i];
    blocks *= a.block[i];
    if (blocks > kMaxTensorBytes) return c.reject(Why::kShapeOverflow, kMaxTensorBytes, blocks);
  }
  dims[0] *= blocks;
  return set_shape(c, 0, x.dtype, x.rank, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::space_to_batch
