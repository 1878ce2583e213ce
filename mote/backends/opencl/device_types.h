#pragma once

// Structs that kernels take by value, as kernels/*.cl declare them.

#include <cstdint>

#include "mote/backends/common/window.h"

namespace mote::backends::opencl {

struct FinishArgs {
  int32_t kind, bias, residual;
  float a, b;
};
struct ProductArgs {
  int32_t rows, cols, padded_cols, k;
  int32_t in_h, in_w, in_c, out_h, out_w, kernel_w;
  int32_t stride_h, stride_w, dilation_h, dilation_w, pad_h, pad_w;
  int32_t k_part, plain, batched;
};
struct MatricesArgs {
  int32_t m, n, k, a_row, a_col, b_row, b_col, batches;
};
struct WindowArgs : Window2d {
  int32_t groups, padded_cols;
};
static_assert(sizeof(WindowArgs) == 17 * 4, "as window.cl has it");
struct AttentionArgs {
  int32_t heads, key_heads, queries, keys, depth, width;
  int32_t causal, left, right;
  int32_t mask[4], has_mask;
  float scale, softcap;
};
struct WinogradArgs {
  int32_t batch, in_h, in_w, in_c, out_h, out_w, out_c, pad_h, pad_w, tiles_h, tiles_w;
};
struct QuantSumArgs {
  int32_t mode, sign, a_flip, b_flip, a_zero, b_zero, y_zero, left_shift;
  int32_t a_multiplier, a_shift, b_multiplier, b_shift, y_multiplier, y_shift;
  int32_t lo, hi;
  float a_scale, b_scale, y_scale;
};
struct EpilogueArgs {
  int32_t x_flip, x_zero, w_zero, y_zero, lo, hi, mode, residual, residual_shift;
  QuantSumArgs sum;
};
struct QuantReduceArgs {
  int32_t kind, mode, flip, x_zero, y_zero, multiplier, shift, lo, hi;
  float divisor, factor;
};
struct WalkArgs {
  int32_t size[8], a[8], b[8], out[8];
  int32_t count;
};

}  // namespace mote::backends::opencl
