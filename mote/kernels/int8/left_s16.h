#pragma once

// A left side of s16, its zero point taken off, over the registers of dot_madd.h and dot_wasm.h, which include this.

namespace mote::kernels::MOTE_ISA_NAME {

// Weights less their zero point, 16 channels of four taps, as kColumnBytes bytes. Nothing is left over for `rest`.
inline constexpr int kColumnBytes = 128;
inline bool pack_column(const int16_t* taps, uint8_t* main, uint8_t* /*rest*/) {
  __builtin_memcpy(main, taps, kColumnBytes);
  return false;
}

// How a value x of 8 bits becomes an element of the left side: x - offset(), where the offset is the zero point.
class LeftForm {
 public:
  LeftForm(bool is_signed, int32_t zero) : signed_(is_signed), zero_(zero) {}
  int32_t offset() const { return zero_; }
  // Elements are the values' bytes as they are.
  bool same() const { return false; }
  // The byte that becomes 0.
  uint8_t blank() const { return static_cast<uint8_t>(zero_); }

  // 64 values; returns the sum of the elements with `Sum`.
#if defined(__AVX512BW__)
  template <bool Sum>
  MOTE_INLINE int32_t convert(__m512i x, Left* out) const {
    const Register low = subtract(widen(_mm512_castsi512_si256(x), signed_), zero_);
    const Register high = subtract(widen(_mm512_extracti64x4_epi64(x, 1), signed_), zero_);
    store_register(out, low);
    store_register(out + 32, high);
    return Sum ? _mm512_reduce_add_epi32(add(pair_sums(low), pair_sums(high))) : 0;
  }
#else
  template <bool Sum>
  MOTE_INLINE int32_t convert64(const uint8_t* x, Left* out) const {
    constexpr int kElements = sizeof(Register) / sizeof(Left), kRegisters16 = 16 / kElements;
    Register total = zero_register();
    unroll<4>([&](auto i) MOTE_LAMBDA {
      Register v[kRegisters16];
      widen_16(load_16(x + i * 16), signed_, v);
      unroll<kRegisters16>([&](auto k) MOTE_LAMBDA {
        v[k] = subtract(v[k], zero_);
        store_register(out + i * 16 + k * kElements, v[k]);
        if (Sum) total = add(total, pair_sums(v[k]));
      });
    });
    const hn::CappedTag<int32_t, sizeof(Register) / 4> d;
    return Sum ? hn::GetLane(hn::SumOfLanes(d, hn::Vec<decltype(d)>{total})) : 0;
  }
#endif

  // 16 channels of four taps, for 16 / kVectorOutputs registers of taps' weights.
  MOTE_INLINE void columns(Bytes16 a, Bytes16 b, Bytes16 c, Bytes16 d, Register* out) const {
    Bytes16 taps[4];
    interleave(a, b, c, d, taps);
    widen_taps(taps, signed_, out);
    unroll<16 / kVectorOutputs>([&](auto i) { out[i] = subtract(out[i], zero_); });
  }

 private:
  bool signed_;
  int32_t zero_;
};

}  // namespace mote::kernels::MOTE_ISA_NAME
