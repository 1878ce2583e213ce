#include "mote/kernels/int8/softmax.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

// The four bytes of exponentials each in a table of four registers. They are put together lane by lane, as packing takes them apart again.
class Table {
 public:
  explicit Table(const int32_t* exponentials) {
    for (int byte = 0; byte < 4; ++byte)
      for (int i = 0; i < 256; ++i) bytes_[byte][i] = static_cast<uint8_t>(exponentials[i] >> (8 * byte));
  }
  MOTE_INLINE void look_up(hn::Vec<hn::CappedTag<uint8_t, kBlock>> below, int32_t count, int32_t* out) const {
    const __mmask64 counts = count < 64 ? (__mmask64{1} << count) - 1 : ~__mmask64{0}, high = _mm512_movepi8_mask(below.raw);
    __m512i b[4];
    unroll<4>([&](auto k) MOTE_LAMBDA {
      const uint8_t* t = bytes_[k];
      b[k] =
          _mm512_or_si512(_mm512_maskz_permutex2var_epi8(counts & ~high, _mm512_load_si512(t), below.raw, _mm512_load_si512(t + 64)),
                          _mm512_maskz_permutex2var_epi8(counts & high, _mm512_load_si512(t + 128), below.raw, _mm512_load_si512(t + 192)));
    });
    const __m512i low[2] = {_mm512_unpacklo_epi8(b[0], b[1]), _mm512_unpackhi_epi8(b[0], b[1])},
                  top[2] = {_mm512_unpacklo_epi8(b[2], b[3]), _mm512_unpackhi_epi8(b[2], b[3])};
    unroll<2>([&](auto k) MOTE_LAMBDA {
      _mm512_store_si512(out + 32 * k, _mm512_unpacklo_epi16(low[k], top[k]));
      _mm512_store_si512(out + 32 * k + 16, _mm512_unpackhi_epi16(low[k], top[k]));
    });
  }
  static MOTE_INLINE void store(const VI* v, const ByteBounds& bounds, int32_t count, uint8_t* y) { store_some(join(v, bounds), count, y); }

 private:
  alignas(64) uint8_t bytes_[4][256];
};

}  // namespace

// Bytes alone: wider results would have to be put in order.
KernelFn select_q_softmax(const OpContext& c) noexcept {
  return can_softmax(c) && dtype_bytes(c.output(0).dtype()) == 1 ? &run_softmax<Table> : nullptr;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
