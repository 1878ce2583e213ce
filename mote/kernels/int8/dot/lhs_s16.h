#pragma once

// The s16 LHS of dot_madd.h and dot_wasm.h, which include this file after they have defined their registers.

namespace mote::kernels::MOTE_ISA_NAME::int8 {

// Packs weights minus their zero point, 16 channels of four taps. All of them fit s16, so `rest` is never needed.
inline constexpr int kTapGroupBytes = 128;
inline bool pack_tap_group(const int16_t* taps, uint8_t* main, uint8_t* /*rest*/) {
  __builtin_memcpy(main, taps, kTapGroupBytes);
  return false;
}

// Encodes an 8-bit value x as the LHS element x - offset(), where the offset is the zero point.
class LhsEncoding {
 public:
  LhsEncoding(bool is_signed, int32_t zero) : signed_(is_signed), zero_(zero) {}
  int32_t offset() const { return zero_; }
  // Elements are wider than the input bytes, so rows are never read in place.
  bool is_identity() const { return false; }
  // The byte that is encoded as 0.
  uint8_t byte_for_zero() const { return static_cast<uint8_t>(zero_); }

  // Encodes 64 values; with Sum returns the sum of the elements.
#if defined(__AVX512BW__)
  template <bool Sum>
  MOTE_INLINE int32_t convert(__m512i x, Lhs* out) const {
    const Register low = subtract_s16(widen(_mm512_castsi512_si256(x), signed_), zero_);
    const Register high = subtract_s16(widen(_mm512_extracti64x4_epi64(x, 1), signed_), zero_);
    store_register(out, low);
    store_register(out + 32, high);
    return Sum ? _mm512_reduce_add_epi32(add(add_pairs(low), add_pairs(high))) : 0;
  }
#else
  template <bool Sum>
  MOTE_INLINE int32_t convert64(const uint8_t* x, Lhs* out) const {
    constexpr int kElements = sizeof(Register) / sizeof(Lhs), kRegisters16 = 16 / kElements;
    Register total = zero_register();
    unroll<4>([&](auto i) MOTE_LAMBDA {
      Register v[kRegisters16];
      widen_bytes16(load_bytes16(x + i * 16), signed_, v);
      unroll<kRegisters16>([&](auto k) MOTE_LAMBDA {
        v[k] = subtract_s16(v[k], zero_);
        store_register(out + i * 16 + k * kElements, v[k]);
        if (Sum) total = add(total, add_pairs(v[k]));
      });
    });
    const hn::CappedTag<int32_t, sizeof(Register) / 4> d;
    return Sum ? hn::GetLane(hn::SumOfLanes(d, hn::Vec<decltype(d)>{total})) : 0;
  }
#endif

  // Interleaves 16 channels of four taps into K groups: 16 / kVectorOutputs registers.
  MOTE_INLINE void interleave_taps(Bytes16 a, Bytes16 b, Bytes16 c, Bytes16 d, Register* out) const {
    Bytes16 taps[4];
    interleave(a, b, c, d, taps);
    widen_taps(taps, signed_, out);
    unroll<16 / kVectorOutputs>([&](auto i) { out[i] = subtract_s16(out[i], zero_); });
  }

 private:
  bool signed_;
  int32_t zero_;
};

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
