#pragma once

// Vectors of s32, and loads and stores that convert from and to narrower elements.

#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

using I32 = hn::CappedTag<int32_t, 16>;
using VI = hn::Vec<I32>;
inline constexpr int kIntLanes = static_cast<int>(hn::MaxLanes(I32()));

MOTE_INLINE VI load_ints(const int32_t* p) { return hn::LoadU(I32(), p); }
MOTE_INLINE VI set_ints(int32_t v) { return hn::Set(I32(), v); }

// A vector in memory, for tails: loads and stores of `count` lanes must not touch neighbours. AVX-512 has masks instead.
template <class T>
struct LaneBuffer {
  alignas(64) T v[kIntLanes];
};

template <class T>
MOTE_INLINE hn::Vec<hn::Rebind<T, I32>> load_narrow(const T* p, int32_t count) {
  const hn::Rebind<T, I32> d;
  if (count >= kIntLanes) return hn::LoadU(d, p);
  if constexpr (kIntLanes == 16) return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(count)), d, p);
  LaneBuffer<T> buffer{};
  for (int32_t i = 0; i < count; ++i) buffer.v[i] = p[i];
  return hn::Load(d, buffer.v);
}
template <class V, class T>
MOTE_INLINE void store_narrow(V v, int32_t count, T* p) {
  const hn::Rebind<T, I32> d;
  if (count >= kIntLanes) return hn::StoreU(v, d, p);
  if constexpr (kIntLanes == 16) return hn::BlendedStore(v, hn::FirstN(d, static_cast<size_t>(count)), d, p);
  LaneBuffer<T> buffer;
  hn::Store(v, d, buffer.v);
  for (int32_t i = 0; i < count; ++i) p[i] = buffer.v[i];
}

// Loads `count` elements (at most a vector) as s32.
template <class T>
MOTE_INLINE VI load_as_ints(const T* p, int32_t count) {
  if constexpr (sizeof(T) == 4) return load_narrow(p, count);
  else return hn::PromoteTo(I32(), load_narrow(p, count));
}
// Stores the low bits of the first `count` lanes.
template <class T>
MOTE_INLINE void store_ints(VI v, int32_t count, T* p) {
  if constexpr (sizeof(T) == 4) {
    store_narrow(v, count, p);
  } else {
    using U = std::make_unsigned_t<T>;
    const auto bits = hn::BitCast(hn::RebindToUnsigned<I32>(), v);
    store_narrow(hn::TruncateTo(hn::Rebind<U, I32>(), bits), count, reinterpret_cast<U*>(p));
  }
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
