#pragma once

// Dequantizes blocks of packed s4 and s8 weights to f32 panels: (weight - zero point) * scale.

#include "mote/core/layout.h"
#include "mote/core/op.h"
#include "mote/kernels/common/math.h"
#include "mote/kernels/gemm/panels.h"

namespace mote::kernels::MOTE_ISA_NAME::weights {

using namespace gemm;  // Words, PanelS8

// Eight s4 in a word: byte j holds k = j in its low and k = j + 4 in its high nibble.
struct NibblesOfWord {
  static constexpr int kStep = 8;
  template <int I>
  MOTE_INLINE static VF part(hn::Vec<Words> v) {
    constexpr int kAt = 8 * (I % 4) + (I < 4 ? 0 : 4);
    return hn::ConvertTo(F32(), hn::ShiftRight<28>(hn::ShiftLeft<28 - kAt>(v)));
  }
};
// Four s8 in a word.
struct BytesOfWord {
  static constexpr int kStep = 4;
  template <int I>
  MOTE_INLINE static VF part(hn::Vec<Words> v) {
    return PanelS8::part<I>(v);
  }
};

// Scales (f32 or f16) and zero points of the weights: (groups, n), or (n) for one group.
struct GroupScales {
  // zero_points may be null. group_size: how many k share a scale.
  MOTE_INLINE GroupScales(const Tensor& scales, const Tensor* zero_points, int32_t group_size)
      : f32(scales.dtype() == DType::f16 ? nullptr : scales.as<const float>()),
        half(scales.dtype() == DType::f16 ? scales.as<const f16>() : nullptr),
        zeros(zero_points != nullptr ? zero_points->as<const int8_t>() : nullptr),
        scales_step(scales.stride(0) / (half != nullptr ? 2 : 4)),
        zeros_step(zero_points != nullptr ? zero_points->stride(0) : 0),
        group(group_size) {}

  const float* f32;  // one of the two
  const f16* half;
  const int8_t* zeros;              // or null
  int64_t scales_step, zeros_step;  // elements from one group to the next
  int32_t group;                    // k that share a scale

  // Scales and zero points of group g for `count` (at most 16) outputs from `first` on, padded with zeros to 16.
  MOTE_INLINE void read(int32_t g, int32_t first, int32_t count, float* scale, float* zero) const {
    const int64_t at = g * scales_step + first, zero_at = g * zeros_step + first;
    for (int32_t i = count; i < kPanel; ++i) scale[i] = zero[i] = 0;
    for (int32_t i = 0; i < count; ++i) scale[i] = f32 != nullptr ? f32[at + i] : 0.0f;
    if (half != nullptr) widen_half(half + at, count, scale);
    for (int32_t i = 0; i < count; ++i) zero[i] = zeros != nullptr ? static_cast<float>(zeros[zero_at + i]) : 0.0f;
  }

 private:
  MOTE_INLINE static void widen_half(const f16* p, int32_t count, float* to) {
    const hn::Rebind<hwy::float16_t, F32> d;
    hwy::float16_t padded[kPanel] = {};
    __builtin_memcpy(padded, p, static_cast<size_t>(count) * 2);
    unroll<kPanelVectors>([&](auto v) MOTE_LAMBDA { store(hn::PromoteTo(F32(), hn::LoadU(d, padded + v * kLanes)), to + v * kLanes); });
  }
};

// Dequantizes rows [k, k + depth) of the panel at `words` to (depth, 16) floats; k is a multiple of P::kStep. Writes whole steps, so up to
// kStep - 1 rows more. column, columns: the panel's outputs, for the scales.
template <class P>
void widen_panel(const int32_t* words, const GroupScales& s, int32_t k, int32_t depth, int32_t column, int32_t columns, float* to) {
  const int32_t end = k + depth;
  alignas(64) float scale[kPanel], zero[kPanel];
  while (k < end) {
    const int32_t g = k / s.group, last = (g + 1) * s.group < end ? (g + 1) * s.group : end;
    s.read(g, column, columns, scale, zero);
    VF scales[kPanelVectors], zeros[kPanelVectors];
    unroll<kPanelVectors>([&](auto v) MOTE_LAMBDA { scales[v] = load(scale + v * kLanes), zeros[v] = load(zero + v * kLanes); });
    const bool shifted = s.zeros != nullptr;
    for (const int32_t* from = words + int64_t{k / P::kStep} * kPanel; k < last; k += P::kStep, from += kPanel, to += P::kStep * kPanel) {
      unroll<kPanelVectors>([&](auto v) MOTE_LAMBDA {
        const auto word = hn::LoadU(Words(), from + v * kLanes);
        unroll<P::kStep>([&](auto i) MOTE_LAMBDA {
          VF x = P::template part<decltype(i)::value>(word);
          if (shifted) x = hn::Sub(x, zeros[v]);
          store(hn::Mul(x, scales[v]), to + i * kPanel + v * kLanes);
        });
      });
    }
  }
}

}  // namespace mote::kernels::MOTE_ISA_NAME::weights
