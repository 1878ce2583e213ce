#pragma once

#include "mote/core/tensor.h"

namespace mote {

// Geometry of the packed weight layouts (docs: mote/format/SPEC.md, "Panels"). A panel holds 16 values of n for a group of k.
struct PanelShape {
  uint32_t k_group;      // consecutive k stored together
  uint32_t group_bytes;  // bytes of one n of one group
  DTypeMask types;       // element types the layout is for
};

// k_group is 0 for a value that is no panel layout.
constexpr PanelShape panel_shape(Layout layout, DType dtype) {
  switch (layout) {
    case Layout::kPanel16: return {1, dtype_bytes(dtype), mask_of(DType::f32) | mask_of(DType::f16)};
    case Layout::kPanel16k2: return {2, 4, mask_of(DType::bf16)};
    case Layout::kPanel16k4:
    case Layout::kPanel16k4Pairs: return {4, 4, mask_of(DType::s8)};
    case Layout::kPanel16k8: return {8, 4, mask_of(DType::s4)};
    default: return {0, 0, 0};
  }
}

// Bytes of a packed tensor: n values of dimension 0, k of all the others together, n * k below 2^31. 0 when the layout is not
// for the type. 64-bit, so that nothing overflows.
constexpr uint64_t panel_bytes(Layout layout, DType dtype, uint32_t n, uint32_t k) {
  const PanelShape p = panel_shape(layout, dtype);
  if ((p.types & mask_of(dtype)) == 0) return 0;
  return uint64_t{(n + 15) / 16} * ((k + p.k_group - 1) / p.k_group) * (16 * p.group_bytes);
}

// Byte offset of the group that holds element (n, k).
constexpr uint32_t panel_offset(Layout layout, DType dtype, uint32_t n, uint32_t k, uint32_t k_count) {
  const PanelShape p = panel_shape(layout, dtype);
  const uint32_t groups = (k_count + p.k_group - 1) / p.k_group;
  return ((n / 16 * groups + k / p.k_group) * 16 + n % 16) * p.group_bytes;
}

// Panels of bytes.
constexpr bool is_panel16k4(Layout layout) { return layout == Layout::kPanel16k4 || layout == Layout::kPanel16k4Pairs; }

// Weights of k 2i and 2i + 1, times two numbers of 8 bits without sign, add up within 16 bits: processors whose 8-bit products saturate
// there (AVX2) then multiply exactly, and twice as fast. True also for any two of different sign, or of 7 bits.
constexpr int kMostPair = 128;
constexpr bool pair_fits(int a, int b) { return (a > 0) != (b > 0) || (a + b <= kMostPair && a + b >= -kMostPair); }

// True for panels of bytes that may have the layout kPanel16k4Pairs.
inline bool pairs_fit(const int8_t* panels, uint64_t bytes) {
  for (uint64_t i = 0; i + 1 < bytes; i += 2)
    if (!pair_fits(panels[i], panels[i + 1])) return false;
  return true;
}

}  // namespace mote
