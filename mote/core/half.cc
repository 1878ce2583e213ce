#include "mote/core/half.h"

namespace mote::detail {

float f16_to_float(uint16_t h) noexcept {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
  uint32_t exponent = h >> 10 & 0x1fu;
  uint32_t fraction = h & 0x3ffu;
  if (exponent == 31) return bits_float(sign | 0x7f800000u | fraction << 13);
  if (exponent == 0) {
    if (fraction == 0) return bits_float(sign);
    exponent = 1;
    while ((fraction & 0x400u) == 0) {
      fraction <<= 1;
      --exponent;
    }
    fraction &= 0x3ffu;
  }
  return bits_float(sign | (exponent + 112) << 23 | fraction << 13);
}

uint16_t float_to_f16(float x) noexcept {
  const uint32_t u = float_bits(x);
  const uint32_t sign = u >> 16 & 0x8000u;
  const uint32_t magnitude = u & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | (magnitude >> 13 & 0x1ffu));
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 65520 and above round to infinity
  if (magnitude < 0x33000000u) return static_cast<uint16_t>(sign);             // below half the smallest subnormal
  int32_t exponent = static_cast<int32_t>(magnitude >> 23) - 112;
  uint32_t fraction = (magnitude & 0x7fffffu) | 0x800000u;
  uint32_t shift = 13;
  if (exponent <= 0) {
    shift += static_cast<uint32_t>(1 - exponent);
    exponent = 0;
    // The implicit bit is now part of the fraction; a carry out of it makes the exponent 1, as it should.
  } else {
    fraction &= 0x7fffffu;
  }
  const uint32_t half = 1u << (shift - 1);
  const uint32_t rest = fraction & ((1u << shift) - 1);
  uint32_t bits = (static_cast<uint32_t>(exponent) << 10) + (fraction >> shift);
  if (rest > half || (rest == half && (bits & 1u))) ++bits;
  return static_cast<uint16_t>(sign | bits);
}

namespace {
// A double narrowed to float so that a second rounding to a shorter type gives what one rounding would:
// bits that do not fit are remembered in the last place (round to odd).
float narrow_to_odd(double x) noexcept {
  const float nearest = static_cast<float>(x);
  if (static_cast<double>(nearest) == x || nearest != nearest) return nearest;
  uint32_t u = float_bits(nearest);
  const double back = static_cast<double>(nearest);
  const bool away = x < 0 ? back < x : back > x;
  if (away) --u;
  return bits_float(u | 1u);
}
}  // namespace

uint16_t double_to_f16(double x) noexcept { return float_to_f16(narrow_to_odd(x)); }
uint16_t double_to_bf16(double x) noexcept { return bf16(narrow_to_odd(x)).bits; }

}  // namespace mote::detail
