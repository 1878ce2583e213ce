#pragma once

// Rows of bytes under a depthwise window, as x86 processors multiply them: columns of up to four taps, for many channels. A form gives:
//   kChannels, kRegisters, kLanes   channels of a block, registers for their sums, and sums in each
//   place(c)                        where channel c is among these sums; the same for fours of neighbours
//   kSlotBytes, kWords              weights of one column, and words of 32 bits that each channel has of them
//   word<W>(taps)                   word W of four weights of a channel, each a vector
//   word_place(c)                   where word W of channel c is in a slot, in words, from word_place(0) + W * kWordStep on
//   Column, column<N>(taps, flip)   N taps (1 to 4), each a row of channels; flip is xored to the bytes, which then count as u8
//   add<N>(sums, column, weights)   sums + products
//   kPixels                         outputs that become bytes together: kByteLanes of them
//   together(sums, v)               the sums of kPixels outputs as four vectors; vector i has those of register i % kRegisters
//   bytes(v, bounds)                these, scaled, as bytes in order
//   store_bytes<P>(bytes, to)       the bytes of output P
//   store_some_bytes<P>(bytes, count, to)  the first of them

#include "mote/kernels/int8/dot.h"
#include "mote/kernels/int8/narrow_x86.h"

namespace mote::kernels::MOTE_ISA_NAME {

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)

struct Wide256 {
  using Vector = __m256i;
  static constexpr int kBytes = 32;
  static MOTE_INLINE Vector zero() { return _mm256_setzero_si256(); }
  static MOTE_INLINE Vector load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
  static MOTE_INLINE void store(Vector v, void* p) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }
  static MOTE_INLINE Vector all(uint8_t v) { return _mm256_set1_epi8(static_cast<char>(v)); }
  static MOTE_INLINE Vector flip(Vector a, Vector b) { return _mm256_xor_si256(a, b); }
  static MOTE_INLINE Vector sum(Vector a, Vector b) { return _mm256_add_epi32(a, b); }
  static MOTE_INLINE Vector low8(Vector a, Vector b) { return _mm256_unpacklo_epi8(a, b); }
  static MOTE_INLINE Vector high8(Vector a, Vector b) { return _mm256_unpackhi_epi8(a, b); }
  static MOTE_INLINE Vector low16(Vector a, Vector b) { return _mm256_unpacklo_epi16(a, b); }
  static MOTE_INLINE Vector high16(Vector a, Vector b) { return _mm256_unpackhi_epi16(a, b); }
#if defined(__AVX512VNNI__)
  static MOTE_INLINE Vector dot(Vector s, Vector x, Vector w) { return _mm256_dpbusd_epi32(s, x, w); }
  static MOTE_INLINE VI ints(Vector a, Vector b) { return VI{_mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1)}; }
  template <int P>
  static MOTE_INLINE Vector part(ByteVector v) {
    return _mm512_extracti64x4_epi64(v, P);
  }
#else
  static MOTE_INLINE Vector dot(Vector s, Vector x, Vector w) { return _mm256_dpbusd_avx_epi32(s, x, w); }
  static MOTE_INLINE VI ints(Vector a, Vector) { return VI{a}; }
  template <int>
  static MOTE_INLINE Vector part(ByteVector v) {
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
  static MOTE_INLINE Vector all(uint8_t v) { return _mm512_set1_epi8(static_cast<char>(v)); }
  static MOTE_INLINE Vector flip(Vector a, Vector b) { return _mm512_xor_si512(a, b); }
  static MOTE_INLINE Vector sum(Vector a, Vector b) { return _mm512_add_epi32(a, b); }
  static MOTE_INLINE Vector low8(Vector a, Vector b) { return _mm512_unpacklo_epi8(a, b); }
  static MOTE_INLINE Vector high8(Vector a, Vector b) { return _mm512_unpackhi_epi8(a, b); }
  static MOTE_INLINE Vector low16(Vector a, Vector b) { return _mm512_unpacklo_epi16(a, b); }
  static MOTE_INLINE Vector high16(Vector a, Vector b) { return _mm512_unpackhi_epi16(a, b); }
  static MOTE_INLINE Vector dot(Vector s, Vector x, Vector w) { return _mm512_dpbusd_epi32(s, x, w); }
  static MOTE_INLINE VI ints(Vector a, Vector) { return VI{a}; }
  template <int>
  static MOTE_INLINE Vector part(ByteVector v) {
    return v;
  }
};
#endif

// vpdpbusd. Taps are interleaved lane by lane (of 16 bytes): register i has channels 4i to 4i + 3 of every sixteen.
template <class V>
struct QuadForm : V {
  using Register = typename V::Vector;
  static constexpr int kChannels = V::kBytes, kRegisters = 4, kLanes = V::kBytes / 4;
  static constexpr int place(int c) { return c / 4 % 4 * kLanes + c / 16 * 4 + c % 4; }
  static constexpr int kSlotBytes = kChannels * 4, kWords = 1, kWordStep = 0;
  template <int>
  static MOTE_INLINE VI word(const VI* taps) {
    const VI byte = set_ints(255);
    const VI low = hn::Or(hn::And(taps[0], byte), hn::ShiftLeft<8>(hn::And(taps[1], byte)));
    return hn::Or(low, hn::Or(hn::ShiftLeft<16>(hn::And(taps[2], byte)), hn::ShiftLeft<24>(taps[3])));
  }
  static constexpr int word_place(int c) { return place(c); }

  struct Column {
    Register quads[4];
  };
  template <int N>
  static MOTE_INLINE Column column(const uint8_t* const* taps, Register flip) {
    Register r[4];
    unroll<4>([&](auto i) MOTE_LAMBDA { r[i] = i < N ? V::flip(V::load(taps[i < N ? i : 0]), flip) : V::zero(); });
    const Register a = V::low8(r[0], r[1]), b = V::high8(r[0], r[1]), c = V::low8(r[2], r[3]), d = V::high8(r[2], r[3]);
    return {{V::low16(a, c), V::high16(a, c), V::low16(b, d), V::high16(b, d)}};
  }
  template <int>
  static MOTE_INLINE void add(Register* sums, const Column& x, const uint8_t* weights) {
    unroll<4>([&](auto i) MOTE_LAMBDA { sums[i] = V::dot(sums[i], x.quads[i], V::load(weights + i * V::kBytes)); });
  }

  static constexpr int kPixels = kByteLanes / kChannels;
  static MOTE_INLINE void together(const Register (*sums)[4], VI* v) {
    unroll<4>([&](auto i) MOTE_LAMBDA { v[i] = V::ints(sums[0][i], sums[kPixels - 1][i]); });
  }
  static MOTE_INLINE ByteVector bytes(const VI* v, const ByteBounds& b) { return join(v, b); }
  template <int P>
  static MOTE_INLINE void store_bytes(ByteVector v, uint8_t* to) {
    V::store(V::template part<P>(v), to);
  }
  template <int>
  static MOTE_INLINE void store_some_bytes(ByteVector v, int32_t count, uint8_t* to) {
    static_assert(kPixels == 1);
    store_some(v, count, to);
  }
};

#else

// vpmaddwd: pairs of taps as s16, eight channels to a register.
struct PairForm {
  using Register = __m256i;
  static constexpr int kChannels = 16, kRegisters = 2, kLanes = 8;
  static constexpr int place(int c) { return c; }
  static constexpr int kSlotBytes = 128, kWords = 2, kWordStep = 16;
  template <int W>
  static MOTE_INLINE VI word(const VI* taps) {
    return hn::Or(hn::And(taps[2 * W], set_ints(0xffff)), hn::ShiftLeft<16>(taps[2 * W + 1]));
  }
  static constexpr int word_place(int c) { return c; }

  struct Column {
    Register pairs[2][2];  // of taps, of channels
  };
  static MOTE_INLINE Register load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
  static MOTE_INLINE void store(Register v, void* p) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }
  static MOTE_INLINE Register sum(Register a, Register b) { return _mm256_add_epi32(a, b); }
  static MOTE_INLINE __m128i all(uint8_t v) { return _mm_set1_epi8(static_cast<char>(v)); }
  template <int N>
  static MOTE_INLINE Column column(const uint8_t* const* taps, __m128i flip) {
    Column c;
    unroll<2>([&](auto pair) MOTE_LAMBDA {
      constexpr int kFirst = pair * 2;
      if constexpr (kFirst < N) {
        const __m128i a = _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(taps[kFirst])), flip);
        if constexpr (kFirst + 1 < N) {
          const __m128i b = _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(taps[kFirst + 1])), flip);
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
  static MOTE_INLINE void add(Register* sums, const Column& x, const uint8_t* weights) {
    unroll<(N + 1) / 2>([&](auto pair) MOTE_LAMBDA {
      unroll<2>([&](auto half) MOTE_LAMBDA {
        sums[half] = _mm256_add_epi32(sums[half], _mm256_madd_epi16(x.pairs[pair][half], load(weights + (pair * 2 + half) * 32)));
      });
    });
  }

  static constexpr int kPixels = kByteLanes / kChannels;
  static MOTE_INLINE void together(const Register (*sums)[2], VI* v) {
    unroll<4>([&](auto i) MOTE_LAMBDA { v[i] = VI{sums[i / 2][i % 2]}; });
  }
  static MOTE_INLINE ByteVector bytes(const VI* v, const ByteBounds& b) { return in_order(join(v, b)); }
  template <int P>
  static MOTE_INLINE void store_bytes(ByteVector v, uint8_t* to) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_extracti128_si256(v, P));
  }
  template <int P>
  static MOTE_INLINE void store_some_bytes(ByteVector v, int32_t count, uint8_t* to) {
    if (count >= 16) return store_bytes<P>(v, to);
    alignas(16) uint8_t some[16];
    store_bytes<P>(v, some);
    copy_exactly(to, some, count);
  }
};

#endif

}  // namespace mote::kernels::MOTE_ISA_NAME
