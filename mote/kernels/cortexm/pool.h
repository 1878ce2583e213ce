#pragma once

// s8 average and max pooling, four channels at a time.

#include "mote/kernels/cortexm/conv.h"

namespace mote::cortexm {

// The part of a window that is inside the input, from channel 0 on.
struct Under {
  const int8_t* rows[2];  // the first row, and with a ring buffer the row where it wraps around
  int32_t row_bytes, pixel_bytes, first_rows, row_count, columns;

  // Calls tap(address) for every pixel of the window, at this channel.
  template <class Tap>
  [[gnu::always_inline]] void each(int32_t channel, const Tap& tap) const {
    const int8_t* row = rows[0] + channel;
    for (int32_t i = 0; i < row_count; ++i, row += row_bytes) {
      if (i == first_rows) row = rows[1] + channel;
      const int8_t* in = row;
      for (int32_t j = columns; j > 0; --j, in += pixel_bytes) tap(in);
    }
  }
  int32_t count() const { return row_count * columns; }
};

// Calls pixel(under, output address) for rows [begin, end) of the output. P: a struct with x, y and window. No window is empty.
template <class P, class Pixel>
inline void each_window(const P& p, const int8_t* x, int8_t* y, int32_t begin, int32_t end, const Pixel& pixel) {
  const Window& w = p.window;
  for (int32_t row = begin; row < end; ++row) {
    const int32_t top = row * w.stride_rows - w.pad_rows;
    const int32_t r0 = top < 0 ? 0 : top, r1 = top + w.rows < p.x.rows ? top + w.rows : p.x.rows;
    const int32_t in_ring = p.x.ring != 0 ? r0 % p.x.ring : r0;
    int8_t* out = y + row_offset(p.y, row);
    for (int32_t column = 0; column < p.y.width; ++column, out += p.y.pixel_bytes) {
      const int32_t left = column * w.stride_width - w.pad_width;
      const int32_t c0 = left < 0 ? 0 : left, c1 = left + w.width < p.x.width ? left + w.width : p.x.width;
      const int8_t* first = x + c0 * p.x.pixel_bytes;
      const Under under{{first + in_ring * p.x.row_bytes, first}, p.x.row_bytes, p.x.pixel_bytes,
                        p.x.ring != 0 ? p.x.ring - in_ring : -1,  r1 - r0,       c1 - c0};
      pixel(under, out);
    }
  }
}
// four(under, channel) returns a word of four channels, one(under, channel) a single channel.
template <class P, class Four, class One>
inline void each_window(const P& p, const int8_t* x, int8_t* y, int32_t begin, int32_t end, const Four& four, const One& one) {
  each_window(p, x, y, begin, end, [&](const Under& under, int8_t* out) {
    int32_t k = 0;
    for (; k + 4 <= p.y.channels; k += 4) {
      const uint32_t word = four(under, k);
      std::memcpy(out + k, &word, 4);
    }
    for (; k < p.y.channels; ++k) out[k] = static_cast<int8_t>(one(under, k));
  });
}

struct AvgPool {
  Rows x, y;
  Window window;
  int8_t lo, hi;
};

constexpr int32_t kMostInLanes = 256;  // elements whose sum is sure to fit 16 bits

inline int32_t mean_of(const AvgPool& a, int32_t sum, int32_t count) {
  const int32_t v = (sum > 0 ? sum + count / 2 : sum - count / 2) / count;
  return v < a.lo ? a.lo : v > a.hi ? a.hi : v;
}

// Mean of the window's elements inside the input, rounded half away from zero.
inline void avg_pool(const AvgPool& a, const int8_t* x, int8_t* y, int32_t begin, int32_t end) {
  const auto one = [&a](const Under& u, int32_t k) {
    int32_t sum = 0;
    u.each(k, [&sum](const int8_t* in) { sum += *in; });
    return mean_of(a, sum, u.count());
  };
  const auto four = [&a, &one](const Under& u, int32_t k) {
    const int32_t count = u.count();
    uint32_t even = 0, odd = 0, word = 0;
    if (count <= kMostInLanes) {
      u.each(k, [&even, &odd](const int8_t* in) {
        const uint32_t v = load_word(in);
        even = add_even_bytes(even, v);
        odd = add_odd_bytes(odd, v);
      });
    }
    const int32_t sums[] = {low(even), low(odd), high(even), high(odd)};
    for (int i = 0; i < 4; ++i) {
      const int32_t mean = count <= kMostInLanes ? mean_of(a, sums[i], count) : one(u, k + i);
      word |= (static_cast<uint32_t>(mean) & 0xff) << 8 * i;
    }
    return word;
  };
  each_window(a, x, y, begin, end, four, one);
}

struct MaxPool {
  Rows x, y;
  Window window;
};
inline void max_pool(const MaxPool& p, const int8_t* x, int8_t* y, int32_t begin, int32_t end) {
  const auto one = [](const Under& u, int32_t k) {
    int32_t most = -128;
    u.each(k, [&most](const int8_t* in) { most = *in > most ? *in : most; });
    return most;
  };
  const auto four = [](const Under& u, int32_t k) {
    uint32_t most = 0x80808080;
    u.each(k, [&most](const int8_t* in) { most = greatest_bytes(most, load_word(in)); });
    return most;
  };
  each_window(p, x, y, begin, end, four, one);
}

}  // namespace mote::cortexm
