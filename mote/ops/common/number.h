#pragma once

// An element of any type as a value, chosen while running: for operators whose cost is not in the arithmetic and which would
// otherwise be built once per type. Every element is held exactly. The switches are kept out of line, or each caller would carry them.

#include <cstring>
#include <limits>

#include "mote/core/dtype.h"

namespace mote::ops {

struct Number {
  enum Kind : uint8_t { kReal, kSigned, kUnsigned };
  Kind kind;
  union {
    double real;
    int64_t i;
    uint64_t u;
  };
  static Number of(double v) {
    Number n;
    n.kind = kReal;
    n.real = v;
    return n;
  }
  static Number of(int64_t v) {
    Number n;
    n.kind = kSigned;
    n.i = v;
    return n;
  }
  static Number of(uint64_t v) {
    Number n;
    n.kind = kUnsigned;
    n.u = v;
    return n;
  }
  bool is_zero() const { return kind == kReal ? real == 0 : u == 0; }
};

namespace detail {
// Bytes are copied, since the object behind them may have been made as an integer of the same width.
template <class T>
T element(const void* p) noexcept {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class T>
void set_element(void* p, T v) noexcept {
  std::memcpy(p, &v, sizeof v);
}

// Saturates; NaN gives 0.
template <class T>
T real_to_int(double v) noexcept {
  using L = std::numeric_limits<T>;
  constexpr double kEnd = 2.0 * static_cast<double>(T(1) << (L::digits - 1));
  if (v != v) return 0;
  if (v >= kEnd) return L::max();
  if (v <= static_cast<double>(L::min())) return L::min();
  return static_cast<T>(v);
}
template <class T>
void store_int(void* p, const Number& n) noexcept {
  set_element<T>(p, n.kind == Number::kReal ? real_to_int<T>(n.real) : static_cast<T>(n.u));
}

// An integer as a double that still rounds correctly to a much shorter type: bits that do not fit are remembered in the last place.
inline double int_to_odd(const Number& n) noexcept {
  const bool negative = n.kind == Number::kSigned && n.i < 0;
  uint64_t m = negative ? 0 - n.u : n.u;
  if (m >> 53 != 0) m = (m & ~uint64_t{0x7ff}) | ((m & 0x7ff) != 0 ? 0x800 : 0);
  return negative ? -static_cast<double>(m) : static_cast<double>(m);
}
template <class T>
void store_half(void* p, const Number& n) noexcept {
  set_element(p, T(n.kind == Number::kReal ? n.real : int_to_odd(n)));
}
template <class T>
void store_real(void* p, const Number& n) noexcept {
  if (n.kind == Number::kReal) set_element(p, static_cast<T>(n.real));
  else if (n.kind == Number::kSigned) set_element(p, static_cast<T>(n.i));
  else set_element(p, static_cast<T>(n.u));
}
}  // namespace detail

[[gnu::noinline]] inline Number load_number(DType t, const void* p) noexcept {
  using detail::element;
  switch (t) {
    case DType::f32: return Number::of(static_cast<double>(element<float>(p)));
    case DType::f64: return Number::of(element<double>(p));
    case DType::f16: return Number::of(static_cast<double>(static_cast<float>(element<f16>(p))));
    case DType::bf16: return Number::of(static_cast<double>(static_cast<float>(element<bf16>(p))));
    case DType::s8: return Number::of(int64_t{element<int8_t>(p)});
    case DType::u8: return Number::of(uint64_t{element<uint8_t>(p)});
    case DType::s16: return Number::of(int64_t{element<int16_t>(p)});
    case DType::u16: return Number::of(uint64_t{element<uint16_t>(p)});
    case DType::s32: return Number::of(int64_t{element<int32_t>(p)});
    case DType::u32: return Number::of(uint64_t{element<uint32_t>(p)});
    case DType::s64: return Number::of(element<int64_t>(p));
    case DType::u64: return Number::of(element<uint64_t>(p));
    // A byte that is neither 0 nor 1 is true as well; it must not be read as a bool.
    default: return Number::of(uint64_t{element<uint8_t>(p) != 0});
  }
}

// Rounds once to the nearest (ties to even) for floats; reals saturate and integers wrap for integers; bool is "not zero".
[[gnu::noinline]] inline void store_number(DType t, void* p, const Number& n) noexcept {
  switch (t) {
    case DType::f32: return detail::store_real<float>(p, n);
    case DType::f64: return detail::store_real<double>(p, n);
    case DType::f16: return detail::store_half<f16>(p, n);
    case DType::bf16: return detail::store_half<bf16>(p, n);
    case DType::s8: return detail::store_int<int8_t>(p, n);
    case DType::u8: return detail::store_int<uint8_t>(p, n);
    case DType::s16: return detail::store_int<int16_t>(p, n);
    case DType::u16: return detail::store_int<uint16_t>(p, n);
    case DType::s32: return detail::store_int<int32_t>(p, n);
    case DType::u32: return detail::store_int<uint32_t>(p, n);
    case DType::s64: return detail::store_int<int64_t>(p, n);
    case DType::u64: return detail::store_int<uint64_t>(p, n);
    default: detail::set_element<uint8_t>(p, n.is_zero() ? 0 : 1);
  }
}

// The bits of an element of type t, which is as wide as W.
template <class W>
W number_bits(DType t, const Number& n) noexcept {
  alignas(8) uint8_t bytes[8] = {};
  store_number(t, bytes, n);
  return detail::element<W>(bytes);
}

// As a 64-bit integer: reals are cut off and saturate, large unsigned values saturate.
inline int64_t to_int(const Number& n) noexcept {
  if (n.kind == Number::kReal) return detail::real_to_int<int64_t>(n.real);
  return n.kind == Number::kUnsigned && n.u >> 63 != 0 ? std::numeric_limits<int64_t>::max() : n.i;
}

// A number whose unsigned order is the order of the elements: -inf < ... < -0 = +0 < ... < +inf < NaN, all NaN equal.
[[gnu::noinline]] inline uint64_t order_key(DType t, const void* p) noexcept {
  constexpr uint64_t kTop = uint64_t{1} << 63;
  const Number n = load_number(t, p);
  if (n.kind == Number::kUnsigned) return n.u;
  if (n.kind == Number::kSigned) return n.u ^ kTop;
  if (n.real != n.real) return ~uint64_t{0};
  if (n.real == 0) return kTop;
  uint64_t bits;
  std::memcpy(&bits, &n.real, sizeof bits);
  return (bits & kTop) != 0 ? ~bits : bits | kTop;
}

}  // namespace mote::ops
