#pragma once

// A padded copy of the input rows of a convolution, in which the windows of neighbouring outputs lie at equal distances: an AMX tile of the
// LHS is 16 of them, read in place. The distance from the last window of an output row to the first of the next is the same, too; windows
// that straddle the end of a row (fewer than the kernel is wide) are computed and discarded.

#include "mote/kernels/int8/gemm/lhs_packer.h"
#include "mote/kernels/int8/gemm/microkernel_amx.h"
#include "mote/kernels/int8/gemm/padded_rows.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

class PaddedRows {
 public:
  // Copies the input rows that `rows` output rows read, from LHS row `first` on.
  template <class RowSource>
  void fill(const PaddedRowsShape& s, const RowSource& lhs, const LhsEncoding& encoding, uint8_t zero, int32_t first, int32_t rows) {
    const int32_t input_rows = s.input_rows(rows), rows_per_phase = (input_rows + s.stride_h - 1) / s.stride_h;
    const int64_t row_bytes = int64_t{s.columns} * s.column_bytes;
    // Rows of one phase of stride_h are adjacent, because a run reads every stride_h-th row. They are written in address order: the packer
    // writes up to 63 bytes beyond the end of a row.
    for (int32_t phase = 0; phase < s.stride_h; ++phase) {
      for (int32_t i = 0; phase + i * s.stride_h < input_rows; ++i) {
        LhsPacker<false> packer(encoding, zero, static_cast<int32_t>(row_bytes), data_ + (phase * rows_per_phase + i) * row_bytes, nullptr);
        lhs.write_padded_row(first, phase + i * s.stride_h, s.columns, packer);
        packer.finish();
      }
    }
    for (int32_t run = 0; run < s.runs; ++run) {
      const int32_t row = run * s.dilation_h;
      offsets[run] = (row % s.stride_h * rows_per_phase + row / s.stride_h) * row_bytes;
    }
  }
  const uint8_t* window(const PaddedRowsShape& s, int32_t index) const { return data_ + int64_t{index} * s.window_stride(); }

  int64_t offsets[PaddedRowsShape::kMaxRuns];  // from the start of a window to each of its runs

 private:
  alignas(64) uint8_t data_[PaddedRowsShape::kMaxBytes];
};

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
