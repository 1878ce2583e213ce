#pragma once

// 8-bit dot products of the ISA variant that is being compiled. Four neighbouring k (a K group) of the LHS are multiplied with four weights
// of each output of a panel and added to that output's accumulator. Arithmetic is exact: accumulators are 32-bit integers that wrap around.
// Each dot_*.h defines:
//   Lhs                             element of the packed LHS: u8 or s8 where the ISA multiplies 8-bit values, else s16
//   Register, Operand               a register of accumulators; a register of factors
//   kVectorOutputs                  outputs whose weights fill one Operand (4 weights each)
//   kTileVectors, kTileRows         size of the micro-kernel's tile: what its accumulators leave room for in the registers
//   load_weights(w)                 kVectorOutputs outputs of one K group of a panel
//   broadcast(lhs)                  one K group of an LHS row, repeated for every output
//   dot(acc, x, w)                  acc + the products
//   store_accumulators<N>(acc, v)   N registers of accumulators as int32, in output order
//   LhsEncoding                     how 8-bit values become elements of the LHS
//   pack_tap_group(taps, ...)       depthwise weights of one group of four taps

#include "variant.h"

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__) || defined(MOTE_ISA_MADDUBS)
#include "mote/kernels/int8/dot/dot_vnni.h"
#elif defined(__aarch64__)
#include "mote/kernels/int8/dot/dot_neon.h"
#elif defined(__ARM_NEON)
#include "mote/kernels/int8/dot/dot_neonv7.h"
#elif defined(__wasm_simd128__)
#include "mote/kernels/int8/dot/dot_wasm.h"
#else
#include "mote/kernels/int8/dot/dot_madd.h"
#endif

#if !defined(__ARM_NEON)
namespace mote::kernels::MOTE_ISA_NAME::int8 {

// acc + the sum of each output's four weights.
MOTE_INLINE Register add_weights(Register acc, Register w) {
  alignas(16) constexpr Lhs kOnes[4] = {1, 1, 1, 1};
  return dot(acc, broadcast(kOnes), w);
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
#endif

#if !defined(__ARM_NEON) || defined(__aarch64__)
namespace mote::kernels::MOTE_ISA_NAME::int8 {

using Operand = Register;
MOTE_INLINE Operand load_operand(const void* p) { return load_register(p); }

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
#endif
