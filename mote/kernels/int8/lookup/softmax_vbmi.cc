#include "mote/kernels/int8/lookup/softmax.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {
namespace {

// Each of the four bytes of an exponential has a table in four registers. Results are interleaved within 128-bit lanes; packing to bytes
// undoes that order.
class VbmiExpTable {
 public:
  explicit VbmiExpTable(const int32_t* exponentials) {
    alignas(64) uint8_t bytes[4][256];
    for (int k = 0; k < 4; ++k)
      for (int i = 0; i < 256; ++i) bytes[k][i] = static_cast<uint8_t>(exponentials[i] >> (8 * k));
    unroll<16>([&](auto i) MOTE_LAMBDA { bytes_[i / 4][i % 4] = _mm512_load_si512(bytes[i / 4] + 64 * (i % 4)); });
  }
  MOTE_INLINE void look_up(hn::Vec<Block8> distance, int32_t count, int32_t* out) const {
    const __mmask64 lanes = count < 64 ? (__mmask64{1} << count) - 1 : ~__mmask64{0}, high = _mm512_movepi8_mask(distance.raw);
    __m512i b[4];
    unroll<4>([&](auto k) MOTE_LAMBDA {
      const __m512i* t = bytes_[k];
      b[k] = _mm512_or_si512(_mm512_maskz_permutex2var_epi8(lanes & ~high, t[0], distance.raw, t[1]),
                             _mm512_maskz_permutex2var_epi8(lanes & high, t[2], distance.raw, t[3]));
    });
    const __m512i low[2] = {_mm512_unpacklo_epi8(b[0], b[1]), _mm512_unpackhi_epi8(b[0], b[1])},
                  top[2] = {_mm512_unpacklo_epi8(b[2], b[3]), _mm512_unpackhi_epi8(b[2], b[3])};
    unroll<2>([&](auto k) MOTE_LAMBDA {
      _mm512_store_si512(out + 32 * k, _mm512_unpacklo_epi16(low[k], top[k]));
      _mm512_store_si512(out + 32 * k + 16, _mm512_unpackhi_epi16(low[k], top[k]));
    });
  }
  static MOTE_INLINE void store(const VI* v, const ByteClampRange& bounds, int32_t count, uint8_t* y) {
    store_partial(pack_to_bytes(v, bounds), count, y);
  }

 private:
  __m512i bytes_[4][4];
};

}  // namespace

// 8-bit outputs alone: 16-bit ones would need the lanes in order.
KernelFn select_q_softmax(const OpContext& c) noexcept {
  return supports_softmax(c) && dtype_bytes(c.output(0).dtype()) == 1 ? &softmax_s8<VbmiExpTable> : nullptr;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
