#pragma once

// Integer arithmetic of the audio front end (audio_mel, audio_pcan, audio_log, audio_dct): the same bits on every machine. Operators and
// emitted C++ call the same functions. Everything is total: sums wrap, shifts are in range, whatever the tables hold.
//
// Magnitudes are u * 2^12, where u is what a transform divided by its length gives for 16-bit samples; logarithms have 16 fractional bits.

#include "mote/ops/common/fixed_point.h"

namespace mote::ops::audio {

constexpr int kLogSegments = 128, kExpSegments = 64;

namespace detail {
constexpr double kLn2 = 0.693147180559945309417232;
// log2(1 + m) for m in [0, 1]: the series of the inverse hyperbolic tangent.
constexpr double log2_1p(double m) {
  const double z = m / (2 + m), z2 = z * z;
  double sum = 0, power = z;
  for (int i = 1; i < 48; i += 2, power *= z2) sum += power / i;
  return 2 * sum / kLn2;
}
constexpr double exp2_of(double m) {
  double sum = 1, term = 1;
  for (int i = 1; i < 24; ++i) sum += term *= m * kLn2 / i;
  return sum;
}
// How far the curves lie from the straight line between their ends, times 2^16.
struct LogTable {
  uint16_t above[kLogSegments + 1] = {};
  constexpr LogTable() {
    for (int i = 0; i <= kLogSegments; ++i) {
      const double m = static_cast<double>(i) / kLogSegments;
      above[i] = static_cast<uint16_t>((log2_1p(m) - m) * 65536 + 0.5);  // NOLINT(bugprone-incorrect-roundings): positive, and constexpr
    }
  }
};
struct ExpTable {
  uint16_t below[kExpSegments + 1] = {};
  constexpr ExpTable() {
    for (int i = 0; i <= kExpSegments; ++i) {
      const double m = static_cast<double>(i) / kExpSegments;
      below[i] =
          static_cast<uint16_t>((1 + m - exp2_of(m)) * 65536 + 0.5);  // NOLINT(bugprone-incorrect-roundings): positive, and constexpr
    }
  }
};
inline constexpr LogTable kLog;
inline constexpr ExpTable kExp;
}  // namespace detail

inline int top_bit(uint32_t x) { return 31 - __builtin_clz(x | 1u); }

// log2(x) * 2^16; 0 for x = 0.
inline int32_t log2_q16(uint32_t x) {
  if (x == 0) return 0;
  const int top = top_bit(x);
  const uint32_t m = (x << (31 - top)) << 1;  // behind the first one, 32 bits
  const uint32_t at = m >> 25, part = (m >> 9) & 0xffff;
  const int32_t a = detail::kLog.above[at], b = detail::kLog.above[at + 1];
  return (top << 16) + static_cast<int32_t>(m >> 16) + a + (((b - a) * static_cast<int32_t>(part)) >> 16);
}

// 2^(x / 2^16), rounded down; saturates at 2^32 - 1.
inline uint32_t exp2_q16(int32_t x) {
  if (x < 0) return 0;
  if (x >= 32 << 16) return ~0u;
  const uint32_t m = static_cast<uint32_t>(x) & 0xffff, at = m >> 10, part = m & 0x3ff;
  const int32_t a = detail::kExp.below[at], b = detail::kExp.below[at + 1];
  const uint32_t mantissa = 65536 + m - static_cast<uint32_t>(a + (((b - a) * static_cast<int32_t>(part)) >> 10));
  const int shift = (x >> 16) - 16;
  return shift >= 0 ? mantissa << shift : mantissa >> -shift;
}

// The square root, to 16 bits.
inline uint32_t sqrt_of(uint64_t v) {
  const auto high = static_cast<uint32_t>(v >> 32);
  const int shift = high == 0 ? 0 : (top_bit(high) + 2) & ~1;
  uint32_t rest = static_cast<uint32_t>(v >> shift), root = 0;
  for (uint32_t bit = 1u << 30; bit != 0; bit >>= 2) {
    const uint32_t next = root + bit;
    root >>= 1;
    if (rest >= next) {
      rest -= next;
      root += bit;
    }
  }
  return root << (shift / 2);
}

inline int32_t high_half(int32_t a, int32_t b) { return static_cast<int32_t>((static_cast<int64_t>(a) * b) >> 32); }
inline int32_t sum(int32_t a, int32_t b) { return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b)); }
inline int32_t less(int32_t a, int32_t b) { return static_cast<int32_t>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b)); }

// cos and sin of k / size turns, k <= size / 2, from a table of a quarter turn (size / 4 + 1 values, 31 fractional bits).
inline int32_t cosine(const int32_t* quarter, int32_t size, int32_t k) {
  return k <= size / 4 ? quarter[k] : less(0, quarter[size / 2 - k]);
}
inline int32_t sine(const int32_t* quarter, int32_t size, int32_t k) { return quarter[k <= size / 4 ? size / 4 - k : k - size / 4]; }

inline void reverse_bits_order(int32_t* z, int32_t count) {
  for (int32_t i = 1, j = 0; i < count; ++i) {
    int32_t bit = count >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i >= j) continue;
    const int32_t re = z[2 * i], im = z[2 * i + 1];
    z[2 * i] = z[2 * j], z[2 * i + 1] = z[2 * j + 1];
    z[2 * j] = re, z[2 * j + 1] = im;
  }
}

// The transform of `count` complex numbers in place, divided by count. The table is that of 2 * count.
inline void transform(int32_t* z, int32_t count, const int32_t* quarter) {
  reverse_bits_order(z, count);
  for (int32_t half = 1; half < count; half *= 2) {
    for (int32_t k = 0; k < half; ++k) {
      const int32_t turn = k * (count / half);  // of 2 * count
      const int32_t c = cosine(quarter, 2 * count, turn), s = sine(quarter, 2 * count, turn);
      for (int32_t i = 2 * k; i < 2 * count; i += 4 * half) {
        int32_t *a = z + i, *b = a + 2 * half;
        // Products are halved, which is the division.
        const int32_t re = sum(high_half(b[0], c), high_half(b[1], s)), im = less(high_half(b[1], c), high_half(b[0], s));
        const int32_t a0 = a[0] >> 1, a1 = a[1] >> 1;
        a[0] = sum(a0, re), a[1] = sum(a1, im);
        b[0] = less(a0, re), b[1] = less(a1, im);
      }
    }
  }
}

// Frequency k of `size` real numbers, divided by size, from Z[k] = a and Z[size / 2 - k] = b of the transform of them taken as size / 2
// complex ones; squared.
inline uint64_t power_of(const int32_t* a, const int32_t* b, int32_t c, int32_t s) {
  const int32_t a0 = a[0] >> 2, a1 = a[1] >> 2, b0 = b[0] >> 2, b1 = b[1] >> 2;
  const int32_t odd_re = sum(a1, b1), odd_im = less(b0, a0);
  const int32_t re = sum(sum(a0, b0), wrapping_shift_left(sum(high_half(odd_re, c), high_half(odd_im, s)), 1));
  const int32_t im = sum(less(a1, b1), wrapping_shift_left(less(high_half(odd_im, c), high_half(odd_re, s)), 1));
  return static_cast<uint64_t>(int64_t{re} * re) + static_cast<uint64_t>(int64_t{im} * im);
}

// A number of 64 bits in the place of a complex one.
inline void put_wide(int32_t* z, uint64_t v) { z[0] = static_cast<int32_t>(v), z[1] = static_cast<int32_t>(v >> 32); }
inline uint64_t wide(const int32_t* z) { return static_cast<uint32_t>(z[0]) | uint64_t{static_cast<uint32_t>(z[1])} << 32; }

// A front end's geometry and tables, which must be as audio_mel's infer() and kernel want them.
struct Mel {
  const int16_t* window;   // window_size values with 15 fractional bits
  const int32_t* quarter;  // fft_size / 4 + 1 cosines
  int32_t window_size, fft_size;
  int32_t preemphasis;  // 15 fractional bits
  bool magnitude;       // channels add up magnitudes; else powers, of which they are the square root
};

// Fills z with a frame's samples times the window, zeros behind them. `before` is the sample in front of the frame.
inline void load_frame(const Mel& m, const int16_t* x, int16_t before, int32_t* z) {
  for (int32_t i = 0; i < m.window_size; ++i) {
    int32_t v = x[i];
    if (m.preemphasis != 0) {
      v = clamp_to(int64_t{v} - ((before * m.preemphasis + (1 << 14)) >> 15), -32768, 32767);
      before = x[i];
    }
    z[i] = v * m.window[i];
  }
  for (int32_t i = m.window_size; i < m.fft_size; ++i) z[i] = 0;
}

// What channels add up of each frequency.
inline uint64_t part_of(const Mel& m, uint64_t power) { return m.magnitude ? sqrt_of(power) : power >> 12; }

// The frame in z, which has fft_size + 2 places, becomes its spectrum: fft_size / 2 + 1 numbers of 64 bits.
inline void spectrum(const Mel& m, int32_t* z) {
  const int32_t count = m.fft_size / 2;
  transform(z, count, m.quarter);
  const int32_t first[2] = {z[0], z[1]};
  put_wide(z, part_of(m, power_of(first, first, m.quarter[0], 0)));
  put_wide(z + 2 * count, part_of(m, power_of(first, first, less(0, m.quarter[0]), 0)));
  // Two at a time, as they need the same places.
  for (int32_t k = 1; k <= count / 2; ++k) {
    const int32_t j = count - k, a[2] = {z[2 * k], z[2 * k + 1]}, b[2] = {z[2 * j], z[2 * j + 1]};
    const int32_t c = cosine(m.quarter, m.fft_size, k), s = sine(m.quarter, m.fft_size, k);
    put_wide(z + 2 * k, part_of(m, power_of(a, b, c, s)));
    put_wide(z + 2 * j, part_of(m, power_of(b, a, less(0, c), s)));
  }
}

// One channel of a spectrum: band[1] frequencies from band[0] on.
inline uint32_t mel_channel(const Mel& m, const int32_t* z, const int32_t* band, const uint16_t* weights) {
  uint64_t total = 0;
  for (const int32_t *at = z + 2 * band[0], *end = at + 2 * band[1]; at < end; at += 2) total += wide(at) * *weights++;
  if (!m.magnitude) return sqrt_of(total) >> 3;
  total >>= 15;
  return total > ~0u ? ~0u : static_cast<uint32_t>(total);
}

// Noise reduction and per-channel gain control.
struct Pcan {
  uint32_t smoothing[2];  // of even and odd channels; 14 fractional bits
  uint32_t least;         // part of the signal that always remains; 14 fractional bits
  uint32_t strength;      // of the gain control, 15 fractional bits; 0: none
  uint32_t offset;        // added to the noise, in its units
  int32_t bias;           // added to the logarithm of the gain
};

// noise: 4 more fractional bits than magnitudes have. With gain control the result has 6 fractional bits: what is
// quieter than the last of them counts as silence, as in the front ends that models are trained with.
inline uint32_t pcan(const Pcan& p, int channel, uint32_t x, uint32_t* noise) {
  constexpr uint32_t kMost = (1u << 28) - 1;
  x = x < kMost ? x : kMost;
  const uint32_t scaled = x << 4, smoothing = p.smoothing[channel & 1];
  const uint64_t mean = (uint64_t{scaled} * smoothing + uint64_t{*noise} * ((1u << 14) - smoothing)) >> 14;
  *noise = static_cast<uint32_t>(mean);
  const uint32_t rest = (scaled - (*noise < scaled ? *noise : scaled)) >> 4, least = static_cast<uint32_t>((uint64_t{x} * p.least) >> 14);
  const uint32_t signal = rest > least ? rest : least;
  if (p.strength == 0 || signal == 0) return signal;
  const uint32_t base = *noise + p.offset < *noise ? ~0u : *noise + p.offset;
  const int64_t gain = p.bias - ((int64_t{log2_q16(base)} * p.strength) >> 15);
  const uint32_t ratio = exp2_q16(clamp_to(log2_q16(signal) + gain, -1, 32 << 16));
  // Small ratios are squared, large ones lose 1: a curve without a corner.
  if (ratio < 2u << 12) return (ratio * ratio) >> 20;
  return (ratio - (1u << 12)) >> 6;
}

// A whole number from a sum: multiplied, rounded, with a zero point. shift 1..62.
struct Scale {
  int32_t multiplier, shift, zero, lo, hi;
};
inline int32_t scaled(const Scale& s, int64_t v) {
  const uint64_t product = static_cast<uint64_t>(v) * static_cast<uint64_t>(int64_t{s.multiplier}) + (uint64_t{1} << (s.shift - 1));
  const int64_t q = static_cast<int64_t>(product) >> s.shift;
  return clamp_to(q > INT32_MAX ? INT32_MAX : q < INT32_MIN ? int64_t{s.zero} + INT32_MIN : q + s.zero, s.lo, s.hi);
}

struct Log {
  Scale scale;
  uint32_t add;  // to magnitudes; of 0 the logarithm is the least there is
  int32_t bias;  // to logarithms
};
inline int32_t log_of(const Log& l, uint32_t x) {
  const uint32_t v = x + l.add < x ? ~0u : x + l.add;
  if (v == 0) return l.scale.lo;
  return scaled(l.scale, int64_t{log2_q16(v)} + l.bias);
}

inline int64_t dot(const int16_t* a, const int16_t* b, int32_t count) {
  int64_t total = 0;
  for (int32_t i = 0; i < count; ++i) total += a[i] * b[i];
  return total;
}

}  // namespace mote::ops::audio
