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

// Sums of MR rows from output `at` on, V vectors, from number `First` on; `count` of their bytes are wanted. As many rows as fill a vector
// become bytes together.
template <bool Real, int V, int First, int MR, int NV>
MOTE_INLINE void finish_vectors(const TileEnd& e, uint8_t* const* out, int32_t at, int32_t count, const Register (&sums)[MR][NV]) {
  constexpr int kRows = 4 / V;
  const ByteBounds limits = e.limits;
  VI multiplier[V];
  SmallScale<> scale[V];
  unroll<V>([&](auto v) MOTE_LAMBDA {
    multiplier[v] = hn::Load(I32(), e.multiplier + at + v * kIntLanes);
    if constexpr (!Real) scale[v] = SmallScale(multiplier[v], hn::Load(I32(), e.right + at + v * kIntLanes));
  });
  unroll<(MR + kRows - 1) / kRows>([&](auto g) MOTE_LAMBDA {
    VI x[4];
    unroll<4>([&](auto i) MOTE_LAMBDA {
      constexpr int kRow = g * kRows + i / V < MR ? g * kRows + i / V : MR - 1;
      const VI sum{sums[kRow][First + i % V]};
      const FloatOfInts d;
      if constexpr (Real) x[i] = nearest_small(hn::Mul(hn::ConvertTo(d, sum), hn::BitCast(d, multiplier[i % V])));
      else x[i] = scale[i % V](sum);
    });
    const ByteVector bytes = in_order(join(x, limits));
    unroll<kRows>([&](auto r) MOTE_LAMBDA {
      if constexpr (g * kRows + r < MR) store_part<kIntLanes * V, r>(bytes, count, out[g * kRows + r] + at);
    });
  });
}
template <bool Real, int MR, int NV>
MOTE_INLINE void finish_by(const TileEnd& e, uint8_t* const* out, int32_t at, int32_t count, const Register (&sums)[MR][NV]) {
  // Factors of one vector of 512 bits fill enough registers.
  constexpr int kV = Real || kIntLanes < 16 ? NV : 1;
  unroll<NV / kV>([&](auto i) MOTE_LAMBDA {
    constexpr int kAt = i * kV * kIntLanes;
    if (i == 0 || count > kAt) finish_vectors<Real, kV, i * kV>(e, out, at + kAt, count - kAt, sums);
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
