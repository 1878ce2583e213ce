#pragma once

#include "mote/ops/common/space_depth.h"

namespace mote::ops::space_to_depth {

struct Attrs {
  int32_t block = 1;
  int32_t mode = kBlockMajor;
};
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Gathers blocks of pixels into channels: (N, H*b, W*b, C) to (N, H, W, b*b*C).")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .ranks(4, 4)
                                    .flags(kIntegerExact)
                                    .onnx("SpaceToDepth");
inline constexpr auto kAttrs =
    std::make_tuple(attr("block", &Attrs::block, "pixels on a side of a block"),
                    attr("mode", &Attrs::mode,
                         "0: output channels are (row, column, c), as ONNX and TFLite; 1: (c, row, column), as ATen's pixel_unshuffle"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  const TensorDesc& x = c.in(0);
  if (x.rank != 4) return c.reject(Why::kRank, 4, x.rank);
  if (a.block < 1) return c.reject(Why::kAttribute, 1, a.block);
  if (a.mode != kBlockMajor && a.mode != kChannelMajor) return c.reject(Why::kAttribute, kChannelMajor, a.mode);
  const int64_t b = a.block;
  if (x.dims[1] % b != 0) return c.reject(Why::kDimMismatch, b, x.dims[1]);
  if (x.dims[2] % b != 0) return c.reject(Why::kDimMismatch, b, x.dims[2]);
  // A block with more pixels than a tensor may have elements: only of an empty tensor, but the products below must fit.
  if (b * b > kMaxTensorBytes) return c.reject(Why::kAttribute, 0, b);
  const int64_t dims[4] = {x.dims[0], x.dims[1] / b, x.dims[2] / b, x.dims[3] * (b * b)};
  return set_shape(c, 0, x.dtype, 4, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::space_to_depth
