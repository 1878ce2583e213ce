#pragma once

// Convolutions and matrix products of s16 tensors with s8 weights and 64-bit accumulators. The zero point of x is 0, so taps in the padding
// are skipped.

#include "mote/kernels/cortexm/conv.h"
#include "mote/ops/common/quant.h"

namespace mote::cortexm {

struct WideChannel {
  int64_t bias;
  int32_t multiplier, shift;  // as in ops::scale_by_wide
  double factor;              // or this, rounding half away from zero
};

// kReal_: accumulators are multiplied by `factor`.
template <bool kReal_>
struct WideConv {
  static constexpr bool kReal = kReal_;
  Rows x, y;
  Window window;
  const uint32_t*
      weights;  // by pairs of output channels and taps: for every 4 inputs a word of each channel, bytes in the order 0, 2, 1, 3
  const WideChannel* channels;
  int32_t y_zero, lo, hi;
};

struct WideDepthwise {
  static constexpr bool kReal = false;
  Rows x, y;
  Window window;
  const int8_t* weights;  // (taps, channels)
  const WideChannel* channels;
  int32_t y_zero, lo, hi;
};

inline const int16_t* wide_at(const int16_t* x, int32_t bytes) { return x + bytes / 2; }

template <class C>
inline int16_t wide_element(const C& c, int64_t sum, const WideChannel& k) {
  const int32_t v = C::kReal ? ops::round_to_s32(static_cast<double>(sum) * k.factor, ops::Rounding::kHalfAway)
                             : ops::scale_by_wide(sum, k.multiplier, k.shift);
  return static_cast<int16_t>(ops::clamp_to(int64_t{v} + c.y_zero, c.lo, c.hi));
}

// Adds the products of `count` inputs to the accumulators of two output channels. The weights' last word is zero-padded.
inline void add_wide_products(const int16_t* x, const uint32_t* w, int32_t count, int64_t (&sums)[2]) {
  int64_t a = sums[0], b = sums[1];
  for (; count >= 4; count -= 4, x += 4, w += 2) {
    const uint32_t first = load_word(x), second = load_word(x + 2);
    a = add_products_long(add_products_long(a, first, even_bytes(w[0])), second, odd_bytes(w[0]));
    b = add_products_long(add_products_long(b, first, even_bytes(w[1])), second, odd_bytes(w[1]));
  }
  const int from[4] = {0, 16, 8, 24};
  for (int32_t i = 0; i < count; ++i) {
    a += x[i] * static_cast<int8_t>(w[0] >> from[i]);
    b += x[i] * static_cast<int8_t>(w[1] >> from[i]);
  }
  sums[0] = a, sums[1] = b;
}

template <bool kReal>
inline void wide_conv(const WideConv<kReal>& c, const int16_t* x, int16_t* y, int32_t begin, int32_t end) {
  const Window& w = c.window;
  const int32_t channels = c.x.channels, tap_words = (channels + 3) / 4 * 2;
  for (int32_t row = begin; row < end; ++row) {
    int16_t* out = y + row_offset(c.y, row) / 2;
    for (int32_t column = 0; column < c.y.width; ++column, out += c.y.pixel_bytes / 2) {
      const int32_t left = column * w.stride_width - w.pad_width;
      const Columns inside(left, w.width, c.x.width);
      // Adjacent taps are one run when their words have no padding.
      const int32_t taps = channels % 4 == 0 && inside.end > inside.first ? inside.end - inside.first : 1;
      const uint32_t* weights = c.weights;
      for (int32_t o = 0; o < c.y.channels; o += 2) {
        const int32_t other = o + 1 < c.y.channels ? o + 1 : o;
        int64_t sums[2] = {c.channels[o].bias, c.channels[other].bias};
        int32_t from = row * w.stride_rows - w.pad_rows;
        for (int32_t i = 0; i < w.rows; ++i, from += w.dilation_rows, weights += w.width * tap_words) {
          if (from < 0 || from >= c.x.rows) continue;
          const int16_t* in = wide_at(x, row_offset(c.x, from) + left * c.x.pixel_bytes);
          for (int32_t j = inside.first; j < inside.end; j += taps)
            add_wide_products(in + j * channels, weights + j * tap_words, taps * channels, sums);
        }
        out[other] = wide_element(c, sums[1], c.channels[other]);
        out[o] = wide_element(c, sums[0], c.channels[o]);
      }
    }
  }
}

inline void wide_depthwise(const WideDepthwise& d, const int16_t* x, int16_t* y, int32_t begin, int32_t end) {
  const Window& w = d.window;
  const int32_t channels = d.x.channels, pixel = d.x.pixel_bytes / 2;
  for (int32_t row = begin; row < end; ++row) {
    int16_t* out = y + row_offset(d.y, row) / 2;
    for (int32_t column = 0; column < d.y.width; ++column, out += d.y.pixel_bytes / 2) {
      const int32_t left = column * w.stride_width - w.pad_width;
      const Columns inside(left, w.width, d.x.width);
      for (int32_t k = 0; k < channels; ++k) {
        int64_t sum = d.channels[k].bias;
        int32_t from = row * w.stride_rows - w.pad_rows;
        for (int32_t i = 0; i < w.rows; ++i, from += w.dilation_rows) {
          if (from < 0 || from >= d.x.rows) continue;
          const int16_t* in = wide_at(x, row_offset(d.x, from)) + (left + inside.first) * pixel + k;
          const int8_t* weights = d.weights + (i * w.width + inside.first) * channels + k;
          for (int32_t j = inside.first; j < inside.end; ++j, in += pixel, weights += channels) sum += *in * *weights;
        }
        out[k] = wide_element(d, sum, d.channels[k]);
      }
    }
  }
}

}  // namespace mote::cortexm
