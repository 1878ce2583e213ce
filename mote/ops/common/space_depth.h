#pragma once

#include "mote/ops/common/moves.h"

namespace mote::ops {

// How the channels of a block are numbered. Values are part of the program format.
enum SpaceDepthMode : int32_t { kBlockMajor = 0, kChannelMajor = 1 };

// Moves between space (N, H*b, W*b, C) and depth (N, H, W, b*b*C). A channel of depth is (row, column of the block, c) in block-major
// order and (c, row, column) in channel-major order.
template <class W>
void move_space_depth(const Tensor& space, const Tensor& depth, int32_t block, int32_t mode, bool to_space) noexcept {
  if (space.count() == 0) return;  // before any product: a block of an empty tensor may have any size
  const int32_t b = block, channels = space.dim(3), width = sizeof(W);
  const int32_t c_step = mode == kBlockMajor ? width : b * b * width, column_step = mode == kBlockMajor ? channels * width : width;
  const int32_t dims[6] = {depth.dim(0), depth.dim(1), b, depth.dim(2), b, channels};
  const int32_t s[6] = {space.stride(0), dims[1] > 1 ? b * space.stride(1) : 0,
                        space.stride(1), dims[3] > 1 ? b * space.stride(2) : 0,
                        space.stride(2), width};
  const int32_t d[6] = {depth.stride(0), depth.stride(1), b * column_step, depth.stride(2), column_step, c_step};
  if (to_space) copy_grid<W>(6, dims, depth.data, d, space.data, s);
  else copy_grid<W>(6, dims, space.data, s, depth.data, d);
}

}  // namespace mote::ops
