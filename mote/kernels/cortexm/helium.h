#pragma once

// s8 convolutions and fully connected layers for Armv8.1-M with Helium (MVE): 16 multiply-adds per instruction, four output channels at a
// time.

#include <arm_mve.h>

#include "mote/kernels/cortexm/depthwise.h"

namespace mote::cortexm::helium {

// Requantization of four channels: biases, multipliers, rounding addends, left shifts (negative or 0).
struct Channels {
  int32_t bias[4], multiplier[4], add[4], shift[4];
};

struct Conv {
  Rows x, y, residual;
  Window window;
  const int8_t* weights;  // for every 4 output channels and every 16 inputs: 16 weights of each channel
  const Channels* channels;
  const Sum* sum;  // null: no residual
  Range range;
  int32_t blocks;  // of 16 inputs
  int8_t x_zero;
  bool direct;  // 1x1 window, no padding, channels a multiple of 16: inputs are read in place
};

inline void copy(const int8_t* from, int8_t* to, int32_t bytes) {
  for (; bytes >= 16; bytes -= 16, from += 16, to += 16) vstrbq_s8(to, vldrbq_s8(from));
  if (bytes <= 0) return;
  const mve_pred16_t p = vctp8q(static_cast<uint32_t>(bytes));
  vstrbq_p_s8(to, vldrbq_z_s8(from, p), p);
}
inline void fill(int8_t value, int8_t* to, int32_t bytes) {
  const int8x16_t v = vdupq_n_s8(value);
  for (; bytes > 0; bytes -= 16, to += 16) vstrbq_p_s8(to, v, vctp8q(static_cast<uint32_t>(bytes)));
}

inline int32x4_t requantized(int32x4_t sums, const Channels& c, Range r) {
  const int32x4_t x = vqrdmulhq_s32(vshlq_r_s32(sums, r.left - 1), vldrwq_s32(c.multiplier));
  const int32x4_t v = vshlq_s32(vaddq_s32(vaddq_s32(x, vshrq_n_s32(x, 31)), vldrwq_s32(c.add)), vldrwq_s32(c.shift));
  return vmaxq_s32(vminq_s32(v, vdupq_n_s32(r.hi)), vdupq_n_s32(r.lo));
}

inline int32x4_t scaled(int32x4_t x, const Scale& s) {
  const int32x4_t v = vqrdmulhq_n_s32(x, s.multiplier);
  return vshlq_r_s32(vaddq_n_s32(vaddq_s32(v, vandq_s32(vshrq_n_s32(v, 31), vdupq_n_s32(s.minus))), s.half), -s.shift);
}
inline int32x4_t added(int32x4_t a, int32x4_t b, const Sum& s) {
  const int32x4_t p = scaled(vshlq_r_s32(vsubq_n_s32(a, s.a_zero), s.left - 1), s.a);
  const int32x4_t q = scaled(vshlq_r_s32(vsubq_n_s32(b, s.b_zero), s.left - 1), s.b);
  const int32x4_t v = vaddq_n_s32(scaled(vaddq_s32(p, q), s.y), s.y_zero);
  return vmaxq_s32(vminq_s32(v, vdupq_n_s32(s.hi)), vdupq_n_s32(s.lo));
}

// Accumulators of four output channels over at least one block of 16 inputs, starting at the biases; advances w. In assembly because
// vmladava needs its accumulator in an even register, and compilers then move pointers around in the loop.
inline int32x4_t dot_4(const int8_t* x, const int8_t*& w, int32_t blocks, const int32_t* bias) {
  int32_t a = bias[0], b = bias[1], c = bias[2], d = bias[3];
  asm volatile(
      "dls lr, %[blocks]\n"
      "1:\n"
      "vldrb.u8 q0, [%[x]], #16\n vldrb.u8 q1, [%[w]], #16\n vmladava.s8 %[a], q0, q1\n vldrb.u8 q2, [%[w]], #16\n"
      "vmladava.s8 %[b], q0, q2\n vldrb.u8 q1, [%[w]], #16\n vmladava.s8 %[c], q0, q1\n vldrb.u8 q2, [%[w]], #16\n"
      "vmladava.s8 %[d], q0, q2\n"
      "le lr, 1b\n"
      : [a] "+Te"(a), [b] "+Te"(b), [c] "+Te"(c), [d] "+Te"(d), [x] "+r"(x), [w] "+r"(w)
      : [blocks] "r"(blocks)
      : "lr", "d0", "d1", "d2", "d3", "d4", "d5", "memory");
  int32x4_t sums;
  asm("vmov %q0[2], %q0[0], %[a], %[c]\n vmov %q0[3], %q0[1], %[b], %[d]\n" : "=&w"(sums) : [a] "r"(a), [b] "r"(b), [c] "r"(c), [d] "r"(d));
  return sums;
}

// im2col of one output pixel.
inline void put_window(const Conv& c, const int8_t* x, int32_t row, int32_t column, int8_t* to) {
  const Window& w = c.window;
  const int32_t left = column * w.stride_width - w.pad_width, channels = c.x.channels;
  int32_t before = left < 0 ? -left : 0, behind = left + w.width - c.x.width;
  before = before < w.width ? before : w.width;
  behind = behind < 0 ? 0 : behind < w.width - before ? behind : w.width - before;
  const int32_t inside = (w.width - before - behind) * channels;
  int32_t from = row * w.stride_rows - w.pad_rows;
  for (int32_t i = 0; i < w.rows; ++i, ++from, to += w.width * channels) {
    if (from < 0 || from >= c.x.rows) {
      fill(c.x_zero, to, w.width * channels);
      continue;
    }
    if (before + behind > 0) fill(c.x_zero, to, w.width * channels);
    copy(x + row_offset(c.x, from) + (left + before) * channels, to + before * channels, inside);
  }
}

// Rows [begin, end) of the output.
inline void conv(const Conv& c, const int8_t* x, const int8_t* residual, int8_t* y, int32_t begin, int32_t end, int8_t* scratch) {
  const Window& w = c.window;
  const Range range = c.range;
  const Sum sum = c.sum != nullptr ? *c.sum : Sum{};
  for (int32_t row = begin; row < end; ++row) {
    for (int32_t column = 0; column < c.y.width; ++column) {
      const int8_t* in = scratch;
      if (c.direct) in = x + row_offset(c.x, row * w.stride_rows) + column * w.stride_width * c.x.pixel_bytes;
      else put_window(c, x, row, column, scratch);
      int8_t* out = y + row_offset(c.y, row) + column * c.y.pixel_bytes;
      const int8_t* other = c.sum != nullptr ? residual + row_offset(c.residual, row) + column * c.residual.pixel_bytes : nullptr;
      const int8_t* weights = c.weights;
      const Channels* k = c.channels;
      int32_t o = c.y.channels;
      for (; other == nullptr && o >= 4; o -= 4, out += 4, ++k)
        vstrbq_s32(out, requantized(dot_4(in, weights, c.blocks, k->bias), *k, range));
      for (; o > 0; o -= 4, out += 4, ++k) {
        const mve_pred16_t p = vctp32q(static_cast<uint32_t>(o));
        int32x4_t v = requantized(dot_4(in, weights, c.blocks, k->bias), *k, range);
        if (other != nullptr) {
          v = added(v, vldrbq_z_s32(other, p), sum);
          other += 4;
        }
        vstrbq_p_s32(out, v, p);
      }
    }
  }
}

struct FullyConnected {
  const int8_t* weights;  // as in Conv
  const Channels* channels;
  int32_t rows, inputs, outputs, blocks;
  int32_t limit;  // accumulators saturate to [-limit, limit] first; 0: they cannot exceed it
  Range range;
};

inline void fully_connected(const FullyConnected& f, const int8_t* x, int8_t* y) {
  const Range range = f.range;
  const int32_t full = f.inputs / 16, rest = f.inputs % 16;
  alignas(16) int8_t last[16];
  for (int32_t m = 0; m < f.rows; ++m, x += f.inputs) {
    const int8_t* weights = f.weights;
    const Channels* k = f.channels;
    if (rest > 0) copy(x + full * 16, last, rest), fill(0, last + rest, 16 - rest);
    for (int32_t o = f.outputs; o > 0; o -= 4, ++k) {
      const int32_t n = o < 4 ? o : 4;
      int32x4_t sums = full > 0 ? dot_4(x, weights, full, k->bias) : vldrwq_s32(k->bias);
      if (rest > 0) {
        const int32_t none[4] = {};
        sums = vaddq_s32(sums, dot_4(last, weights, 1, none));
      }
      if (f.limit != 0) sums = vmaxq_s32(vminq_s32(sums, vdupq_n_s32(f.limit)), vdupq_n_s32(-f.limit));
      vstrbq_p_s32(y, requantized(sums, *k, range), vctp32q(static_cast<uint32_t>(n)));
      y += n;
    }
  }
}

struct Depthwise {
  Rows x, y;
  Window window;
  const int8_t* weights;     // for every 8 channels and every tap: one weight of each channel
  const Channels* channels;  // of every 8 channels: 0, 2, 4, 6, then 1, 3, 5, 7
  const int8_t* zeros;       // as many zero points as channels
  Range range;
};

// Accumulates eight channels over the taps, even and odd channels in separate vectors; advances w.
inline void sum_taps(const int8_t* const* taps, int count, int32_t at, const int8_t*& w, int32x4_t* even, int32x4_t* odd) {
  int32x4_t e = *even, o = *odd;
  const int8_t* x;
  asm volatile(
      "dls lr, %[count]\n"
      "1:\n"
      "ldr %[x], [%[taps]], #4\n add %[x], %[x], %[at]\n vldrb.s16 q2, [%[x]]\n vldrb.s16 q3, [%[w]], #8\n"
      "vmullb.s16 q4, q2, q3\n vadd.i32 %q[e], %q[e], q4\n vmullt.s16 q4, q2, q3\n vadd.i32 %q[o], %q[o], q4\n"
      "le lr, 1b\n"
      : [e] "+w"(e), [o] "+w"(o), [taps] "+r"(taps), [w] "+r"(w), [x] "=&r"(x)
      : [at] "r"(at), [count] "r"(count)
      : "lr", "d4", "d5", "d6", "d7", "d8", "d9", "memory");
  *even = e;
  *odd = o;
}

inline void depthwise_pixel(const Depthwise& d, const int8_t* const* taps, int32_t at, int count, int8_t* out) {
  const Range range = d.range;
  const int8_t* w = d.weights;
  const Channels* k = d.channels;
  const int32_t channels = d.y.channels;
  for (int32_t o = 0; o < channels; o += 8, k += 2) {
    int32x4_t even = vldrwq_s32(k[0].bias), odd = vldrwq_s32(k[1].bias);
    sum_taps(taps, count, at + o, w, &even, &odd);
    int16x8_t both = vmovnbq_s32(vdupq_n_s16(0), requantized(even, k[0], range));
    both = vmovntq_s32(both, requantized(odd, k[1], range));
    vstrbq_s16(out + o, both);
  }
}

// Rows [begin, end) of the output. Channels must be a multiple of 8.
inline void depthwise(const Depthwise& d, const int8_t* x, int8_t* y, int32_t begin, int32_t end) {
  each_pixel(d, x, y, begin, end,
             [&d](const int8_t* const* taps, int32_t at, int count, int8_t* out) { depthwise_pixel(d, taps, at, count, out); });
}

}  // namespace mote::cortexm::helium
