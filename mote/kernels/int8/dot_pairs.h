#pragma once

// vpmaddubsw adds the products of two neighbours (u8 by s8) in 16 bits, and saturates. Weights that cannot make it do so are multiplied in
// half the time that the widened ones of dot_madd.h take; quantizers see to it (compiler/quant/codes.h).

#include "mote/core/op.h"
#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME {

inline constexpr bool kPairsAlone = true;

// The compiler has looked: reading all weights here would take longer than the rest of loading does (decisions/0010).
inline bool suits(const Tensor& w) { return w.desc->layout == Layout::kPanel16k4Pairs; }

}  // namespace mote::kernels::MOTE_ISA_NAME
