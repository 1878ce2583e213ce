#pragma once

// s8 convolutions (H, W, C), three output pixels at a time: im2col of their windows to 16-bit pairs in scratch, then a GEMM with two output
// channels at a time.

#include "mote/kernels/cortexm/dot.h"
#include "mote/kernels/cortexm/loops.h"
#include "mote/kernels/cortexm/requant.h"

namespace mote::cortexm {

// The layout of a tensor; a ring buffer holds only the last rows, row r at r % ring.
struct Rows {
  int32_t row_bytes, pixel_bytes;
  int16_t rows, width, channels;
  int16_t ring;  // 0: none
};
inline int32_t row_offset(const Rows& t, int32_t row) { return (t.ring != 0 ? row % t.ring : row) * t.row_bytes; }

struct Window {
  int16_t rows, width, stride_rows, stride_width, pad_rows, pad_width, dilation_rows, dilation_width;
};

// The window columns [first, end) inside the input, for a window that starts at input column `left`.
struct Columns {
  int32_t first, end;
  Columns(int32_t left, int32_t width, int32_t inputs) : first(left < 0 ? -left : 0), end(left + width > inputs ? inputs - left : width) {}
  bool whole(int32_t width) const { return first == 0 && end == width; }
};

struct Conv {
  Rows x, y, residual;
  Window window;
  const uint32_t* weights;  // as dot_3x2 reads them, by pairs of channels; each row of the window is padded to a whole word
  const Channel* channels;  // an even number
  const Sum* sum;           // null: no residual
  Range range;
  int16_t run_words;  // words of a row of the window
  int8_t x_zero;
  bool pointwise;  // a window of one pixel, no padding, channels a multiple of 4
};

constexpr int kSlot = 2 * kPixels;  // words that 4 inputs of all pixels take in scratch

// channels: those of the output if there is a residual, otherwise 0.
inline uint32_t conv_scratch_bytes(int32_t window_rows, int32_t run_words, int32_t channels) {
  return static_cast<uint32_t>(window_rows * run_words * kSlot) * 4 + static_cast<uint32_t>(kPixels * channels);
}

inline void put_word(uint32_t v, uint32_t* to) {
  to[0] = even_bytes(v);
  to[kPixels] = odd_bytes(v);
}
inline uint32_t* put_words(const int8_t* from, int32_t words, uint32_t* to) {
#pragma GCC unroll 4
  for (; words > 0; --words, from += 4, to += kSlot) put_word(load_word(from), to);
  return to;
}
inline uint32_t* put_zeros(uint32_t word, int32_t words, uint32_t* to) {
  for (; words > 0; --words, to += kSlot) put_word(word, to);
  return to;
}

// One row of the window at column `left` where it crosses the border, or where whole words would be read beyond the input.
inline uint32_t* put_border(const Conv& c, const int8_t* row, int32_t left, uint32_t zeros, uint32_t* to) {
  const int32_t run = c.window.width * c.x.channels, end = c.x.width * c.x.channels;
  int32_t at = left * c.x.channels;
  for (int32_t k = 0; k < run; at += 4, k += 4, to += kSlot) {
    uint32_t word = zeros;
    for (int b = 0; b < 4 && k + b < run; ++b) {
      if (at + b < 0 || at + b >= end) continue;
      word = (word & ~(0xffu << 8 * b)) | static_cast<uint32_t>(static_cast<uint8_t>(row[at + b])) << 8 * b;
    }
    put_word(word, to);
  }
  return to;
}

// im2col of one output pixel: its window, widened to 16-bit pairs.
inline void put_window(const Conv& c, const int8_t* x, int32_t row, int32_t column, uint32_t* to) {
  const Window& w = c.window;
  if (c.pointwise) {
    put_words(x + row_offset(c.x, row * w.stride_rows) + column * w.stride_width * c.x.pixel_bytes, c.run_words, to);
    return;
  }
  const uint32_t zeros = static_cast<uint8_t>(c.x_zero) * 0x01010101u;
  const int32_t left = column * w.stride_width - w.pad_width, channel_words = c.x.channels / 4;
  const bool whole = c.x.channels % 4 == 0;
  int32_t before = left < 0 ? -left : 0, behind = left + w.width - c.x.width;
  before = before < w.width ? before : w.width;
  behind = behind < 0 ? 0 : behind < w.width - before ? behind : w.width - before;
  const bool inside = left >= 0 && left * c.x.channels + c.run_words * 4 <= c.x.width * c.x.channels;
  int32_t from = row * w.stride_rows - w.pad_rows;
  for (int32_t i = 0; i < w.rows; ++i, ++from) {
    if (from < 0 || from >= c.x.rows) {
      to = put_zeros(zeros, c.run_words, to);
      continue;
    }
    const int8_t* in = x + row_offset(c.x, from);
    if (inside) {
      to = put_words(in + left * c.x.channels, c.run_words, to);
    } else if (whole) {
      to = put_zeros(zeros, before * channel_words, to);
      to = put_words(in + (left + before) * c.x.channels, (w.width - before - behind) * channel_words, to);
      to = put_zeros(zeros, behind * channel_words, to);
    } else {
      to = put_border(c, in, left, zeros, to);
    }
  }
}

// Addresses of the pixels that are computed together. Missing pixels alias the first one, which is stored last.
struct Pixels {
  int8_t* out[kPixels];
  const int8_t* residual[kPixels];
};

// Requantizes and stores one channel of the pixels. The output may alias the residual, so all of the residual is read first.
inline void put_channel(const int32_t* sums, const Channel& c, Range range, const Sum* sum, const Pixels& p, int32_t o) {
  int32_t v[kPixels] = {sums[0], sums[1], sums[2]};
  requantize(v, c.multiplier, c.add, c.shift, range);
  if (sum != nullptr)
    for (int i = 0; i < kPixels; ++i) v[i] = added(v[i], p.residual[i][o], *sum);
  p.out[2][o] = static_cast<int8_t>(v[2]);
  p.out[1][o] = static_cast<int8_t>(v[1]);
  p.out[0][o] = static_cast<int8_t>(v[0]);
}

inline void all_channels(const Conv& c, const uint32_t* scratch, const Pixels p, int pixels) {
  const uint32_t groups = static_cast<uint32_t>(c.window.rows * c.run_words);
  const uint32_t* w = c.weights;
  const Channel* channel = c.channels;
  const Range range = c.range;
  const Sum* sum = c.sum;
  const int32_t count = c.y.channels;
  if (kHasLoops && !range.narrower && count % 2 == 0) {
    // With a residual, which the output may alias: results go to scratch first.
    int8_t* const rows = reinterpret_cast<int8_t*>(const_cast<uint32_t*>(scratch) + groups * kSlot);
    const Pixels to = sum == nullptr ? p : Pixels{{rows, rows + count, rows + 2 * count}, {}};
    conv_loop({w, scratch, groups, channel, range.left, count / 2, {to.out[0], to.out[1], to.out[2]}});
    if (sum != nullptr)
      for (int i = 0; i < pixels; ++i) add(*sum, to.out[i], p.residual[i], p.out[i], count);
    return;
  }
  for (int32_t o = 0; o < count; o += 2, w += groups * 2, channel += 2) {
    int32_t sums[2 * kPixels];
    sums[0] = channel[0].bias;
    sums[1] = channel[1].bias;
    dot_3x2(scratch, w, groups, sums);
    put_channel(sums, channel[0], range, sum, p, o);
    if (o + 1 < count) put_channel(sums + kPixels, channel[1], range, sum, p, o + 1);
  }
}

// Rows [begin, end) of the output.
inline void conv(const Conv& c, const int8_t* x, const int8_t* residual, int8_t* y, int32_t begin, int32_t end, uint32_t* scratch) {
  Pixels p{};
  int32_t row = begin, column = 0;
  while (row < end) {
    int n = 0;
    for (; n < kPixels && row < end; ++n) {
      put_window(c, x, row, column, scratch + n);
      p.out[n] = y + row_offset(c.y, row) + column * c.y.pixel_bytes;
      if (c.sum != nullptr) p.residual[n] = residual + row_offset(c.residual, row) + column * c.residual.pixel_bytes;
      if (++column == c.y.width) column = 0, ++row;
    }
    for (int i = n; i < kPixels; ++i) p.out[i] = p.out[0], p.residual[i] = p.residual[0];
    all_channels(c, scratch, p, n);
  }
}

}  // namespace mote::cortexm
