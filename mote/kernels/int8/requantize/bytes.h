#pragma once

// Copies of short byte sequences: reads never go beyond the source; writes may go up to 63 bytes beyond the end, except in functions named
// "exactly".

#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

template <class T>
MOTE_INLINE void copy_as(uint8_t* to, const uint8_t* from) {
  T v;
  __builtin_memcpy(&v, from, sizeof v);
  __builtin_memcpy(to, &v, sizeof v);
}
using U8x16 = hn::Vec<hn::CappedTag<uint8_t, 16>>;
MOTE_INLINE U8x16 load_u8x16(const uint8_t* p) { return hn::LoadU(hn::CappedTag<uint8_t, 16>(), p); }
MOTE_INLINE void store_u8x16(U8x16 v, uint8_t* p) { hn::StoreU(v, hn::CappedTag<uint8_t, 16>(), p); }

// n is below 16.
MOTE_INLINE void copy_exactly(uint8_t* to, const uint8_t* from, int32_t n) {
  if (n >= 8) return copy_as<uint64_t>(to, from), copy_as<uint64_t>(to + n - 8, from + n - 8);
  if (n >= 4) return copy_as<uint32_t>(to, from), copy_as<uint32_t>(to + n - 4, from + n - 4);
  for (int32_t i = 0; i < n; ++i) to[i] = from[i];
}
MOTE_INLINE void copy_bytes(uint8_t* to, const uint8_t* from, int32_t n) {
  const int32_t total = n;
  for (; n >= 16; n -= 16, to += 16, from += 16) store_u8x16(load_u8x16(from), to);
  if (n == 0) return;
  // The tail, by a copy that overlaps bytes already copied where there are at least 16.
  if (total >= 16) return store_u8x16(load_u8x16(from + n - 16), to + n - 16);
  copy_exactly(to, from, n);
}
MOTE_INLINE void fill_bytes(uint8_t* to, uint8_t value, int32_t n) {
  const hn::CappedTag<uint8_t, 64> d;
  const auto v = hn::Set(d, value);
  constexpr int32_t kStep = static_cast<int32_t>(hn::MaxLanes(d));
  for (int32_t i = 0; i < n; i += kStep) hn::StoreU(v, d, to + i);
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
