#pragma once

#include <cstdint>

namespace mote::kernels {

// A row of zeros: what window taps in the padding read, so that micro-kernels need no bounds checks.
inline constexpr int32_t kZeroCount = 4096;
extern const float kZeros[kZeroCount];

}  // namespace mote::kernels
