#pragma once

// Interpolation of bytes as PyTorch does it: one axis after the other, with weights that are whole numbers, rounding to bytes between.

#include <vector>

#include "mote/compiler/frontends/torch/op.h"

namespace mote::frontends::torch {

struct ByteResize {
  bool cubic = false, antialias = false, align_corners = false;
  int64_t sizes[2] = {};  // of rows and columns
  double scales[2] = {};  // as the program gives them; 0 where it gives sizes alone
};

// Weights of one axis: output i is the sum over k of input[first[i] + k] * weights[i * taps + k], shifted to the right by `bits`.
struct ByteWeights {
  int64_t taps = 0;
  uint32_t bits = 0;
  std::vector<int64_t> first, weights;
};

ByteWeights byte_weights(const ByteResize& how, int64_t in, int64_t out, double scale);

// x (N, C, H, W) of u8 with fixed H and W.
Value* resize_bytes(Op& o, Value* x, const ByteResize& how);

}  // namespace mote::frontends::torch
