#pragma once

// Input rows of a convolution, padded and side by side, so that windows of neighbouring outputs lie at equal distances: a tile of the left
// side is 16 of them, read in place. From one row of outputs to the next the distance is the same too; the windows between
// them (less than a kernel's width) are computed and thrown away.

#include "mote/kernels/int8/lines.h"
#include "mote/kernels/int8/tile_amx.h"
#include "mote/kernels/int8/writer.h"

namespace mote::kernels::MOTE_ISA_NAME {

class Lines {
 public:
  // Puts the lines that `rows` rows of outputs read, from row `first` of the left side on.
  template <class L>
  void fill(const LineShape& s, const L& left, const LeftForm& form, uint8_t zero, int32_t first, int32_t rows) {
    const int32_t all = s.lines(rows), each = (all + s.stride_h - 1) / s.stride_h;
    const int64_t line_bytes = int64_t{s.columns} * s.column_bytes;
    // Lines that one run reads lie together. In the order of their places: each writes a little beyond its end.
    for (int32_t phase = 0; phase < s.stride_h; ++phase) {
      for (int32_t i = 0; phase + i * s.stride_h < all; ++i) {
        RowWriter<false> writer(form, zero, static_cast<int32_t>(line_bytes), data_ + (phase * each + i) * line_bytes, nullptr);
        left.write_line(first, phase + i * s.stride_h, s.columns, writer);
        writer.finish();
      }
    }
    for (int32_t run = 0; run < s.runs; ++run) {
      const int32_t line = run * s.dilation_h;
      offsets[run] = (line % s.stride_h * each + line / s.stride_h) * line_bytes;
    }
  }
  const uint8_t* window(const LineShape& s, int32_t number) const { return data_ + int64_t{number} * s.window_stride(); }

  int64_t offsets[LineShape::kMaxRuns];  // of each run of a window

 private:
  alignas(64) uint8_t data_[LineShape::kMaxBytes];
};

}  // namespace mote::kernels::MOTE_ISA_NAME
