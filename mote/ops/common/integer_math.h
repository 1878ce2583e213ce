#pragma once

// Integer division, remainders, powers and shifts that are defined for every pair of operands.

#include <type_traits>

#include "mote/ops/common/wrap.h"

namespace mote::ops {

// Quotient rounded to zero. x / 0 is 0, and the lowest value / -1 wraps.
template <class C>
C quotient_to_zero(C a, C b) noexcept {
  if (b == C(0)) return C(0);
  if (std::is_signed_v<C> && b == static_cast<C>(-1)) return wrap_sub(C(0), a);
  return static_cast<C>(a / b);
}

// Remainder with the sign of `a`. x rem 0 is 0.
template <class C>
C remainder_of_dividend(C a, C b) noexcept {
  if (b == C(0) || (std::is_signed_v<C> && b == static_cast<C>(-1))) return C(0);
  return static_cast<C>(a % b);
}

// True when a quotient rounded to zero lies above the exact one: the remainder `r` is not zero and its sign is not the divisor's.
template <class C>
bool signs_differ(C r, C b) noexcept {
  return r != C(0) && (r < C(0)) != (b < C(0));
}

// base to the power of `exponent`, wrapping. A negative power of anything but 1 and -1 is 0.
template <class C>
C integer_power(C base, C exponent) noexcept {
  if constexpr (std::is_signed_v<C>) {
    if (exponent < 0) return base == 1 ? C(1) : base != -1 ? C(0) : exponent % 2 == 0 ? C(1) : C(-1);
  }
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (uint64_t e = static_cast<uint64_t>(exponent); e != 0; e >>= 1) {
    if ((e & 1) != 0) result *= square;
    square *= square;
  }
  return static_cast<C>(result);
}

// Shifts by an amount that is negative or no less than the width move every bit out.
template <class C>
C shifted_left(C a, C amount) noexcept {
  constexpr uint64_t kWidth = sizeof(C) * 8;
  const uint64_t by = static_cast<uint64_t>(amount);
  return by < kWidth ? static_cast<C>(static_cast<uint64_t>(a) << by) : C(0);
}
template <class C>
C shifted_right(C a, C amount) noexcept {
  constexpr uint64_t kWidth = sizeof(C) * 8;
  const uint64_t by = static_cast<uint64_t>(amount);
  if (by < kWidth) return static_cast<C>(a >> by);
  return std::is_signed_v<C> && a < C(0) ? static_cast<C>(-1) : C(0);
}

}  // namespace mote::ops
