#pragma once

// s8 softmax. Not optimized: it takes a small part of a model's time.

#include "mote/kernels/cortexm/conv.h"
#include "mote/ops/common/fixed_point.h"

namespace mote::cortexm {

struct Softmax {
  const int32_t* exponentials;  // exponentials of elements 0, 1, ... below the maximum
  int32_t rows, count;
  int32_t most_below;  // elements further below the maximum contribute 0
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
