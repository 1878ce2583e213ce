#pragma once

// The operators that take little time: averages, softmax.

#include "mote/kernels/cortexm/conv.h"
#include "mote/ops/common/fixed_point.h"

namespace mote::cortexm {

struct AvgPool {
  Rows x, y;
  Window window;
  int8_t lo, hi;
};

// Means of the elements under the window that are inside the input, ties away from zero.
inline void avg_pool(const AvgPool& a, const int8_t* x, int8_t* y, int32_t begin, int32_t end) {
  const Window& w = a.window;
  for (int32_t row = begin; row < end; ++row) {
    const int32_t top = row * w.stride_rows - w.pad_rows;
    for (int32_t column = 0; column < a.y.width; ++column) {
      const int32_t left = column * w.stride_width - w.pad_width;
      int8_t* out = y + row_offset(a.y, row) + column * a.y.pixel_bytes;
      const int32_t r0 = top < 0 ? 0 : top, r1 = top + w.rows < a.x.rows ? top + w.rows : a.x.rows;
      const int32_t c0 = left < 0 ? 0 : left, c1 = left + w.width < a.x.width ? left + w.width : a.x.width;
      const int32_t count = (r1 - r0) * (c1 - c0);
      for (int32_t k = 0; k < a.y.channels; ++k) {
        int32_t sum = 0;
        for (int32_t i = r0; i < r1; ++i) {
          const int8_t* in = x + row_offset(a.x, i) + c0 * a.x.pixel_bytes + k;
          for (int32_t j = c0; j < c1; ++j, in += a.x.pixel_bytes) sum += *in;
        }
        const int32_t mean = (sum > 0 ? sum + count / 2 : sum - count / 2) / count;
        out[k] = static_cast<int8_t>(mean < a.lo ? a.lo : mean > a.hi ? a.hi : mean);
      }
    }
  }
}

struct Softmax {
  const int32_t* exponentials;  // of elements 0, 1, ... below the greatest
  int32_t rows, count;
  int32_t most_below;  // elements further below the greatest count as 0
};

inline void softmax(const Softmax& s, const int8_t* x, int8_t* y) {
  for (int32_t m = 0; m < s.rows; ++m, x += s.count, y += s.count) {
    int32_t most = x[0];
    for (int32_t i = 1; i < s.count; ++i) most = x[i] > most ? x[i] : most;
    int64_t sum = 0;
    for (int32_t i = 0; i < s.count; ++i)
      if (most - x[i] <= s.most_below) sum += ops::rounding_shift_right(s.exponentials[most - x[i]], 12);
    int over_unit;
    const int32_t scale = ops::reciprocal_of(ops::clamp_to(sum, 1, 0x7fffffff), 12, &over_unit);
    const int wanted = over_unit + 23, shift = wanted < 0 ? 0 : wanted > 31 ? 31 : wanted;
    for (int32_t i = 0; i < s.count; ++i) {
      int32_t v = -128;
      if (most - x[i] <= s.most_below)
        v = ops::clamp_to(ops::rounding_shift_right(ops::doubling_high_mul(scale, s.exponentials[most - x[i]]), shift) - 128, -128, 127);
      y[i] = static_cast<int8_t>(v);
    }
  }
}

}  // namespace mote::cortexm
