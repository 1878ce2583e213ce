#pragma once

#include "mote/ops/common/moves.h"

namespace mote::ops::batch_to_space {

struct Attrs {
  int32_t block[8] = {};
  int32_t begin[8] = {};
  int32_t end[8] = {};
  int32_t count = 0;
};
using Types = AllTypes;
inline constexpr OpInfo kInfo =
    OpInfo("Lays batches out as blocks of positions and cuts off the border: (blocks*N, spatial..., C) to (N, larger..., C).")
        .signature("x -> y")
        .types(mask_of_list(Types{}))
        .ranks(1, kMaxRank)
        .flags(kIntegerExact);
inline constexpr auto kAttrs = std::make_tuple(attr("block", &Attrs::block, "block size of axis 1, 2, ..."),
                                               attr("begin", &Attrs::begin, "positions cut off before axis 1, 2, ..."),
                                               attr("end", &Attrs::end, "positions cut off after axis 1, 2, ..."),
                                               attr("count", &Attrs::count, "spatial axes: how many of block, begin and end count"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  const TensorDesc& x = c.in(0);
  if (x.rank < 1) return c.reject(Why::kRank, 1, 0);
  if (a.count < 0 || a.count >= x.rank) return c.reject(Why::kAttribute, x.rank - 1, a.count);
  int64_t dims[kMaxRank], blocks = 1;
  for (int i = 0; i < x.rank; ++i) dims[i] = x.dims[i];
  for (int i = 0; i < a.count; ++i) {
    if (a.block[i] < 1 || a.begin[i] < 0 || a.end[i] < 0) return c.reject(Why::kWindow, 1, a.block[i]);
    const int64_t whole = int64_t{x.dims[i + 1]} * a.block[i];
    dims[i + 1] = whole - a.begin[i] - a.end[i];
    if (whole > kMaxTensorBytes) return c.reject(Why::kShapeOverflow, kMaxTensorBytes, whole);
    if (dims[i + 1] < 0) return c.reject(Why::kNegativeDim, 0, dims[i + 1]);
    blocks *= a.block[i];
    if (blocks > kMaxTensorBytes) return c.reject(Why::kShapeOverflow, kMaxTensorBytes, blocks);
  }
  if (dims[0] % blocks != 0) return c.reject(Why::kDimMismatch, blocks, dims[0]);
  dims[0] /= blocks;
  return set_shape(c, 0, x.dtype, x.rank, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::batch_to_space
