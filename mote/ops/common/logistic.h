#pragma once

#include <cmath>

namespace mote::ops {

// 1 / (1 + e^-x), from an exponential that never overflows, so that both tails keep their precision.
template <class C>
C logistic(C x) noexcept {
  if (x >= C(0)) return C(1) / (C(1) + std::exp(-x));
  const C e = std::exp(x);
  return e / (C(1) + e);
}

}  // namespace mote::ops
