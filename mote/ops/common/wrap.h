#pragma once

#include <type_traits>

#include "mote/core/dtype.h"

namespace mote::ops {

// Integer arithmetic that wraps instead of overflowing; plain arithmetic for floats.
template <class T>
T wrap_add(T a, T b) noexcept {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else return a + b;
}
template <class T>
T wrap_sub(T a, T b) noexcept {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  else return a - b;
}
template <class T>
T wrap_mul(T a, T b) noexcept {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else return a * b;
}

}  // namespace mote::ops
