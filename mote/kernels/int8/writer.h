#pragma once

// Writes elements of the packed left side, piece by piece, 64 at a time: up to 63 more than there are.

#include "mote/kernels/int8/bytes.h"
#include "mote/kernels/int8/dot.h"

namespace mote::kernels::MOTE_ISA_NAME {

inline constexpr int kChunk = 64;  // elements that are written together

#if defined(__AVX512BW__)
// A chunk is brought together in a register: pieces are loaded to where they belong in it.
template <bool Sum>
class RowWriter {
 public:
  MOTE_INLINE RowWriter(const LeftForm& form, uint8_t zero, int32_t /*k*/, Left* to, uint8_t* /*buffer*/)
      : form_(form), blank_(_mm512_set1_epi8(static_cast<char>(form.blank()))), zero_(zero), chunk_(blank_), to_(to) {}

  // null: zero points.
  MOTE_INLINE void put(const uint8_t* from, int32_t n) {
    if (filled_ == 0 && from != nullptr) {
      for (; n >= kChunk; n -= kChunk, from += kChunk, to_ += kChunk) sum_ += form_.convert<Sum>(_mm512_loadu_si512(from), to_);
    }
    while (n > 0) {
      const int32_t some = n < kChunk - filled_ ? n : kChunk - filled_;
      const __mmask64 mask = (~uint64_t{0} >> (kChunk - some)) << filled_;
      chunk_ = from != nullptr ? _mm512_mask_loadu_epi8(chunk_, mask, from - filled_)
                               : _mm512_mask_mov_epi8(chunk_, mask, _mm512_set1_epi8(static_cast<char>(zero_)));
      if (from != nullptr) from += some;
      n -= some;
      if ((filled_ += some) == kChunk) flush();
    }
  }
  // Returns the sum of the elements, with Sum.
  MOTE_INLINE int32_t finish() {
    if (filled_ > 0) flush();
    return sum_;
  }

 private:
  MOTE_INLINE void flush() {
    sum_ += form_.convert<Sum>(chunk_, to_);
    to_ += kChunk;
    filled_ = 0;
    chunk_ = blank_;
  }

  const LeftForm& form_;
  __m512i blank_;
  uint8_t zero_;
  __m512i chunk_;
  Left* to_;
  int32_t filled_ = 0, sum_ = 0;
};
#else
// Pieces are copied into the buffer (k + 64 bytes) first, unless there is only one.
template <bool Sum>
class RowWriter {
 public:
  MOTE_INLINE RowWriter(const LeftForm& form, uint8_t zero, int32_t k, Left* to, uint8_t* buffer)
      : form_(form), zero_(zero), k_(k), to_(to), buffer_(kept(form) ? reinterpret_cast<uint8_t*>(to) : buffer) {}

  MOTE_INLINE void put(const uint8_t* from, int32_t n) {
    if (n == k_ && from != nullptr) {
      whole_ = from;
      return;
    }
    if (from != nullptr) copy_bytes(buffer_ + filled_, from, n);
    else fill_bytes(buffer_ + filled_, zero_, n);
    filled_ += n;
  }
  MOTE_INLINE int32_t finish() {
    if (kept(form_) && whole_ == nullptr) {
      // The last four may be incomplete.
      for (int32_t k = k_; k % 4 != 0; ++k) buffer_[k] = 0;
      return 0;
    }
    const uint8_t* x = whole_ != nullptr ? whole_ : buffer_;
    int32_t k = k_, sum = 0;
    for (; k >= kChunk; k -= kChunk, x += kChunk, to_ += kChunk) sum += form_.template convert64<Sum>(x, to_);
    if (k == 0) return sum;
    alignas(64) uint8_t last[2 * kChunk];
    copy_bytes(last, x, k);
    fill_bytes(last + k, form_.blank(), kChunk - k);
    return sum + form_.template convert64<Sum>(last, to_);
  }

 private:
  // Pieces may be copied to where they belong: elements are bytes as they are, and no sum is wanted.
  static MOTE_INLINE bool kept(const LeftForm& form) {
    if constexpr (std::is_same_v<Left, int8_t>) return !Sum && form.same();
    return false;
  }

  const LeftForm& form_;
  uint8_t zero_;
  int32_t k_;
  Left* to_;
  int32_t filled_ = 0;
  uint8_t* buffer_;
  const uint8_t* whole_ = nullptr;
};
#endif

}  // namespace mote::kernels::MOTE_ISA_NAME
