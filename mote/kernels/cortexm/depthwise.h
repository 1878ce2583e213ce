#pragma once

// s8 depthwise convolutions (H, W, C): indirection pointers to the taps of a pixel, with a row of zero points for taps in the padding; then
// four channels at a time.

#include "mote/kernels/cortexm/conv.h"

namespace mote::cortexm {

constexpr int kMostTaps = 64;

struct Depthwise {
  Rows x, y;
  Window window;
  const uint32_t* weights;  // for every 4 channels and every tap: pairs of channels 0 and 2, 1 and 3; pre-shifted left, as the biases
  const Channel* channels;  // a multiple of 4
  const int8_t* zeros;      // as many zero points as channels, padded to a word
  Range range;
};

// Four channels of one pixel, packed.
template <int kTaps>
inline uint32_t four_channels(const int8_t* const* taps, int count, int32_t at, const uint32_t* w, const Channel* k, Range range) {
  int32_t s[4][1] = {{k[0].bias}, {k[1].bias}, {k[2].bias}, {k[3].bias}};
  const int n = kTaps > 0 ? kTaps : count;
#pragma GCC unroll 9
  for (int t = 0; t < n; ++t, w += 2) {
    const uint32_t v = load_word(taps[t] + at), even = even_bytes(v), odd = odd_bytes(v);
    s[0][0] = add_low_product(s[0][0], even, w[0]);
    s[2][0] = add_high_product(s[2][0], even, w[0]);
    s[1][0] = add_low_product(s[1][0], odd, w[1]);
    s[3][0] = add_high_product(s[3][0], odd, w[1]);
  }
  uint32_t packed = 0;
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    requantize(s[i], k[i].multiplier, k[i].add, k[i].shift, range);
    packed |= (static_cast<uint32_t>(s[i][0]) & 0xff) << 8 * i;
  }
  return packed;
}

template <int kTaps>
inline void depthwise_taps(const Depthwise& d, const int8_t* const* taps, int32_t at, int count, int8_t* out) {
  const uint32_t* w = d.weights;
  const Channel* k = d.channels;
  const Range range = d.range;
  const int32_t channels = d.y.channels;
  if (kHasLoops && kTaps == 9 && !range.narrower && range.left == 0) {
    depthwise_loop_9(taps, w, k, out, at, at + channels);
    return;
  }
  for (int32_t o = 0; o < channels; o += 4, w += 2 * count, k += 4) {
    const uint32_t packed = four_channels<kTaps>(taps, count, at + o, w, k, range);
    std::memcpy(out + o, &packed, 4);
  }
}

inline void depthwise_pixel(const Depthwise& d, const int8_t* const* taps, int32_t at, int count, int8_t* out) {
  if (count == 9) depthwise_taps<9>(d, taps, at, count, out);
  else depthwise_taps<0>(d, taps, at, count, out);
}

template <class D>
inline void name_taps(const D& d, const int8_t* x, int32_t row, int32_t column, const int8_t** taps) {
  const Window& w = d.window;
  const int32_t left = column * w.stride_width - w.pad_width;
  int32_t from = row * w.stride_rows - w.pad_rows;
  for (int32_t i = 0; i < w.rows; ++i, from += w.dilation_rows) {
    const bool there = from >= 0 && from < d.x.rows;
    const int8_t* in = there ? x + row_offset(d.x, from) : nullptr;
    int32_t at = left;
    for (int32_t j = 0; j < w.width; ++j, at += w.dilation_width)
      *taps++ = there && at >= 0 && at < d.x.width ? in + at * d.x.pixel_bytes : d.zeros;
  }
}

// Rows [begin, end) of the output, pixel by pixel: pixel(taps, at, count, out), where the offset `at` is added to each pointer. While
// windows are inside the input, the pointers of the first such column are reused for the rest of the row.
template <class D, class Pixel>
inline void each_pixel(const D& d, const int8_t* x, int8_t* y, int32_t begin, int32_t end, const Pixel& pixel) {
  const int8_t* taps[kMostTaps];
  const Window& w = d.window;
  const int count = w.rows * w.width;
  const int32_t reach_rows = (w.rows - 1) * w.dilation_rows, reach_width = (w.width - 1) * w.dilation_width;
  const int32_t step = w.stride_width * d.x.pixel_bytes;
  for (int32_t row = begin; row < end; ++row) {
    int8_t* out = y + row_offset(d.y, row);
    const int32_t top = row * w.stride_rows - w.pad_rows;
    const bool whole = top >= 0 && top + reach_rows < d.x.rows;
    bool named = false;
    int32_t at = 0;
    for (int32_t column = 0; column < d.y.width; ++column, out += d.y.pixel_bytes) {
      const int32_t left = column * w.stride_width - w.pad_width;
      const bool inside = whole && left >= 0 && left + reach_width < d.x.width;
      if (inside && named) {
        at += step;
      } else {
        name_taps(d, x, row, column, taps);
        at = 0;
      }
      named = inside;
      pixel(taps, at, count, out);
    }
  }
}

// Channels must be a multiple of 4, so that whole words can be read.
inline void depthwise(const Depthwise& d, const int8_t* x, int8_t* y, int32_t begin, int32_t end) {
  each_pixel(d, x, y, begin, end,
             [&d](const int8_t* const* taps, int32_t at, int count, int8_t* out) { depthwise_pixel(d, taps, at, count, out); });
}

}  // namespace mote::cortexm
