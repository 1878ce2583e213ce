#pragma once

#include <cstdint>

namespace mote::kernels::MOTE_ISA_NAME {

// The rows of an input, padded, as lines_amx.h puts them side by side; runs of 0: windows cannot be read so. Lengths in bytes.
struct LineShape {
  static constexpr int32_t kMaxBytes = 72 * 1024, kMaxRuns = 16;
  static constexpr int32_t kWindows = 16, kStep = 64;  // windows are read by so many, and so many bytes of them

  int32_t runs = 0, run_length = 0;                     // rows of the kernel, and one of them
  int32_t columns = 0, column_bytes = 0, stride_w = 1;  // a padded row of the input; columns is a multiple of stride_w
  int32_t stride_h = 1, dilation_h = 1;
  int32_t width = 0, height = 0;  // outputs

  // Windows, wanted or not, in a row of outputs, and the distance between them.
  int32_t pitch() const { return columns / stride_w; }
  int32_t window_stride() const { return stride_w * column_bytes; }
  int32_t lines(int32_t rows) const { return (rows - 1) * stride_h + (runs - 1) * dilation_h + 1; }
  // Whole tiles are read, and whole steps.
  int64_t bytes(int32_t rows) const {
    const int64_t all = (lines(rows) + stride_h - 1) / stride_h * stride_h;
    return all * columns * column_bytes + int64_t{kWindows} * window_stride() + run_length + 2 * kStep;
  }
  // The most rows of outputs, up to `rows`, whose lines fit; 0: none do.
  int32_t fitting(int32_t rows) const {
    if (runs == 0 || runs > kMaxRuns) return 0;
    while (rows > 0 && bytes(rows) > kMaxBytes) --rows;
    return rows;
  }
};

}  // namespace mote::kernels::MOTE_ISA_NAME
