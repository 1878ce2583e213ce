#pragma once

// From sums in registers to 8-bit outputs, as Stage does it for factors that are simple, or reals below 1.

#include "mote/kernels/int8/narrow.h"

namespace mote::kernels::MOTE_ISA_NAME {

inline constexpr bool kTileEnds = true, kAnyReal = false;

// The bounds of a u8 less 128.
inline Bounds as_signed(Bounds b, DType type) {
  if (type == DType::u8) b.zero = wrapping_sub(b.zero, 128);
  return b;
}

// How sums end. `base`, `multiplier` and `right` are those of Columns (stage.h); base is what sums begin with. A u8 is computed as s8
// and flipped.
struct TileEnd {
  TileEnd(const int32_t* first_base, const int32_t* first_multiplier, const int32_t* first_right, uint8_t* const* rows, const Bounds& b,
          DType type, bool is_real)
      : limits(as_signed(b, type)),
        flip(all_bytes(type == DType::u8 ? 128 : 0)),
        base(first_base),
        multiplier(first_multiplier),
        right(first_right),
        out(rows),
        real(is_real) {}
  ByteBounds<int8_t> limits;
  ByteVector flip;
  const int32_t *base, *multiplier, *right;
  uint8_t* const* out;  // [row], at the tile's first output
  bool real;
};

// Lanes of 16 bytes of a vector.
template <int Bytes, int Lane>
MOTE_INLINE void store_lanes(__m512i v, uint64_t mask, uint8_t* to) {
  if constexpr (Bytes == 32) _mm256_mask_storeu_epi8(to, static_cast<__mmask32>(mask), _mm512_extracti64x4_epi64(v, Lane / 2));
  else _mm_mask_storeu_epi8(to, static_cast<__mmask16>(mask), _mm512_extracti32x4_epi32(v, Lane));
}

// Sums of MR rows from output `at` on, `count` of which are wanted. As many rows as fill a vector with bytes become bytes together.
template <bool Real, int MR, int NV>
MOTE_INLINE void finish_by(const TileEnd& e, int32_t at, int32_t count, const __m512i (&sums)[MR][NV]) {
  constexpr int kRows = 4 / NV, kBytes = 16 * NV;
  const uint64_t mask = count >= kBytes ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
  const ByteBounds<int8_t> limits = e.limits;
  const __m512i flip = e.flip;
  VI multiplier[NV], right[NV];
  unroll<NV>([&](auto v) MOTE_LAMBDA {
    multiplier[v] = hn::Load(I32(), e.multiplier + at + v * 16);
    right[v] = hn::Load(I32(), e.right + at + v * 16);
  });
  unroll<(MR + kRows - 1) / kRows>([&](auto g) MOTE_LAMBDA {
    VI x[4];
    unroll<4>([&](auto i) MOTE_LAMBDA {
      constexpr int kRow = g * kRows + i / NV < MR ? g * kRows + i / NV : MR - 1;
      const VI sum{sums[kRow][i % NV]};
      const FloatOfInts d;
      if constexpr (Real) x[i] = nearest_small(hn::Mul(hn::ConvertTo(d, sum), hn::BitCast(d, multiplier[i % NV])));
      else x[i] = rounding_shift_right(high_mul(sum, multiplier[i % NV]), right[i % NV]);
    });
    const __m512i bytes = _mm512_xor_si512(in_order(join(x, limits)), flip);
    unroll<kRows>([&](auto r) MOTE_LAMBDA {
      if constexpr (g * kRows + r < MR) store_lanes<kBytes, r * NV>(bytes, mask, e.out[g * kRows + r] + at);
    });
  });
}
template <int MR, int NV>
MOTE_INLINE void finish(const TileEnd& e, int32_t at, int32_t count, const __m512i (&sums)[MR][NV]) {
  if (e.real) finish_by<true, MR, NV>(e, at, count, sums);
  else finish_by<false, MR, NV>(e, at, count, sums);
}

}  // namespace mote::kernels::MOTE_ISA_NAME
