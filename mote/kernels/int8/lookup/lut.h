#pragma once

// A lookup table of 256 bytes, applied to a vector of bytes by permutes of 16-byte parts: Lut(table), lut(vector), lut.at(byte).

#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

using LutBytes = hn::CappedTag<uint8_t, 64>;

#if HWY_ARCH_X86

// pshufb selects by the low four bits of indices below 128 and gives 0 for others. Part k is looked up with index - 16 * k, so it
// contributes for every index from 16 * k on; parts are therefore stored as the xor with the part before, and the xor of all contributions
// is the table's entry. Without saturation, indices from 128 on would contribute again at k - 8 for k up to 7; the parts from 8 on cancel
// that.
class Lut {
 public:
  explicit Lut(const uint8_t* table) : table_(table) {
    const hn::FixedTag<uint8_t, 16> d;
    const auto part = [&](int k) { return k < 0 ? hn::Zero(d) : hn::LoadU(d, table + 16 * k); };
    for (int k = 0; k < 16; ++k) {
      auto v = hn::Xor(part(k), part(k - 1));
      if (k >= 8) v = hn::Xor(v, hn::Xor(part(k - 8), part(k - 9)));
      hn::Store(v, d, parts_ + 16 * k);
    }
  }
  MOTE_INLINE hn::Vec<LutBytes> operator()(hn::Vec<LutBytes> index) const {
    const LutBytes d;
    const hn::RebindToSigned<LutBytes> s;
    const auto sixteen = hn::Set(d, uint8_t{16});
    auto found = hn::TableLookupBytesOr0(hn::LoadDup128(d, parts_), index);
    unroll<15>([&](auto i) MOTE_LAMBDA {
      constexpr int k = i + 1;
      if constexpr (k <= 8) index = hn::Sub(index, sixteen);
      else index = hn::BitCast(d, hn::SaturatedSub(hn::BitCast(s, index), hn::BitCast(s, sixteen)));
      found = hn::Xor(found, hn::TableLookupBytesOr0(hn::LoadDup128(d, parts_ + 16 * k), index));
    });
    return found;
  }
  uint8_t at(uint8_t index) const { return table_[index]; }

 private:
  const uint8_t* table_;
  alignas(64) uint8_t parts_[256];
};

#else

// tbl gives 0 for indices above 15: of the xored index, only bytes with this part's upper four bits are below 16.
class Lut {
 public:
  explicit Lut(const uint8_t* table) : table_(table) {}
  MOTE_INLINE hn::Vec<LutBytes> operator()(hn::Vec<LutBytes> index) const {
    const LutBytes d;
    auto found = hn::Zero(d);
    for (int part = 0; part < 16; ++part) {
      const auto low = hn::Xor(index, hn::Set(d, static_cast<uint8_t>(part * 16)));
      found = hn::Or(found, hn::TableLookupBytesOr0(hn::LoadDup128(d, table_ + part * 16), low));
    }
    return found;
  }
  uint8_t at(uint8_t index) const { return table_[index]; }

 private:
  const uint8_t* table_;
};

#endif

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
