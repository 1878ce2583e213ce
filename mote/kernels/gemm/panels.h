#pragma once

// Weights of a product with an f32 left side, as the micro-kernel reads them: panels of 16 outputs, kGroup products of each side by side
// (core/layout.h). load() takes the weights of one group, part<I>() makes the I-th product's floats of them.

#include "mote/core/layout.h"
#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME {

using Words = hn::RebindToSigned<F32>;

struct PanelF32 {
  static constexpr int kGroup = 1;
  using Element = float;
  using Loaded = VF;
  MOTE_INLINE static Loaded load(const Element* p) { return MOTE_ISA_NAME::load(p); }
  template <int>
  MOTE_INLINE static VF part(Loaded v) {
    return v;
  }
};

struct PanelF16 {
  static constexpr int kGroup = 1;
  using Element = hwy::float16_t;
  using Loaded = VF;
  MOTE_INLINE static Loaded load(const Element* p) { return hn::PromoteTo(F32(), hn::LoadU(hn::Rebind<Element, F32>(), p)); }
  template <int>
  MOTE_INLINE static VF part(Loaded v) {
    return v;
  }
};

// Two bf16 in a word: the upper halves of two floats.
struct PanelBf16 {
  static constexpr int kGroup = 2;
  using Element = int32_t;
  using Loaded = hn::Vec<Words>;
  MOTE_INLINE static Loaded load(const Element* p) { return hn::LoadU(Words(), p); }
  template <int I>
  MOTE_INLINE static VF part(Loaded v) {
    const Words d;
    return hn::BitCast(F32(), I == 0 ? hn::ShiftLeft<16>(v) : hn::And(v, hn::Set(d, static_cast<int32_t>(0xffff0000u))));
  }
};

// Four s8 in a word.
struct PanelS8 {
  static constexpr int kGroup = 4;
  using Element = int32_t;
  using Loaded = hn::Vec<Words>;
  MOTE_INLINE static Loaded load(const Element* p) { return hn::LoadU(Words(), p); }
  template <int I>
  MOTE_INLINE static VF part(Loaded v) {
    return hn::ConvertTo(F32(), hn::ShiftRight<24>(hn::ShiftLeft<24 - 8 * I>(v)));
  }
};

// Elements from one panel to the next.
template <class P>
constexpr int64_t panel_stride_of(int32_t k) {
  return int64_t{(k + P::kGroup - 1) / P::kGroup} * kPanel;
}

// True where a type above holds these weights; `run`: products that lie behind each other in the left side, of which only the last run may
// end within a group.
MOTE_INLINE bool has_panels(const TensorDesc& w, int32_t run) {
  const bool known = w.dtype == DType::f32 || w.dtype == DType::f16 || w.dtype == DType::bf16 || w.dtype == DType::s8;
  return known && (panel_shape(w.layout, w.dtype).types & mask_of(w.dtype)) != 0 &&
         run % static_cast<int32_t>(panel_shape(w.layout, w.dtype).k_group) == 0;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
