#pragma once

#include "mote/core/layout.h"

namespace mote::ops {

// Reads weights of any layout: element (n, k), n along dimension 0 and k over the remaining dimensions in row-major order.
template <class W>
class Weights {
 public:
  explicit Weights(const Tensor& t) : data_(t.as<const W>()), desc_(*t.desc), dense_(desc_.layout == Layout::kPlain && is_dense(desc_)) {
    for (int i = 1; i < desc_.rank; ++i) k_count_ *= static_cast<uint32_t>(desc_.dims[i]);
    for (uint32_t g = panel_shape(desc_.layout, desc_.dtype).k_group; g > 1; g /= 2) ++k_shift_;
    groups_ = (k_count_ + (1u << k_shift_) - 1) >> k_shift_;
  }
  Compute<W> operator()(int32_t n, int32_t k) const {
    const uint32_t un = static_cast<uint32_t>(n), uk = static_cast<uint32_t>(k);
    if (dense_) return data_[un * k_count_ + uk];
    if (desc_.layout == Layout::kPlain) return *reinterpret_cast<const W*>(reinterpret_cast<const uint8_t*>(data_) + plain_offset(n, k));
    // As panel_offset() has it, with what does not change from element to element kept.
    const uint32_t group = (un / 16 * groups_ + (uk >> k_shift_)) * 16 + un % 16;
    return data_[(group << k_shift_) + uk % (1u << k_shift_)];
  }

  // The panel (K, 16) that holds weights n to n + 15, n a multiple of 16; null in other layouts.
  const W* panel(int32_t n) const { return desc_.layout == Layout::kPanel16 ? data_ + static_cast<uint32_t>(n) * k_count_ : nullptr; }

 private:
  int32_t plain_offset(int32_t n, int32_t k) const {
    int32_t bytes = n * desc_.strides[0];
    for (int i = desc_.rank - 1; i >= 1; --i) {
      bytes += k % desc_.dims[i] * desc_.strides[i];
      k /= desc_.dims[i];
    }
    return bytes;
  }

  const W* data_;
  const TensorDesc& desc_;
  bool dense_;
  uint32_t k_count_ = 1, k_shift_ = 0, groups_ = 0;
};

// 4-bit signed weights: packed panels, or plain with two per byte (low nibble first, rows not padded).
template <>
class Weights<s4> {
 public:
  explicit Weights(const Tensor& t) : data_(t.as<const uint8_t>()), desc_(*t.desc) {
    for (int i = 1; i < desc_.rank; ++i) k_count_ *= static_cast<uint32_t>(desc_.dims[i]);
  }
  int32_t operator()(int32_t n, int32_t k) const {
    const uint32_t un = static_cast<uint32_t>(n), uk = static_cast<uint32_t>(k);
    if (desc_.layout == Layout::kPlain) {
      const uint32_t flat = un * k_count_ + uk;
      return nibble(data_[flat / 2], flat % 2 != 0);
    }
    const uint8_t* group = data_ + panel_offset(desc_.layout, desc_.dtype, un, uk, k_count_);
    return nibble(group[uk % 4], uk % 8 >= 4);
  }
  const s4* panel(int32_t) const { return nullptr; }

 private:
  static int32_t nibble(uint8_t byte, bool high) {
    const int32_t v = high ? byte >> 4 : byte & 15;
    return v >= 8 ? v - 16 : v;
  }

  const uint8_t* data_;
  const TensorDesc& desc_;
  uint32_t k_count_ = 1;
};

// Adds to 16 sums the products of x[0 .. count) with rows of a panel (K, 16). Each sum goes in the order of x.
template <class C, class T, class W>
inline void add_panel_rows(const T* x, const W* rows, int32_t count, C* sums) noexcept {
  C sum[16];
  for (int l = 0; l < 16; ++l) sum[l] = sums[l];
  for (int32_t i = 0; i < count; ++i, rows += 16)
    for (int l = 0; l < 16; ++l) sum[l] += static_cast<C>(x[i]) * static_cast<C>(rows[l]);
  for (int l = 0; l < 16; ++l) sums[l] = sum[l];
}

}  // namespace mote::ops
