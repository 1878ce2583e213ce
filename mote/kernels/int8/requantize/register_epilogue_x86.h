#pragma once

// Epilogue in registers for x86: accumulators of a micro-kernel to 8-bit outputs, with the results of RequantEpilogue where
// ChannelParams::fast_fixed_point or real_below_one holds.

#include "mote/kernels/int8/requantize/narrow.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

inline constexpr bool kHasRegisterEpilogue = true, kAnyRealMultiplier = false;

// `base`, `multiplier` and `right_shift` are arrays of ChannelParams; accumulators start from base.
struct RegisterEpilogue {
  RegisterEpilogue(const int32_t* first_base, const int32_t* first_multiplier, const int32_t* first_right_shift, uint8_t* const* rows,
                   const ClampRange& b, DType type, bool is_real)
      : clamp(b, type), base(first_base), multiplier(first_multiplier), right_shift(first_right_shift), out(rows), real(is_real) {}
  ByteClampRange clamp;
  const int32_t *base, *multiplier, *right_shift;
  uint8_t* const* out;  // [row], at the tile's first output
  bool real;
};

// V vectors of accumulators per row, from vector `First` of MR rows on, which are outputs `first` and on; `count` bytes are stored. As many
// rows as fill a register of bytes are packed together.
template <bool Real, int V, int First, int MR, int NV>
MOTE_INLINE void requantize_vectors(const RegisterEpilogue& e, uint8_t* const* out, int32_t first, int32_t count,
                                    const Register (&accumulators)[MR][NV]) {
  constexpr int kRows = 4 / V;
  const ByteClampRange clamp = e.clamp;
  VI multiplier[V];
  FastFixedPointScale<> scale[V];
  unroll<V>([&](auto v) MOTE_LAMBDA {
    multiplier[v] = hn::Load(I32(), e.multiplier + first + v * kIntLanes);
    if constexpr (!Real) scale[v] = FastFixedPointScale(multiplier[v], hn::Load(I32(), e.right_shift + first + v * kIntLanes));
  });
  unroll<(MR + kRows - 1) / kRows>([&](auto g) MOTE_LAMBDA {
    VI x[4];
    unroll<4>([&](auto i) MOTE_LAMBDA {
      constexpr int kRow = g * kRows + i / V < MR ? g * kRows + i / V : MR - 1;
      const VI acc{accumulators[kRow][First + i % V]};
      const FloatOfInts d;
      if constexpr (Real) x[i] = round_half_even(hn::Mul(hn::ConvertTo(d, acc), hn::BitCast(d, multiplier[i % V])));
      else x[i] = scale[i % V](acc);
    });
    const ByteVector bytes = restore_lane_order(pack_to_bytes(x, clamp));
    unroll<kRows>([&](auto r) MOTE_LAMBDA {
      if constexpr (g * kRows + r < MR) store_part<kIntLanes * V, r>(bytes, count, out[g * kRows + r] + first);
    });
  });
}
template <bool Real, int MR, int NV>
MOTE_INLINE void requantize_rows(const RegisterEpilogue& e, uint8_t* const* out, int32_t first, int32_t count,
                                 const Register (&accumulators)[MR][NV]) {
  // With AVX-512, the fixed-point constants of one vector already take 6 registers, so vectors go one by one.
  constexpr int kV = Real || kIntLanes < 16 ? NV : 1;
  unroll<NV / kV>([&](auto i) MOTE_LAMBDA {
    constexpr int kOffset = i * kV * kIntLanes;
    if (i == 0 || count > kOffset) requantize_vectors<Real, kV, i * kV>(e, out, first + kOffset, count - kOffset, accumulators);
  });
}
template <int MR, int NV>
MOTE_INLINE void requantize_and_store(const RegisterEpilogue& e, uint8_t* const* out, int32_t first, int32_t count,
                                      const Register (&accumulators)[MR][NV]) {
  if (e.real) requantize_rows<true, MR, NV>(e, out, first, count, accumulators);
  else requantize_rows<false, MR, NV>(e, out, first, count, accumulators);
}
template <int MR, int NV>
MOTE_INLINE void requantize_and_store(const RegisterEpilogue& e, int32_t first, int32_t count, const Register (&accumulators)[MR][NV]) {
  requantize_and_store(e, e.out, first, count, accumulators);
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
