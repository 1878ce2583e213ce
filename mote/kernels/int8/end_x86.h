#pragma once

// From sums in registers to 8-bit outputs, as Stage does it for factors that are simple, or reals below 1.

#include "mote/kernels/int8/narrow.h"

namespace mote::kernels::MOTE_ISA_NAME {

inline constexpr bool kTileEnds = true, kAnyReal = false;

// How sums end. `base`, `multiplier` and `right` are those of Columns (stage.h); base is what sums begin with.
struct TileEnd {
  TileEnd(const int32_t* first_base, const int32_t* first_multiplier, const int32_t* first_right, uint8_t* const* rows, const Bounds& b,
          DType type, bool is_real)
      : limits(b, type), base(first_base), multiplier(first_multiplier), right(first_right), out(rows), real(is_real) {}
  ByteBounds limits;
  const int32_t *base, *multiplier, *right;
  uint8_t* const* out;  // [row], at the tile's first output
  bool real;
};

// Part `Part` of as many as fill a vector, the first `count` of its bytes.
#if defined(__AVX512VNNI__)
template <int Bytes, int Part>
MOTE_INLINE void store_part(ByteVector v, int32_t count, uint8_t* to) {
  const uint64_t mask = count >= Bytes ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
  if constexpr (Bytes == 32) _mm256_mask_storeu_epi8(to, static_cast<__mmask32>(mask), _mm512_extracti64x4_epi64(v, Part));
  else _mm_mask_storeu_epi8(to, static_cast<__mmask16>(mask), _mm512_extracti32x4_epi32(v, Part));
}
#else
template <int Bytes, int Part>
MOTE_INLINE void store_part(ByteVector v, int32_t count, uint8_t* to) {
  static_assert(Bytes == 16);
  const __m128i bytes = _mm256_extracti128_si256(v, Part);
  if (count >= Bytes) return _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
  alignas(16) uint8_t some[16];
  _mm_store_si128(reinterpret_cast<__m128i*>(some), bytes);
  copy_exactly(to, some, count);
}
#endif

// Sums of MR rows from output `at` on, `count` of which are wanted. As many rows as fill a vector with bytes become bytes together.
template <bool Real, int MR, int NV>
MOTE_INLINE void finish_by(const TileEnd& e, uint8_t* const* out, int32_t at, int32_t count, const Register (&sums)[MR][NV]) {
  constexpr int kRows = 4 / NV, kBytes = kIntLanes * NV;
  const ByteBounds limits = e.limits;
  VI multiplier[NV];
  SmallScale scale[NV];
  unroll<NV>([&](auto v) MOTE_LAMBDA {
    multiplier[v] = hn::Load(I32(), e.multiplier + at + v * kIntLanes);
    if constexpr (!Real) scale[v] = SmallScale(multiplier[v], hn::Load(I32(), e.right + at + v * kIntLanes));
  });
  unroll<(MR + kRows - 1) / kRows>([&](auto g) MOTE_LAMBDA {
    VI x[4];
    unroll<4>([&](auto i) MOTE_LAMBDA {
      constexpr int kRow = g * kRows + i / NV < MR ? g * kRows + i / NV : MR - 1;
      const VI sum{sums[kRow][i % NV]};
      const FloatOfInts d;
      if constexpr (Real) x[i] = nearest_small(hn::Mul(hn::ConvertTo(d, sum), hn::BitCast(d, multiplier[i % NV])));
      else x[i] = scale[i % NV](sum);
    });
    const ByteVector bytes = in_order(join(x, limits));
    unroll<kRows>([&](auto r) MOTE_LAMBDA {
      if constexpr (g * kRows + r < MR) store_part<kBytes, r>(bytes, count, out[g * kRows + r] + at);
    });
  });
}
template <int MR, int NV>
MOTE_INLINE void finish(const TileEnd& e, uint8_t* const* out, int32_t at, int32_t count, const Register (&sums)[MR][NV]) {
  if (e.real) finish_by<true, MR, NV>(e, out, at, count, sums);
  else finish_by<false, MR, NV>(e, out, at, count, sums);
}
template <int MR, int NV>
MOTE_INLINE void finish(const TileEnd& e, int32_t at, int32_t count, const Register (&sums)[MR][NV]) {
  finish(e, e.out, at, count, sums);
}

}  // namespace mote::kernels::MOTE_ISA_NAME
