#pragma once

// Packed weights (RHS) of GEMMs with an f32 LHS: panels of 16 outputs, in which kGroup consecutive k of an output are adjacent
// (core/layout.h). load() reads the weights of one k group, part<I>() widens those of its I-th k to f32.

#include "mote/core/layout.h"
#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME::gemm {

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

// Two bf16 in a word; each is the upper half of an f32.
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

// True when one of the types above reads these weights. run: the length of the LHS's contiguous runs, all of which but the last must be
// whole k groups; 0: there is one run.
MOTE_INLINE bool has_panels(const TensorDesc& w, int32_t run) {
  const bool known = w.dtype == DType::f32 || w.dtype == DType::f16 || w.dtype == DType::bf16 || w.dtype == DType::s8;
  return known && (panel_shape(w.layout, w.dtype).types & mask_of(w.dtype)) != 0 &&
         run % static_cast<int32_t>(panel_shape(w.layout, w.dtype).k_group) == 0;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::gemm
