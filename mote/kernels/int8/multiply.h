#pragma once

// multiply(product, left, stage, threads) for the instruction set at hand; pays(rows, outputs, k, lines): whether it should be asked to,
// lines being what the left side will have in any case; suits(w): whether it can multiply weights that are packed; kTilesAlone: whether it
// has nothing else.

#if defined(MOTE_DOT_PAIRS)
#include "mote/kernels/int8/dot_pairs.h"
#else
#include "mote/core/op.h"
#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME {
inline constexpr bool kPairsAlone = false;
MOTE_INLINE bool suits(const Tensor&) { return true; }
}  // namespace mote::kernels::MOTE_ISA_NAME
#endif

#if defined(__AMX_INT8__)
#include "mote/kernels/int8/product_amx.h"
#else
#include "mote/kernels/int8/lines.h"
#include "mote/kernels/int8/row_product.h"

namespace mote::kernels::MOTE_ISA_NAME {

inline constexpr bool kTilesAlone = kPairsAlone;
inline bool pays(int64_t, int64_t, int64_t, const LineShape&) { return true; }
template <class L>
void multiply(const Product& p, const L& left, const Stage& stage, const Threads* threads) {
  if (p.rows <= 0 || p.outputs <= 0 || multiply_row(p, left, stage, threads)) return;
  Multiplier<L>(p, left, stage).run(threads);
}

}  // namespace mote::kernels::MOTE_ISA_NAME
#endif
