#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace mote::ir {

// A real factor as TensorFlow Lite holds it: value / 2^31 * 2^shift.
struct Multiplier {
  int32_t value = 0;
  int32_t shift = 0;
};

// Zero for factors that are too small or not finite; the largest for those that are too large.
inline Multiplier quantize_multiplier(double real) {
  if (real == 0 || !std::isfinite(real)) return {};
  int shift = 0;
  const double fraction = std::frexp(real, &shift);
  int64_t fixed = static_cast<int64_t>(std::round(fraction * static_cast<double>(int64_t{1} << 31)));
  if (fixed == int64_t{1} << 31) {
    fixed /= 2;
    ++shift;
  }
  if (shift < -31) return {};
  if (shift > 30) return {std::numeric_limits<int32_t>::max(), 30};
  return {static_cast<int32_t>(fixed), shift};
}

}  // namespace mote::ir
