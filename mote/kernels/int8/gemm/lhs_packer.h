#pragma once

// Packs one LHS row (or run): the row source puts pieces of input bytes, the packer encodes them in chunks of 64 elements. The last chunk
// is written whole, so the destination needs room for up to 63 elements more.

#include "mote/kernels/int8/dot/dot.h"
#include "mote/kernels/int8/requantize/bytes.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

inline constexpr int kChunk = 64;  // elements encoded at a time

#if defined(__AVX512BW__)
// Assembles a chunk in a register: masked loads put each piece at its place.
template <bool Sum>
class LhsPacker {
 public:
  MOTE_INLINE LhsPacker(const LhsEncoding& encoding, uint8_t zero, int32_t /*k*/, Lhs* to, uint8_t* /*buffer*/)
      : encoding_(encoding), blank_(_mm512_set1_epi8(static_cast<char>(encoding.byte_for_zero()))), zero_(zero), chunk_(blank_), to_(to) {}

  // Appends n bytes; null appends zero points.
  MOTE_INLINE void put(const uint8_t* from, int32_t n) {
    if (filled_ == 0 && from != nullptr) {
      for (; n >= kChunk; n -= kChunk, from += kChunk, to_ += kChunk) sum_ += encoding_.convert<Sum>(_mm512_loadu_si512(from), to_);
    }
    while (n > 0) {
      const int32_t count = n < kChunk - filled_ ? n : kChunk - filled_;
      const __mmask64 mask = (~uint64_t{0} >> (kChunk - count)) << filled_;
      chunk_ = from != nullptr ? _mm512_mask_loadu_epi8(chunk_, mask, from - filled_)
                               : _mm512_mask_mov_epi8(chunk_, mask, _mm512_set1_epi8(static_cast<char>(zero_)));
      if (from != nullptr) from += count;
      n -= count;
      if ((filled_ += count) == kChunk) flush();
    }
  }
  // Encodes the last, partial chunk. With Sum returns the sum of all elements.
  MOTE_INLINE int32_t finish() {
    if (filled_ > 0) flush();
    return sum_;
  }

 private:
  MOTE_INLINE void flush() {
    sum_ += encoding_.convert<Sum>(chunk_, to_);
    to_ += kChunk;
    filled_ = 0;
    chunk_ = blank_;
  }

  const LhsEncoding& encoding_;
  __m512i blank_;
  uint8_t zero_;
  __m512i chunk_;
  Lhs* to_;
  int32_t filled_ = 0, sum_ = 0;
};
#else
// Copies the pieces into `buffer` (k + 64 bytes) and encodes them from there; a row that is a single piece is encoded where it lies.
template <bool Sum>
class LhsPacker {
 public:
  MOTE_INLINE LhsPacker(const LhsEncoding& encoding, uint8_t zero, int32_t k, Lhs* to, uint8_t* buffer)
      : encoding_(encoding), zero_(zero), k_(k), to_(to), buffer_(copies_in_place(encoding) ? reinterpret_cast<uint8_t*>(to) : buffer) {}

  MOTE_INLINE void put(const uint8_t* from, int32_t n) {
    if (n == k_ && from != nullptr) {
      source_ = from;
      return;
    }
    if (from != nullptr) copy_bytes(buffer_ + filled_, from, n);
    else fill_bytes(buffer_ + filled_, zero_, n);
    filled_ += n;
  }
  MOTE_INLINE int32_t finish() {
    if (copies_in_place(encoding_) && source_ == nullptr) {
      // The last K group may be partial: its other elements are zero.
      for (int32_t k = k_; k % 4 != 0; ++k) buffer_[k] = 0;
      return 0;
    }
    const uint8_t* x = source_ != nullptr ? source_ : buffer_;
    int32_t k = k_, sum = 0;
    for (; k >= kChunk; k -= kChunk, x += kChunk, to_ += kChunk) sum += encoding_.template convert64<Sum>(x, to_);
    if (k == 0) return sum;
    alignas(64) uint8_t last[2 * kChunk];
    copy_bytes(last, x, k);
    fill_bytes(last + k, encoding_.byte_for_zero(), kChunk - k);
    return sum + encoding_.template convert64<Sum>(last, to_);
  }

 private:
  // True when pieces can be copied straight to the destination: elements equal the input bytes and no sum is wanted.
  static MOTE_INLINE bool copies_in_place(const LhsEncoding& encoding) {
    if constexpr (std::is_same_v<Lhs, int8_t>) return !Sum && encoding.is_identity();
    return false;
  }

  const LhsEncoding& encoding_;
  uint8_t zero_;
  int32_t k_;
  Lhs* to_;
  int32_t filled_ = 0;
  uint8_t* buffer_;
  const uint8_t* source_ = nullptr;
};
#endif

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
