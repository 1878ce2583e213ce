#pragma once

#include <cstdint>
#include <cstring>

namespace mote {

namespace detail {
inline uint32_t float_bits(float x) {
  uint32_t u;
  std::memcpy(&u, &x, sizeof u);
  return u;
}
inline float bits_float(uint32_t u) {
  float x;
  std::memcpy(&x, &u, sizeof x);
  return x;
}
float f16_to_float(uint16_t h) noexcept;
uint16_t float_to_f16(float x) noexcept;
uint16_t double_to_f16(double x) noexcept;
uint16_t double_to_bf16(double x) noexcept;
}  // namespace detail

// IEEE binary16. Storage only: arithmetic happens in float. Conversions round to nearest, ties to even.
struct f16 {
  uint16_t bits;
  f16() = default;
  f16(float x) : bits(detail::float_to_f16(x)) {}  // NOLINT(google-explicit-constructor)
  explicit f16(double x) : bits(detail::double_to_f16(x)) {}
  operator float() const { return detail::f16_to_float(bits); }  // NOLINT(google-explicit-constructor)
};

// The upper half of an IEEE binary32. Storage only: arithmetic happens in float.
struct bf16 {
  uint16_t bits;
  bf16() = default;
  bf16(float x) {  // NOLINT(google-explicit-constructor)
    const uint32_t u = detail::float_bits(x);
    const bool nan = (u & 0x7fffffffu) > 0x7f800000u;
    bits = static_cast<uint16_t>(nan ? (u >> 16 | 0x40u) : (u + 0x7fffu + (u >> 16 & 1u)) >> 16);
  }
  explicit bf16(double x) : bits(detail::double_to_bf16(x)) {}
  operator float() const { return detail::bits_float(static_cast<uint32_t>(bits) << 16); }  // NOLINT(google-explicit-constructor)
};

// Two 4-bit integers per byte, low nibble first. Storage only; element access goes through helpers.
struct s4 {
  uint8_t pair;
};
struct u4 {
  uint8_t pair;
};

static_assert(sizeof(f16) == 2 && sizeof(bf16) == 2, "storage types must have no padding");

}  // namespace mote
