#pragma once

#include <cstdint>

namespace mote::kernels::MOTE_ISA_NAME::int8 {

// Shape of the padded copy of input rows that padded_rows_amx.h makes, so that convolution windows can be read in place. runs == 0: the row
// source has no such copy. Lengths in bytes.
struct PaddedRowsShape {
  static constexpr int32_t kMaxBytes = 72 * 1024, kMaxRuns = 16;
  static constexpr int32_t kWindows = 16,
                           kStep = 64;  // rows of an AMX tile and bytes of each: reads may go beyond the last window up to a whole tile

  int32_t runs = 0, run_length = 0;                     // rows of the window; bytes of one of them
  int32_t columns = 0, column_bytes = 0, stride_w = 1;  // a padded input row; columns is a multiple of stride_w
  int32_t stride_h = 1, dilation_h = 1;
  int32_t width = 0, height = 0;  // of the output

  // Windows at stride_w in a padded row: one for each output, and those that straddle the end of the row, which are discarded.
  int32_t windows_per_row() const { return columns / stride_w; }
  int32_t window_stride() const { return stride_w * column_bytes; }
  int32_t input_rows(int32_t rows) const { return (rows - 1) * stride_h + (runs - 1) * dilation_h + 1; }
  // Size of the copy for `rows` output rows, with room for reads of whole AMX tiles.
  int64_t bytes(int32_t rows) const {
    const int64_t padded_rows = (input_rows(rows) + stride_h - 1) / stride_h * stride_h;
    return padded_rows * columns * column_bytes + int64_t{kWindows} * window_stride() + run_length + 2 * kStep;
  }
  // How many output rows, up to `rows`, the copy can serve; 0: none.
  int32_t max_output_rows(int32_t rows) const {
    if (runs == 0 || runs > kMaxRuns) return 0;
    while (rows > 0 && bytes(rows) > kMaxBytes) --rows;
    return rows;
  }
};

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
