#pragma once

// The 8-bit GEMM of the ISA variant that is being compiled:
//   gemm_s8(shape, lhs, epilogue, threads)         computes it
//   is_profitable(rows, outputs, k, padded_shape)  false where the variant that this one extends is faster
//   supports_weights(w)                            whether this variant can multiply these packed weights
//   kTilesOnly                                     GEMMs are all that this variant has for 8-bit data (no depthwise kernels)

#include "variant.h"

#if defined(MOTE_ISA_MADDUBS)
#include "mote/kernels/int8/dot/dot_maddubs.h"
#else
#include "mote/core/op.h"
#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {
inline constexpr bool kMaddubsOnly = false;
MOTE_INLINE bool supports_weights(const Tensor&) { return true; }
}  // namespace mote::kernels::MOTE_ISA_NAME::int8
#endif

#if defined(__AMX_INT8__) || defined(__AMXINT8__)  // Clang up to 14 has the second name
#include "mote/kernels/int8/gemm/gemm_amx.h"
#else
#include "mote/kernels/int8/gemm/gemv_s8.h"
#include "mote/kernels/int8/gemm/padded_rows.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

inline constexpr bool kTilesOnly = kMaddubsOnly;
inline bool is_profitable(int64_t, int64_t, int64_t, const PaddedRowsShape&) { return true; }
template <class RowSource>
void gemm_s8(const GemmShape& p, const RowSource& lhs, const RequantEpilogue& epilogue, const Threads* threads) {
  if (p.rows <= 0 || p.outputs <= 0 || gemv_s8(p, lhs, epilogue, threads)) return;
  GemmS8<RowSource>(p, lhs, epilogue).run(threads);
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
#endif
