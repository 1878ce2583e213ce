#pragma once

// AVX2 with restricted weights: vpmaddubsw adds the products of two neighbours (u8 by s8) in 16 bits and saturates. Weights whose pairs
// cannot saturate it take half the time of dot_madd.h; the quantizer produces such weights (compiler/quant/codes.h). dot() itself is in
// dot_vnni.h.

#include "mote/core/op.h"
#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

inline constexpr bool kMaddubsOnly = true;

// The compiler checked the weights and recorded the result in the layout; checking here would dominate the time to load a model
// (decisions/0010).
inline bool supports_weights(const Tensor& w) { return w.desc->layout == Layout::kPanel16k4Pairs; }

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
