#pragma once

// f32 convolutions and matrix products for cores with an FPU: accumulators of four output channels times up to four pixels in registers.
// Products are added in the portable kernel's order, so results are bit-exact.

#include "mote/kernels/cortexm/conv.h"
#include "mote/ops/common/activation.h"

namespace mote::cortexm {

struct FloatEpilogue {
  const float* biases;  // null: none
  float a, b;           // of the activation
};

struct FloatConv {
  Rows x, y, residual;
  Window window;
  const float* weights;  // for every 4 output channels: 4 weights for each input of the window; zero-padded
  FloatEpilogue epilogue;
};

struct FloatDepthwise {
  Rows x, y;
  Window window;
  const float* weights;  // (taps, channels)
  FloatEpilogue epilogue;
};

inline const float* float_at(const float* x, int32_t bytes) { return x + bytes / 4; }

template <uint32_t kActivation>
inline float finished(float sum, const FloatEpilogue& s, int32_t channel, const float* residual) {
  if (s.biases != nullptr) sum += s.biases[channel];
  if (residual != nullptr) sum += residual[channel];
  return ops::apply_activation(kActivation, s.a, s.b, sum);
}

template <int kPixels>
[[gnu::always_inline]] inline void add_float_products(const float* x, int32_t step, const float* w, int32_t count,
                                                      float (&sums)[kPixels][4]) {
  const float* in[kPixels];
#pragma GCC unroll 4
  for (int p = 0; p < kPixels; ++p) in[p] = x + p * step;
  for (; count > 0; --count, w += 4) {
    const float w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3];
#pragma GCC unroll 4
    for (int p = 0; p < kPixels; ++p) {
      const float v = *in[p]++;
      sums[p][0] += v * w0;
      sums[p][1] += v * w1;
      sums[p][2] += v * w2;
      sums[p][3] += v * w3;
    }
  }
}

// Adjacent pixels whose windows have the same columns inside the input.
template <uint32_t kActivation, int kPixels>
[[gnu::noinline]] inline void float_pixels(const FloatConv& c, const float* x, const float* residual, float* y, int32_t row, int32_t left) {
  const Window& w = c.window;
  const int32_t channels = c.x.channels, outputs = c.y.channels, step = w.stride_width * c.x.pixel_bytes / 4;
  const Columns columns(left, w.width, c.x.width);
  const int32_t run = (columns.end - columns.first) * channels;
  const float* weights = c.weights;
  for (int32_t o = 0; o < outputs; o += 4) {
    float sums[kPixels][4] = {};
    int32_t from = row * w.stride_rows - w.pad_rows;
    for (int32_t i = 0; i < w.rows; ++i, from += w.dilation_rows, weights += w.width * channels * 4) {
      if (from < 0 || from >= c.x.rows) continue;
      const float* in = float_at(x, row_offset(c.x, from) + (left + columns.first) * c.x.pixel_bytes);
      add_float_products<kPixels>(in, step, weights + columns.first * channels * 4, run, sums);
    }
    const int32_t count = outputs - o < 4 ? outputs - o : 4;
    for (int p = 0; p < kPixels; ++p)
      for (int32_t k = 0; k < count; ++k) {
        const float* more = residual != nullptr ? float_at(residual, p * c.residual.pixel_bytes) : nullptr;
        y[p * c.y.pixel_bytes / 4 + o + k] = finished<kActivation>(sums[p][k], c.epilogue, o + k, more);
      }
  }
}

template <uint32_t kActivation>
inline void float_conv(const FloatConv& c, const float* x, const float* residual, float* y, int32_t begin, int32_t end) {
  const Window& w = c.window;
  for (int32_t row = begin; row < end; ++row) {
    for (int32_t column = 0; column < c.y.width;) {
      const int32_t left = column * w.stride_width - w.pad_width, last = left + 3 * w.stride_width;
      const bool four =
          column + 4 <= c.y.width && Columns(left, w.width, c.x.width).whole(w.width) && Columns(last, w.width, c.x.width).whole(w.width);
      float* out = y + (row_offset(c.y, row) + column * c.y.pixel_bytes) / 4;
      const float* more = residual != nullptr ? float_at(residual, row_offset(c.residual, row) + column * c.residual.pixel_bytes) : nullptr;
      if (four) float_pixels<kActivation, 4>(c, x, more, out, row, left);
      else float_pixels<kActivation, 1>(c, x, more, out, row, left);
      column += four ? 4 : 1;
    }
  }
}

// kCount output channels of one pixel.
template <uint32_t kActivation, int kCount>
[[gnu::always_inline]] inline void float_channels(const FloatDepthwise& d, const float* x, float* y, int32_t top, int32_t left,
                                                  int32_t at) {
  const Window& w = d.window;
  const Columns columns(left, w.width, d.x.width);
  const int32_t channels = d.x.channels, pixel = d.x.pixel_bytes / 4;
  float sums[kCount] = {};
  for (int32_t i = 0, from = top; i < w.rows; ++i, from += w.dilation_rows) {
    if (from < 0 || from >= d.x.rows) continue;
    const float* in = float_at(x, row_offset(d.x, from)) + (left + columns.first) * pixel + at;
    const float* weights = d.weights + (i * w.width + columns.first) * channels + at;
    for (int32_t j = columns.first; j < columns.end; ++j, in += pixel, weights += channels) {
#pragma GCC unroll 4
      for (int k = 0; k < kCount; ++k) sums[k] += in[k] * weights[k];
    }
  }
  for (int k = 0; k < kCount; ++k) y[at + k] = finished<kActivation>(sums[k], d.epilogue, at + k, nullptr);
}

template <uint32_t kActivation>
inline void float_depthwise(const FloatDepthwise& d, const float* x, float* y, int32_t begin, int32_t end) {
  for (int32_t row = begin; row < end; ++row) {
    const int32_t top = row * d.window.stride_rows - d.window.pad_rows;
    float* out = y + row_offset(d.y, row) / 4;
    for (int32_t column = 0; column < d.y.width; ++column, out += d.y.pixel_bytes / 4) {
      const int32_t left = column * d.window.stride_width - d.window.pad_width;
      int32_t at = 0;
      for (; at + 4 <= d.y.channels; at += 4) float_channels<kActivation, 4>(d, x, out, top, left, at);
      for (; at < d.y.channels; ++at) float_channels<kActivation, 1>(d, x, out, top, left, at);
    }
  }
}

}  // namespace mote::cortexm
