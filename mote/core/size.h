#pragma once

// Sizes of memory, in bytes. Counts and sizes come from files that nobody has to have written honestly: products and sums of them are taken
// here, in 64 bits, and one that does not fit is kTooLarge, which is more than any limit.

#include "mote/core/tensor.h"

namespace mote {

constexpr uint64_t kTooLarge = ~uint64_t{0};

inline uint64_t times(uint64_t a, uint64_t b) noexcept {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? kTooLarge : product;
}
inline uint64_t plus(uint64_t a, uint64_t b) noexcept {
  uint64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? kTooLarge : sum;
}

// Bytes of so many elements side by side, of every type: two of 4 bits share a byte. Counts of 32 bits, as a verified tensor has: nothing
// can overflow.
constexpr uint64_t bytes_of_few(DType type, uint32_t count) { return (uint64_t{count} * dtype_bits(type) + 7) / 8; }
// The same of any count.
inline uint64_t bytes_of_elements(DType type, uint64_t count) noexcept {
  const uint64_t bits = times(count, dtype_bits(type));
  return bits / 8 + (bits % 8 != 0 ? 1 : 0);
}

// Bytes of a tensor's elements without gaps. Sizes below 0 make it larger than anything.
inline uint64_t dense_bytes(DType type, int rank, const int32_t* dims) noexcept {
  uint64_t count = 1;
  for (int i = 0; i < rank; ++i) count = times(count, dims[i] < 0 ? kTooLarge : static_cast<uint64_t>(dims[i]));
  return bytes_of_elements(type, count);
}
inline uint64_t dense_bytes(const TensorDesc& d) noexcept { return dense_bytes(d.dtype, d.rank, d.dims); }

}  // namespace mote
