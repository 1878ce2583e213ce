#pragma once

// Integer arithmetic with TFLite's rounding (its reference kernels, double rounding), bit for bit. Everything is total: sums and left
// shifts wrap, shift counts are brought into range, so no operand values give undefined behaviour.

#include <limits>

#include "mote/core/dtype.h"

namespace mote::ops {

// v brought into [lo, hi].
inline int32_t clamp_to(int64_t v, int32_t lo, int32_t hi) { return v < lo ? lo : v > hi ? hi : static_cast<int32_t>(v); }
template <class T>
T saturate_to(int64_t v) {
  return static_cast<T>(v < std::numeric_limits<T>::min()   ? std::numeric_limits<T>::min()
                        : v > std::numeric_limits<T>::max() ? std::numeric_limits<T>::max()
                                                            : v);
}
inline int32_t wrap_to_s32(int64_t v) { return static_cast<int32_t>(static_cast<uint32_t>(v)); }

// a * b * 2 / 2^bits, rounded to nearest (ties up), saturated. T: int32_t, int16_t.
template <class T>
T doubling_high_mul(T a, T b) {
  constexpr int kBits = static_cast<int>(sizeof(T)) * 8 - 1;
  if (a == b && a == std::numeric_limits<T>::min()) return std::numeric_limits<T>::max();
  return static_cast<T>((static_cast<int64_t>(a) * b + (int64_t{1} << (kBits - 1))) >> kBits);
}

// x / 2^count to nearest, ties away from zero. count 0..31.
inline int32_t rounding_shift_right(int32_t x, int count) {
  const int64_t mask = (int64_t{1} << count) - 1, rest = x & mask;
  return (x >> count) + (rest > (mask >> 1) + (x < 0 ? 1 : 0) ? 1 : 0);
}

inline int32_t wrapping_shift_left(int32_t x, int count) { return static_cast<int32_t>(static_cast<uint32_t>(x) << count); }

// x * multiplier / 2^31 * 2^shift for 32-bit sums: left shift, high multiply, rounding right shift.
inline int32_t scale_by(int32_t x, int32_t multiplier, int32_t shift) {
  const int left = shift > 31 ? 31 : shift > 0 ? shift : 0, right = shift < -31 ? 31 : shift < 0 ? -shift : 0;
  return rounding_shift_right(doubling_high_mul(wrapping_shift_left(x, left), multiplier), right);
}

// The same for 64-bit sums (int16 activations): the multiplier is first rounded to 16 bits, then there is one rounding.
inline int32_t scale_by_wide(int64_t x, int32_t multiplier, int32_t shift) {
  const int64_t reduced = multiplier < 0x7fff0000 ? (static_cast<int64_t>(multiplier) + (1 << 15)) >> 16 : 0x7fff;
  const int total = shift > 14 ? 1 : shift < -47 ? 62 : 15 - shift;
  const uint64_t scaled = static_cast<uint64_t>(x) * static_cast<uint64_t>(reduced) + (uint64_t{1} << (total - 1));
  return wrap_to_s32(static_cast<int64_t>(scaled) >> total);
}

inline int leading_zeros(uint32_t x) {
  int n = 0;
  for (uint32_t bit = 0x80000000u; bit != 0 && (x & bit) == 0; bit >>= 1) ++n;
  return n;
}

// A signed number with IntegerBits bits before the binary point, in an int32_t or int16_t.
template <class Raw, int IntegerBits>
struct Fixed {
  static constexpr int kBits = static_cast<int>(sizeof(Raw)) * 8;
  static constexpr int kFractionBits = kBits - 1 - IntegerBits;
  Raw raw;

  static constexpr Fixed one() {
    if constexpr (IntegerBits == 0) return {std::numeric_limits<Raw>::max()};
    else return {static_cast<Raw>(int64_t{1} << kFractionBits)};
  }
  static constexpr Fixed power_of_two(int exponent) { return {static_cast<Raw>(int64_t{1} << (kFractionBits + exponent))}; }
  // A constant given with 32 bits, rounded where Raw has 16.
  static Fixed constant(int32_t raw32) { return {static_cast<Raw>(rounding_shift_right(raw32, 32 - kBits))}; }

  // Multiplies by 2^exponent, rounding or saturating.
  template <int Exponent>
  Fixed times_power_of_two() const {
    if constexpr (Exponent <= 0) {
      return {static_cast<Raw>(rounding_shift_right(raw, -Exponent))};
    } else {
      constexpr int32_t kLimit = static_cast<int32_t>((int64_t{1} << (kBits - 1 - Exponent)) - 1);
      if (raw > kLimit) return {std::numeric_limits<Raw>::max()};
      if (raw < -kLimit) return {std::numeric_limits<Raw>::min()};
      return {static_cast<Raw>(wrapping_shift_left(raw, Exponent))};
    }
  }
  // The same value with another number of integer bits.
  template <int To>
  Fixed<Raw, To> rescale() const {
    return {times_power_of_two<IntegerBits - To>().raw};
  }

  Fixed operator+(Fixed b) const { return {static_cast<Raw>(static_cast<uint32_t>(raw) + static_cast<uint32_t>(b.raw))}; }
  Fixed operator-(Fixed b) const { return {static_cast<Raw>(static_cast<uint32_t>(raw) - static_cast<uint32_t>(b.raw))}; }
  Fixed operator-() const { return Fixed{0} - *this; }
  template <int Other>
  Fixed<Raw, IntegerBits + Other> operator*(Fixed<Raw, Other> b) const {
    return {doubling_high_mul(raw, b.raw)};
  }
};

namespace detail {
// exp(a) for a in [-1/4, 0): a Taylor series around -1/8.
template <class Raw>
Fixed<Raw, 0> exp_near_zero(Fixed<Raw, 0> a) {
  using F = Fixed<Raw, 0>;
  const F centre = F::constant(1895147668), third = F::constant(715827883);
  const F x = a + F::power_of_two(-3), x2 = x * x, x3 = x2 * x, x4 = x2 * x2;
  const F tail = ((x4.template times_power_of_two<-2>() + x3) * third + x2).template times_power_of_two<-1>();
  const F rise = centre * (x + tail);
  if constexpr (sizeof(Raw) == 2) return {saturate_to<Raw>(int64_t{centre.raw} + rise.raw)};
  else return centre + rise;
}

// The start of Newton's iterations for 1 / ((1 + a) / 2), a in [0, 1].
template <class Raw>
Fixed<Raw, 2> reciprocal_of_half_sum(Fixed<Raw, 0> a) {
  using F2 = Fixed<Raw, 2>;
  const int64_t sum = int64_t{a.raw} + Fixed<Raw, 0>::one().raw;
  const Fixed<Raw, 0> half{static_cast<Raw>((sum + (sum >= 0 ? 1 : -1)) / 2)};
  F2 x = F2::constant(1515870810) + half * F2::constant(-1010580540);
  for (int i = 0; i < 3; ++i) x = x + (x * (F2::one() - half * x)).template rescale<2>();
  return x;
}
}  // namespace detail

// exp(a) for a <= 0.
template <class Raw, int IntegerBits>
Fixed<Raw, 0> exp_of_negative(Fixed<Raw, IntegerBits> a) {
  using In = Fixed<Raw, IntegerBits>;
  if (a.raw == 0) return Fixed<Raw, 0>::one();
  if constexpr (IntegerBits > 5) {
    if (a.raw < In::constant(-(1 << (36 - IntegerBits))).raw) return {0};
  }
  const In quarter = In::power_of_two(-2);
  const In near = In{static_cast<Raw>(a.raw & (quarter.raw - 1))} - quarter;
  Fixed<Raw, 0> result = detail::exp_near_zero(near.template rescale<0>());
  const uint32_t rest = static_cast<uint32_t>((near - a).raw);
  constexpr int32_t kFactors[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};  // exp(-2^e), e = -2..4
  for (int e = -2; e <= 4 && e < IntegerBits; ++e)  // NOLINT(misc-redundant-expression): both bounds are one for 5 bits
    if ((rest >> (In::kFractionBits + e) & 1) != 0) result = result * Fixed<Raw, 0>::constant(kFactors[e + 2]);
  return result;
}

// 1 / (1 + a) for a in [0, 1].
template <class Raw>
Fixed<Raw, 0> one_over_one_plus(Fixed<Raw, 0> a) {
  return Fixed<Raw, 1>{detail::reciprocal_of_half_sum(a).raw}.template rescale<0>();
}

template <class Raw, int IntegerBits>
Fixed<Raw, 0> logistic_of(Fixed<Raw, IntegerBits> a) {
  if (a.raw == 0) return Fixed<Raw, 0>::power_of_two(-1);
  const Fixed<Raw, 0> positive = one_over_one_plus(exp_of_negative(a.raw > 0 ? -a : a));
  return a.raw > 0 ? positive : Fixed<Raw, 0>::one() - positive;
}

template <class Raw, int IntegerBits>
Fixed<Raw, 0> tanh_of(Fixed<Raw, IntegerBits> a) {
  if (a.raw == 0) return {0};
  const Fixed<Raw, IntegerBits> negative = a.raw < 0 ? a : -a;
  const Fixed<Raw, 0> e = exp_of_negative(Fixed<Raw, IntegerBits + 1>{negative.raw});
  const Fixed<Raw, 0> t = (detail::reciprocal_of_half_sum(e) - Fixed<Raw, 2>::one()).template rescale<0>();
  return a.raw < 0 ? -t : t;
}

// 1 / x for a positive x with `integer_bits` bits before the point: the result times 2^-over_unit.
inline int32_t reciprocal_of(int32_t x, int integer_bits, int* over_unit) {
  const int zeros = leading_zeros(static_cast<uint32_t>(x) | 1u);
  *over_unit = integer_bits - zeros;
  const uint32_t fraction = (static_cast<uint32_t>(x) << zeros) - 0x80000000u;
  return one_over_one_plus(Fixed<int32_t, 0>{static_cast<int32_t>(fraction & 0x7fffffffu)}).raw;
}

// 1 / sqrt(x) as a multiplier and a (left) shift for scale_by.
inline void inverse_sqrt(int32_t x, int32_t* multiplier, int32_t* shift) {
  *multiplier = std::numeric_limits<int32_t>::max();
  *shift = 0;
  if (x <= 1) return;
  int right = 11;
  for (; x >= (1 << 29); ++right) x /= 4;
  const int pairs = (leading_zeros(static_cast<uint32_t>(x)) - 1) / 2 - 1;
  right -= pairs;
  x <<= 2 * pairs;
  using F3 = Fixed<int32_t, 3>;
  const F3 half = F3{x >> 1}.times_power_of_two<-1>(), one_and_half{(1 << 28) + (1 << 27)};
  F3 y = F3::one();
  for (int i = 0; i < 5; ++i) {
    const F3 cube = (y * y * y).rescale<3>();
    y = (one_and_half * y - half * cube).rescale<3>();
  }
  *multiplier = (y * Fixed<int32_t, 0>{1518500250}).raw;
  if (right < 0) {
    *multiplier = wrapping_shift_left(*multiplier, -right);
    right = 0;
  }
  *shift = -right;
}

// TFLite's int16 table of 513 entries: 9 bits select, 7 bits interpolate.
inline int16_t interpolate_table(int16_t x, const int16_t* table) {
  const int32_t at = 256 + (x >> 7), part = x & 0x7f;
  const int16_t slope = static_cast<int16_t>(table[at + 1] - table[at]);
  return static_cast<int16_t>(table[at] + ((slope * part + 64) >> 7));
}

}  // namespace mote::ops
