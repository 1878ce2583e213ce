#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

namespace mote::ops {

template <class C>
bool holds_nan(C v) noexcept {
  if constexpr (std::is_floating_point_v<C>) return std::isnan(v);
  else return (void)v, false;
}

// Orders for minima and maxima. No value comes after last(): an infinity, or the limit of an integer type.
struct Below {
  template <class C>
  bool operator()(C a, C b) const {
    return a < b;
  }
  template <class C>
  static constexpr C last() {
    if constexpr (std::is_floating_point_v<C>) return std::numeric_limits<C>::infinity();
    else return std::numeric_limits<C>::max();
  }
};
struct Above {
  template <class C>
  bool operator()(C a, C b) const {
    return a > b;
  }
  template <class C>
  static constexpr C last() {
    if constexpr (std::is_floating_point_v<C>) return -std::numeric_limits<C>::infinity();
    else return std::numeric_limits<C>::lowest();
  }
};

// The operand that comes first in the order; NaN if either is.
template <class Order, class C>
C first_of(C a, C b) noexcept {
  return holds_nan(a) || (!holds_nan(b) && !Order()(b, a)) ? a : b;
}

}  // namespace mote::ops
