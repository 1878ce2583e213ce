#pragma once

// 16-bit operators without matrix products: addition, multiplication, pooling, activations, requantization, softmax.

#include "mote/kernels/cortexm/elements.h"
#include "mote/kernels/cortexm/pool.h"

namespace mote::cortexm {

// a + b of elements whose scales are powers of two: shifts instead of multiplications.
struct ShiftSum {
  Pairs pairs;
  Scale a, b;  // without multipliers
  int16_t a_zero, b_zero, y_zero, lo, hi;
};
inline int32_t shifted(int32_t x, const Scale& s) { return (x + ((x >> 31) & s.minus) + s.half) >> s.shift; }
template <int kSign>
inline void shift_pairs(const ShiftSum& sum, const int16_t* a, const int16_t* b, int16_t* y) {
  const ShiftSum s = sum;
  each_pair(s.pairs, a, b, y, [&s](int32_t u, int32_t v) {
    const int32_t r = shifted(u - s.a_zero, s.a) + kSign * shifted(v - s.b_zero, s.b) + s.y_zero;
    return r < s.lo ? s.lo : r > s.hi ? s.hi : r;
  });
}
inline void add_shifted(const ShiftSum& s, const int16_t* a, const int16_t* b, int16_t* y) { shift_pairs<1>(s, a, b, y); }
inline void subtract_shifted(const ShiftSum& s, const int16_t* a, const int16_t* b, int16_t* y) { shift_pairs<-1>(s, a, b, y); }

// Zero points are 0; a doubled product has 33 bits.
inline void multiply_wide(const MulPairs& m, const int16_t* a, const int16_t* b, int16_t* y) {
  const MulPairs c = m;
  each_pair(c.pairs, a, b, y, [&c](int32_t u, int32_t v) {
    const int32_t high = static_cast<int32_t>((int64_t{u * v} * c.scale.multiplier + (1 << 30)) >> 31);
    const int32_t r = shifted(high, c.scale) + c.y_zero;
    return r < c.lo ? c.lo : r > c.hi ? c.hi : r;
  });
}

struct WidePool {
  Rows x, y;
  Window window;
  int16_t lo, hi;
};

// Pixel by pixel: pair(under, channel) returns two channels, one(under, channel) a single channel.
template <class Pair, class One>
inline void each_wide_window(const WidePool& p, const int16_t* x, int16_t* y, int32_t begin, int32_t end, const Pair& pair,
                             const One& one) {
  const auto* from = reinterpret_cast<const int8_t*>(x);
  auto* to = reinterpret_cast<int8_t*>(y);
  const auto pixel = [&](const Under& under, int8_t* at) {
    int32_t k = 0;
    for (; k + 2 <= p.y.channels; k += 2) {
      const uint32_t word = pair(under, k * 2);
      std::memcpy(at + k * 2, &word, 4);
    }
    if (k < p.y.channels) {
      const auto last = static_cast<int16_t>(one(under, k * 2));
      std::memcpy(at + k * 2, &last, 2);
    }
  };
  each_window(p, from, to, begin, end, pixel);
}

inline int32_t load_half(const int8_t* p) {
  int16_t v;
  std::memcpy(&v, p, 2);
  return v;
}

// Mean of the window's elements inside the input, rounded half away from zero.
inline void avg_pool_wide(const WidePool& p, const int16_t* x, int16_t* y, int32_t begin, int32_t end) {
  const auto mean = [&p](int32_t sum, int32_t count) {
    const int32_t v = (sum > 0 ? sum + count / 2 : sum - count / 2) / count;
    return v < p.lo ? p.lo : v > p.hi ? p.hi : v;
  };
  const auto one = [&](const Under& u, int32_t k) {
    int32_t sum = 0;
    u.each(k, [&sum](const int8_t* in) { sum += load_half(in); });
    return mean(sum, u.count());
  };
  const auto pair = [&](const Under& u, int32_t k) {
    int32_t first = 0, second = 0;
    u.each(k, [&](const int8_t* in) {
      const uint32_t v = load_word(in);
      first += low(v);
      second += high(v);
    });
    return pair_of(mean(first, u.count()), mean(second, u.count()));
  };
  each_wide_window(p, x, y, begin, end, pair, one);
}

inline void max_pool_wide(const WidePool& p, const int16_t* x, int16_t* y, int32_t begin, int32_t end) {
  const auto one = [](const Under& u, int32_t k) {
    int32_t most = -32768;
    u.each(k, [&most](const int8_t* in) { most = load_half(in) > most ? load_half(in) : most; });
    return most;
  };
  const auto pair = [](const Under& u, int32_t k) {
    uint32_t most = 0x80008000;
    u.each(k, [&most](const int8_t* in) { most = greatest_pair(most, load_word(in)); });
    return most;
  };
  each_wide_window(p, x, y, begin, end, pair, one);
}

// Functions of one element (q_lut16): interpolation between entries of a lookup table.
struct WideTable {
  const int16_t* table;  // 513
  int32_t count;
};
inline void look_up_wide(const WideTable& t, const int16_t* x, int16_t* y) {
  const int16_t* middle = t.table + 256;
  for (int32_t i = t.count; i > 0; --i, ++x) {
    const int16_t* at = middle + (*x >> 7);
    const auto slope = static_cast<int16_t>(at[1] - at[0]);
    *y++ = static_cast<int16_t>(at[0] + ((slope * (*x & 0x7f) + 64) >> 7));
  }
}

// 65536 * sigmoid(i / 24) at 0 to 255.
struct WideSigmoid {
  const uint16_t* table;
  int32_t count, multiplier, half, shift;
};
// The input has kBits fraction bits below the table index; past the end the result is kMost.
template <int kBits, uint32_t kMost, class F>
inline void each_sigmoid(const WideSigmoid& s, const int16_t* x, int16_t* y, const F& f) {
  const uint16_t* table = s.table;
  const uint32_t multiplier = static_cast<uint32_t>(s.multiplier), half = static_cast<uint32_t>(s.half);
  for (int32_t i = s.count; i > 0; --i) {
    const int32_t v = static_cast<int32_t>(static_cast<uint32_t>(*x++) * multiplier + half) >> s.shift;
    const uint32_t far = v < 0 ? 0u - static_cast<uint32_t>(v) : static_cast<uint32_t>(v), at = far >> kBits;
    uint32_t r = kMost;
    if (at < 255) {
      const int32_t from = table[at], rise = table[at + 1] - from;
      r = static_cast<uint32_t>(from * (1 << kBits) + static_cast<int32_t>(far & ((1u << kBits) - 1)) * rise);
    }
    *y++ = static_cast<int16_t>(f(v, r));
  }
}
inline void logistic_wide(const WideSigmoid& s, const int16_t* x, int16_t* y) {
  each_sigmoid<9, (0x7fffu << 10)>(s, x, y, [](int32_t v, uint32_t r) { return (v >= 0 ? r + 512 : (1u << 25) - r + 511) >> 10; });
}
inline void tanh_wide(const WideSigmoid& s, const int16_t* x, int16_t* y) {
  each_sigmoid<8, (0xffffu << 8)>(s, x, y, [](int32_t v, uint32_t u) {
    const auto r = static_cast<int32_t>(u);
    return (v >= 0 ? r - (1 << 23) + 128 : -r + (1 << 23) + 127) >> 8;
  });
}

// Requantization between types: (x - x_zero) * scale + y_zero, with a left shift by `left` first.
struct Rescale {
  Scale scale;
  int32_t count, left, x_zero, y_zero, lo, hi;
};
template <class From, class To>
inline void rescale(const Rescale& r, const From* x, To* y) {
  const Scale scale = r.scale;
  for (int32_t i = r.count; i > 0; --i) {
    const int32_t v = scaled((*x++ - r.x_zero) * (1 << r.left), scale) + r.y_zero;
    *y++ = static_cast<To>(v < r.lo ? r.lo : v > r.hi ? r.hi : v);
  }
}

struct Clamp {
  int32_t count, lo, hi;
};
inline void clamp(const Clamp& c, const int16_t* x, int16_t* y) {
  for (int32_t i = c.count; i > 0; --i, ++x) *y++ = static_cast<int16_t>(*x < c.lo ? c.lo : *x > c.hi ? c.hi : *x);
}

struct WideSoftmax {
  const int16_t *exponentials, *reciprocals;  // 513 each
  int32_t rows, count;
  Scale scale;  // of differences from the maximum, which are shifted left by this first
  int32_t left;
};
inline void softmax_wide(const WideSoftmax& s, const int16_t* x, int16_t* y) {
  const Scale scale = s.scale;
  for (int32_t m = 0; m < s.rows; ++m, x += s.count, y += s.count) {
    int32_t most = x[0];
    for (int32_t i = 1; i < s.count; ++i) most = x[i] > most ? x[i] : most;
    int32_t sum = 0;
    for (int32_t i = 0; i < s.count; ++i) {
      const int32_t v = scaled((x[i] - most) * (1 << s.left), scale) + 32767;
      sum += y[i] = ops::interpolate_table(static_cast<int16_t>(v < -32768 ? -32768 : v), s.exponentials);
    }
    sum = sum < 1 ? 1 : sum;
    const int zeros = __builtin_clz(static_cast<uint32_t>(sum)), shift = 31 - zeros;
    const int32_t part = static_cast<int32_t>(((int64_t{sum} << (zeros - 1)) + (1 << 13)) >> 14) - ((1 << 15) + (1 << 16));
    const int32_t factor = ops::interpolate_table(ops::saturate_to<int16_t>(part), s.reciprocals);
    const int32_t half = shift > 0 ? 1 << (shift - 1) : 0;
    for (int32_t i = 0; i < s.count; ++i) {
      const int32_t v = (y[i] * factor + half) >> shift;
      y[i] = static_cast<int16_t>(v < 0 ? 0 : v > 32767 ? 32767 : v);
    }
  }
}

}  // namespace mote::cortexm
