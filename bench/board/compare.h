#pragma once

#include <cmath>
#include <cstring>

namespace bench {

// Floats that differ by at most 1e-5 of the largest.
inline bool close(const void* found, const void* expected, unsigned count) {
  float most = 0, apart = 0;
  for (unsigned i = 0; i < count; ++i) {
    float a, b;
    std::memcpy(&a, static_cast<const char*>(found) + 4 * i, 4);
    std::memcpy(&b, static_cast<const char*>(expected) + 4 * i, 4);
    if (std::memcmp(&a, &b, 4) == 0) continue;
    most = std::fmax(most, std::fabs(b));
    if (!(std::fabs(a - b) <= apart)) apart = std::fabs(a - b);
  }
  return apart <= 1e-5f * most;
}

}  // namespace bench
