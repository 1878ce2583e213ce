#pragma once

// Tap layouts: how x86 processors multiply a column of up to four taps of a depthwise window, for many channels at a time. A layout gives:
//   kChannels, kRegisters, kLanes     channels of a block, accumulator registers for them, and accumulators in each
//   lane_of(c)                        index of channel c among the accumulators; neighbours stay together by fours
//   kSlotBytes, kWords                bytes of the weights of one column (a slot), and 32-bit words of a channel among them
//   pack_word<W>(taps)                word W of a channel from four weights, each a vector
//   word_index(c)                     index of word 0 of channel c in a slot; word W is W * kWordStep further
//   Column, load_column<N>(taps, m)   N (1 to 4) taps, each a row of channels; m is xored to the bytes, which then count as u8
//   accumulate<N>(acc, column, w)     acc += column * w
//   kPixels                           outputs that fill a register of bytes
//   gather(acc, v)                    accumulators of kPixels outputs as four vectors; vector i has those of register i % kRegisters
//   to_bytes(v, clamp)                requantized vectors as bytes, channels in order
//   store_bytes<P>(bytes, to)         the bytes of output P
//   store_partial_bytes<P>(bytes, n, to)   the first n of them

#include "mote/kernels/int8/dot/dot.h"
#include "mote/kernels/int8/requantize/narrow_x86.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)

struct Wide256 {
  using Vector = __m256i;
  static constexpr int kBytes = 32;
  static MOTE_INLINE Vector zero() { return _mm256_setzero_si256(); }
  static MOTE_INLINE Vector load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
  static MOTE_INLINE void store(Vector v, void* p) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }
  static MOTE_INLINE Vector broadcast(uint8_t v) { return _mm256_set1_epi8(static_cast<char>(v)); }
  static MOTE_INLINE Vector bit_xor(Vector a, Vector b) { return _mm256_xor_si256(a, b); }
  static MOTE_INLINE Vector add_ints(Vector a, Vector b) { return _mm256_add_epi32(a, b); }
  static MOTE_INLINE Vector unpack_low8(Vector a, Vector b) { return _mm256_unpacklo_epi8(a, b); }
  static MOTE_INLINE Vector unpack_high8(Vector a, Vector b) { return _mm256_unpackhi_epi8(a, b); }
  static MOTE_INLINE Vector unpack_low16(Vector a, Vector b) { return _mm256_unpacklo_epi16(a, b); }
  static MOTE_INLINE Vector unpack_high16(Vector a, Vector b) { return _mm256_unpackhi_epi16(a, b); }
#if defined(__AVX512VNNI__)
  static MOTE_INLINE Vector dot(Vector acc, Vector x, Vector w) { return _mm256_dpbusd_epi32(acc, x, w); }
  static MOTE_INLINE VI to_ints(Vector a, Vector b) { return VI{_mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1)}; }
  template <int P>
  static MOTE_INLINE Vector extract(ByteVector v) {
    return _mm512_extracti64x4_epi64(v, P);
  }
#else
  static MOTE_INLINE Vector dot(Vector acc, Vector x, Vector w) { return _mm256_dpbusd_avx_epi32(acc, x, w); }
  static MOTE_INLINE VI to_ints(Vector a, Vector) { return VI{a}; }
  template <int>
  static MOTE_INLINE Vector extract(ByteVector v) {
    return v;
  }
#endif
};

#if defined(__AVX512VNNI__)
struct Wide512 {
  using Vector = __m512i;
  static constexpr int kBytes = 64;
  static MOTE_INLINE Vector zero() { return _mm512_setzero_si512(); }
  static MOTE_INLINE Vector load(const void* p) { return _mm512_loadu_si512(p); }
  static MOTE_INLINE void store(Vector v, void* p) { _mm512_storeu_si512(p, v); }
  static MOTE_INLINE Vector broadcast(uint8_t v) { return _mm512_set1_epi8(static_cast<char>(v)); }
  static MOTE_INLINE Vector bit_xor(Vector a, Vector b) { return _mm512_xor_si512(a, b); }
  static MOTE_INLINE Vector add_ints(Vector a, Vector b) { return _mm512_add_epi32(a, b); }
  static MOTE_INLINE Vector unpack_low8(Vector a, Vector b) { return _mm512_unpacklo_epi8(a, b); }
  static MOTE_INLINE Vector unpack_high8(Vector a, Vector b) { return _mm512_unpackhi_epi8(a, b); }
  static MOTE_INLINE Vector unpack_low16(Vector a, Vector b) { return _mm512_unpacklo_epi16(a, b); }
  static MOTE_INLINE Vector unpack_high16(Vector a, Vector b) { return _mm512_unpackhi_epi16(a, b); }
  static MOTE_INLINE Vector dot(Vector acc, Vector x, Vector w) { return _mm512_dpbusd_epi32(acc, x, w); }
  static MOTE_INLINE VI to_ints(Vector a, Vector) { return VI{a}; }
  template <int>
  static MOTE_INLINE Vector extract(ByteVector v) {
    return v;
  }
};
#endif

// vpdpbusd. The taps of a channel are interleaved within 128-bit lanes: register i has channels 4i to 4i + 3 of every sixteen.
template <class V>
struct QuadTaps : V {
  using Register = typename V::Vector;
  static constexpr int kChannels = V::kBytes, kRegisters = 4, kLanes = V::kBytes / 4;
  static constexpr int lane_of(int c) { return c / 4 % 4 * kLanes + c / 16 * 4 + c % 4; }
  static constexpr int kSlotBytes = kChannels * 4, kWords = 1, kWordStep = 0;
  template <int>
  static MOTE_INLINE VI pack_word(const VI* taps) {
    const VI byte = set_ints(255);
    const VI low = hn::Or(hn::And(taps[0], byte), hn::ShiftLeft<8>(hn::And(taps[1], byte)));
    return hn::Or(low, hn::Or(hn::ShiftLeft<16>(hn::And(taps[2], byte)), hn::ShiftLeft<24>(taps[3])));
  }
  static constexpr int word_index(int c) { return lane_of(c); }

  struct Column {
    Register quads[4];
  };
  template <int N>
  static MOTE_INLINE Column load_column(const uint8_t* const* taps, Register mask) {
    Register r[4];
    unroll<4>([&](auto i) MOTE_LAMBDA { r[i] = i < N ? V::bit_xor(V::load(taps[i < N ? i : 0]), mask) : V::zero(); });
    const Register a = V::unpack_low8(r[0], r[1]), b = V::unpack_high8(r[0], r[1]), c = V::unpack_low8(r[2], r[3]),
                   d = V::unpack_high8(r[2], r[3]);
    return {{V::unpack_low16(a, c), V::unpack_high16(a, c), V::unpack_low16(b, d), V::unpack_high16(b, d)}};
  }
  template <int>
  static MOTE_INLINE void accumulate(Register* acc, const Column& x, const uint8_t* weights) {
    unroll<4>([&](auto i) MOTE_LAMBDA { acc[i] = V::dot(acc[i], x.quads[i], V::load(weights + i * V::kBytes)); });
  }

  static constexpr int kPixels = kByteLanes / kChannels;
  static MOTE_INLINE void gather(const Register (*acc)[4], VI* v) {
    unroll<4>([&](auto i) MOTE_LAMBDA { v[i] = V::to_ints(acc[0][i], acc[kPixels - 1][i]); });
  }
  static MOTE_INLINE ByteVector to_bytes(const VI* v, const ByteClampRange& b) { return pack_to_bytes(v, b); }
  template <int P>
  static MOTE_INLINE void store_bytes(ByteVector v, uint8_t* to) {
    V::store(V::template extract<P>(v), to);
  }
  template <int>
  static MOTE_INLINE void store_partial_bytes(ByteVector v, int32_t count, uint8_t* to) {
    static_assert(kPixels == 1);
    store_partial(v, count, to);
  }
};

#else

// vpmaddwd: pairs of taps as s16, eight channels to a register.
struct PairTaps {
  using Register = __m256i;
  static constexpr int kChannels = 16, kRegisters = 2, kLanes = 8;
  static constexpr int lane_of(int c) { return c; }
  static constexpr int kSlotBytes = 128, kWords = 2, kWordStep = 16;
  template <int W>
  static MOTE_INLINE VI pack_word(const VI* taps) {
    return hn::Or(hn::And(taps[2 * W], set_ints(0xffff)), hn::ShiftLeft<16>(taps[2 * W + 1]));
  }
  static constexpr int word_index(int c) { return c; }

  struct Column {
    Register pairs[2][2];  // [pair of taps][half of the channels]
  };
  static MOTE_INLINE Register load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
  static MOTE_INLINE void store(Register v, void* p) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }
  static MOTE_INLINE Register add_ints(Register a, Register b) { return _mm256_add_epi32(a, b); }
  static MOTE_INLINE __m128i broadcast(uint8_t v) { return _mm_set1_epi8(static_cast<char>(v)); }
  template <int N>
  static MOTE_INLINE Column load_column(const uint8_t* const* taps, __m128i mask) {
    Column c;
    unroll<2>([&](auto pair) MOTE_LAMBDA {
      constexpr int kFirst = pair * 2;
      if constexpr (kFirst < N) {
        const __m128i a = _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(taps[kFirst])), mask);
        if constexpr (kFirst + 1 < N) {
          const __m128i b = _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(taps[kFirst + 1])), mask);
          c.pairs[pair][0] = _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(a, b));
          c.pairs[pair][1] = _mm256_cvtepu8_epi16(_mm_unpackhi_epi8(a, b));
        } else {
          c.pairs[pair][0] = _mm256_cvtepu8_epi32(a);
          c.pairs[pair][1] = _mm256_cvtepu8_epi32(_mm_unpackhi_epi64(a, a));
        }
      } else {
        c.pairs[pair][0] = c.pairs[pair][1] = _mm256_setzero_si256();
      }
    });
    return c;
  }
  template <int N>
  static MOTE_INLINE void accumulate(Register* acc, const Column& x, const uint8_t* weights) {
    unroll<(N + 1) / 2>([&](auto pair) MOTE_LAMBDA {
      unroll<2>([&](auto half) MOTE_LAMBDA {
        acc[half] = _mm256_add_epi32(acc[half], _mm256_madd_epi16(x.pairs[pair][half], load(weights + (pair * 2 + half) * 32)));
      });
    });
  }

  static constexpr int kPixels = kByteLanes / kChannels;
  static MOTE_INLINE void gather(const Register (*acc)[2], VI* v) {
    unroll<4>([&](auto i) MOTE_LAMBDA { v[i] = VI{acc[i / 2][i % 2]}; });
  }
  static MOTE_INLINE ByteVector to_bytes(const VI* v, const ByteClampRange& b) { return restore_lane_order(pack_to_bytes(v, b)); }
  template <int P>
  static MOTE_INLINE void store_bytes(ByteVector v, uint8_t* to) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_extracti128_si256(v, P));
  }
  template <int P>
  static MOTE_INLINE void store_partial_bytes(ByteVector v, int32_t count, uint8_t* to) {
    if (count >= 16) return store_bytes<P>(v, to);
    alignas(16) uint8_t buffer[16];
    store_bytes<P>(v, buffer);
    copy_exactly(to, buffer, count);
  }
};

#endif

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
