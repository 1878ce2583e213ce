#pragma once

// The DSP instructions of Armv7E-M and Armv8-M that the integer kernels use, with plain C++ equivalents for other (little-endian) machines.
// A pair is two 16-bit lanes of a word.

#include <cstdint>
#include <cstring>

#if defined(__ARM_FEATURE_DSP) && defined(__thumb__)
#define MOTE_CORTEXM_DSP 1
#else
#define MOTE_CORTEXM_DSP 0
#endif

namespace mote::cortexm {

inline uint32_t load_word(const void* p) {
  uint32_t v;
  std::memcpy(&v, p, 4);
  return v;
}
inline int32_t low(uint32_t pair) { return static_cast<int16_t>(pair); }
inline int32_t high(uint32_t pair) { return static_cast<int16_t>(pair >> 16); }
inline uint32_t pair_of(int32_t lo, int32_t hi) { return (static_cast<uint32_t>(lo) & 0xffff) | static_cast<uint32_t>(hi) << 16; }

#if MOTE_CORTEXM_DSP
// Bytes 0 and 2, sign-extended to a pair.
inline uint32_t even_bytes(uint32_t v) {
  uint32_t r;
  asm("sxtb16 %0, %1" : "=r"(r) : "r"(v));
  return r;
}
// Bytes 1 and 3, sign-extended to a pair.
inline uint32_t odd_bytes(uint32_t v) {
  uint32_t r;
  asm("sxtb16 %0, %1, ror #8" : "=r"(r) : "r"(v));
  return r;
}
inline int32_t add_low_product(int32_t sum, uint32_t a, uint32_t b) {
  int32_t r;
  asm("smlabb %0, %1, %2, %3" : "=r"(r) : "r"(a), "r"(b), "r"(sum));
  return r;
}
inline int32_t add_high_product(int32_t sum, uint32_t a, uint32_t b) {
  int32_t r;
  asm("smlatt %0, %1, %2, %3" : "=r"(r) : "r"(a), "r"(b), "r"(sum));
  return r;
}
inline int32_t add_products(int32_t sum, uint32_t a, uint32_t b) {
  int32_t r;
  asm("smlad %0, %1, %2, %3" : "=r"(r) : "r"(a), "r"(b), "r"(sum));
  return r;
}
inline int64_t add_products_long(int64_t sum, uint32_t a, uint32_t b) {
  uint32_t low_word = static_cast<uint32_t>(sum);
  int32_t high_word = static_cast<int32_t>(sum >> 32);
  asm("smlald %0, %1, %2, %3" : "+r"(low_word), "+r"(high_word) : "r"(a), "r"(b));
  return static_cast<int64_t>(static_cast<uint64_t>(static_cast<uint32_t>(high_word)) << 32 | low_word);
}
// a * b / 2^32, rounded to nearest, ties toward plus infinity.
inline int32_t high_mul(int32_t a, int32_t b) {
  int32_t r;
  asm("smmulr %0, %1, %2" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
// Adds bytes 0 and 2 (or 1 and 3), sign-extended, to the lanes of the pair.
inline uint32_t add_even_bytes(uint32_t pair, uint32_t v) {
  uint32_t r;
  asm("sxtab16 %0, %1, %2" : "=r"(r) : "r"(pair), "r"(v));
  return r;
}
inline uint32_t add_odd_bytes(uint32_t pair, uint32_t v) {
  uint32_t r;
  asm("sxtab16 %0, %1, %2, ror #8" : "=r"(r) : "r"(pair), "r"(v));
  return r;
}
// Maximum of each of the four signed bytes.
inline uint32_t greatest_bytes(uint32_t a, uint32_t b) {
  uint32_t r;
  asm("ssub8 %0, %1, %2\n\tsel %0, %1, %2" : "=&r"(r) : "r"(a), "r"(b));
  return r;
}
// Maximum of each lane of two pairs.
inline uint32_t greatest_pair(uint32_t a, uint32_t b) {
  uint32_t r;
  asm("ssub16 %0, %1, %2\n\tsel %0, %1, %2" : "=&r"(r) : "r"(a), "r"(b));
  return r;
}
inline int32_t saturate8(int32_t v) {
  int32_t r;
  asm("ssat %0, #8, %1" : "=r"(r) : "r"(v) : "cc");
  return r;
}
#else
inline uint32_t even_bytes(uint32_t v) { return pair_of(static_cast<int8_t>(v), static_cast<int8_t>(v >> 16)); }
inline uint32_t odd_bytes(uint32_t v) { return even_bytes(v >> 8); }
inline int32_t add_low_product(int32_t sum, uint32_t a, uint32_t b) { return sum + low(a) * low(b); }
inline int32_t add_high_product(int32_t sum, uint32_t a, uint32_t b) { return sum + high(a) * high(b); }
inline int32_t add_products(int32_t sum, uint32_t a, uint32_t b) { return sum + low(a) * low(b) + high(a) * high(b); }
inline int64_t add_products_long(int64_t sum, uint32_t a, uint32_t b) { return sum + low(a) * low(b) + int64_t{high(a)} * high(b); }
inline int32_t high_mul(int32_t a, int32_t b) { return static_cast<int32_t>((int64_t{a} * b + 0x80000000) >> 32); }
inline uint32_t add_even_bytes(uint32_t pair, uint32_t v) {
  return pair_of(low(pair) + static_cast<int8_t>(v), high(pair) + static_cast<int8_t>(v >> 16));
}
inline uint32_t add_odd_bytes(uint32_t pair, uint32_t v) { return add_even_bytes(pair, v >> 8); }
inline uint32_t greatest_pair(uint32_t a, uint32_t b) {
  return pair_of(low(a) > low(b) ? low(a) : low(b), high(a) > high(b) ? high(a) : high(b));
}
inline uint32_t greatest_bytes(uint32_t a, uint32_t b) {
  uint32_t r = 0;
  for (int i = 0; i < 32; i += 8) r |= (static_cast<int8_t>(a >> i) > static_cast<int8_t>(b >> i) ? a : b) & (0xffu << i);
  return r;
}
inline int32_t saturate8(int32_t v) { return v < -128 ? -128 : v > 127 ? 127 : v; }
#endif

}  // namespace mote::cortexm
