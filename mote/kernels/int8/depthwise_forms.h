#pragma once

// Rows of bytes under a depthwise window, as x86 processors multiply them: columns of up to four taps, for many channels. A form gives:
//   kChannels, kRegisters        channels of a block, and registers for their sums
//   kSlotBytes                   weights of one column
//   Column, column<N>(rows, flip)   N rows (1 to 4) of a column; flip is xored to the bytes, which then count as u8
//   add<N>(sums, column, weights)   sums + products
//   kPixels                      outputs whose sums become bytes together: kByteLanes of them
//   place(i)                     where the sum of channel i % kChannels, output i / kChannels of those is kept
//   register_place(output, i)    where register i of an output is
//   bytes(v, bounds)             the sums of kPixels outputs, scaled, as bytes in order
//   store_weights(taps, main, rest)  a slot from four rows of weights, one for each channel; true: `rest`, what bytes do not hold, is not 0

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
  static MOTE_INLINE Vector low8(Vector a, Vector b) { return _mm256_unpacklo_epi8(a, b); }
  static MOTE_INLINE Vector high8(Vector a, Vector b) { return _mm256_unpackhi_epi8(a, b); }
  static MOTE_INLINE Vector low16(Vector a, Vector b) { return _mm256_unpacklo_epi16(a, b); }
  static MOTE_INLINE Vector high16(Vector a, Vector b) { return _mm256_unpackhi_epi16(a, b); }
#if defined(__AVX512VNNI__)
  static MOTE_INLINE Vector dot(Vector s, Vector x, Vector w) { return _mm256_dpbusd_epi32(s, x, w); }
#else
  static MOTE_INLINE Vector dot(Vector s, Vector x, Vector w) { return _mm256_dpbusd_avx_epi32(s, x, w); }
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
  static MOTE_INLINE Vector low8(Vector a, Vector b) { return _mm512_unpacklo_epi8(a, b); }
  static MOTE_INLINE Vector high8(Vector a, Vector b) { return _mm512_unpackhi_epi8(a, b); }
  static MOTE_INLINE Vector low16(Vector a, Vector b) { return _mm512_unpacklo_epi16(a, b); }
  static MOTE_INLINE Vector high16(Vector a, Vector b) { return _mm512_unpackhi_epi16(a, b); }
  static MOTE_INLINE Vector dot(Vector s, Vector x, Vector w) { return _mm512_dpbusd_epi32(s, x, w); }
};
#endif

// vpdpbusd. Taps are interleaved lane by lane (of 16 bytes): register i has channels 4i to 4i + 3 of every sixteen.
template <class V>
struct QuadForm : V {
  using Register = typename V::Vector;
  static constexpr int kChannels = V::kBytes, kRegisters = 4, kSlotBytes = kChannels * 4, kLanes = V::kBytes / 4;
  struct Column {
    Register quads[4];
  };
  template <int N>
  static MOTE_INLINE Column column(const uint8_t* const* rows, Register flip) {
    Register r[4];
    unroll<4>([&](auto i) MOTE_LAMBDA { r[i] = i < N ? V::flip(V::load(rows[i < N ? i : 0]), flip) : V::zero(); });
    const Register a = V::low8(r[0], r[1]), b = V::high8(r[0], r[1]);
    const Register c = N > 2 ? V::low8(r[2], r[3]) : V::zero(), d = N > 2 ? V::high8(r[2], r[3]) : V::zero();
    return {{V::low16(a, c), V::high16(a, c), V::low16(b, d), V::high16(b, d)}};
  }
  template <int>
  static MOTE_INLINE void add(Register* sums, const Column& x, const uint8_t* weights) {
    unroll<4>([&](auto i) MOTE_LAMBDA { sums[i] = V::dot(sums[i], x.quads[i], V::load(weights + i * V::kBytes)); });
  }
  static constexpr int kPixels = kByteLanes / kChannels;
  static constexpr int place(int i) { return i / 4 % 4 * kIntLanes + i / 16 * 4 + i % 4; }
  static constexpr int register_place(int output, int i) {
    return output / kPixels * kByteLanes + i * kIntLanes + output % kPixels * kLanes;
  }
  static MOTE_INLINE ByteVector bytes(const VI* v, const ByteBounds& b) { return join(v, b); }
  static bool store_weights(const int16_t* const* taps, uint8_t* main, uint8_t* rest) {
    const VI low = set_ints(-128), high = set_ints(127), byte = set_ints(255);
    VI any = hn::Zero(I32());
    for (int channel = 0; channel < kChannels; channel += kIntLanes) {
      VI own = hn::Zero(I32()), more = own;
      unroll<4>([&](auto t) MOTE_LAMBDA {
        const VI v = load_as_ints(taps[t] + channel, kIntLanes), near = hn::Min(high, hn::Max(low, v)), far = hn::Sub(v, near);
        own = hn::Or(own, hn::ShiftLeft<t * 8>(hn::And(near, byte)));
        more = hn::Or(more, hn::ShiftLeft<t * 8>(hn::And(far, byte)));
        any = hn::Or(any, far);
      });
      alignas(64) int32_t some[2][kIntLanes];
      hn::Store(own, I32(), some[0]);
      hn::Store(more, I32(), some[1]);
      for (int i = 0; i < kIntLanes; i += 4) {
        const int at = ((channel + i) / 4 % 4 * kLanes + (channel + i) / 16 * 4) * 4;
        store_block(load_block(reinterpret_cast<const uint8_t*>(some[0] + i)), main + at);
        store_block(load_block(reinterpret_cast<const uint8_t*>(some[1] + i)), rest + at);
      }
    }
    return !hn::AllTrue(I32(), hn::Eq(any, hn::Zero(I32())));
  }
};

#else

// vpmaddwd: pairs of taps as s16, eight channels to a register.
struct PairForm {
  using Register = __m256i;
  static constexpr int kChannels = 16, kRegisters = 2, kSlotBytes = 128;
  struct Column {
    Register pairs[2][2];  // of taps, of channels
  };
  static MOTE_INLINE Register load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
  static MOTE_INLINE void store(Register v, void* p) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }
  static MOTE_INLINE __m128i all(uint8_t v) { return _mm_set1_epi8(static_cast<char>(v)); }
  template <int N>
  static MOTE_INLINE Column column(const uint8_t* const* rows, __m128i flip) {
    Column c;
    unroll<2>([&](auto pair) MOTE_LAMBDA {
      constexpr int kFirst = pair * 2;
      if constexpr (kFirst < N) {
        const __m128i a = _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[kFirst])), flip);
        if constexpr (kFirst + 1 < N) {
          const __m128i b = _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[kFirst + 1])), flip);
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
  static constexpr int place(int i) { return i; }
  static constexpr int register_place(int output, int i) { return output * kChannels + i * 8; }
  static MOTE_INLINE ByteVector bytes(const VI* v, const ByteBounds& b) { return in_order(join(v, b)); }
  static bool store_weights(const int16_t* const* taps, uint8_t* main, uint8_t*) {
    for (int pair = 0; pair < 2; ++pair) {
      for (int half = 0; half < 2; ++half) {
        const auto row = [&](int tap) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(taps[pair * 2 + tap] + half * 8)); };
        const __m128i a = row(0), b = row(1);
        store(_mm256_set_m128i(_mm_unpackhi_epi16(a, b), _mm_unpacklo_epi16(a, b)), main + (pair * 2 + half) * 32);
      }
    }
    return false;
  }
};

#endif

}  // namespace mote::kernels::MOTE_ISA_NAME
