#pragma once

#include "mote/ops/common/space_depth.h"

namespace mote::ops::depth_to_space {

struct Attrs {
  int32_t block = 1;
  int32_t mode = kBlockMajor;
};
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Spreads channels over blocks of pixels: (N, H, W, b*b*C) to (N, H*b, W*b, C).")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .ranks(4, 4)
                                    .flags(kIntegerExact)
                                    .onnx("DepthToSpace");
inline constexpr auto kAttrs =
    std::make_tuple(attr("block", &Attrs::block, "pixels on a side of a block"),
                    attr("mode", &Attrs::mode,
                         "0: input channels are (row, column, c), ONNX's DCR; 1: (c, row, column), ONNX's CRD and ATen's pixel_shuffle"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  const TensorDesc& x = c.in(0);
  if (x.rank != 4) return c.reject(Why::kRank, 4, x.rank);
  if (a.block < 1) return c.reject(Why::kAttribute, 1, a.block);
  if (a.mode != kBlockMajor && a.mode != kChannelMajor) return c.reject(Why::kAttribute, kChannelMajor, a.mode);
  const int64_t b = a.block;
  if (x.dims[3] % (b * b) != 0) return c.reject(Why::kDimMismatch, b * b, x.dims[3]);
  const int64_t dims[4] = {x.dims[0], x.dims[1] * b, x.dims[2] * b, x.dims[3] / (b * b)};
  return set_shape(c, 0, x.dtype, 4, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::depth_to_space
