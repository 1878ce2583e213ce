#pragma once

#include <cstdint>

namespace mote::kernels {

// What taps of a window outside of the input read.
inline constexpr int32_t kZeroCount = 4096;
extern const float kZeros[kZeroCount];

}  // namespace mote::kernels
