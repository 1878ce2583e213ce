#pragma once

// Products of 8-bit weights in panels with the left side, four at a time, for the instruction set at hand. Everything is exact: sums are
// those of 32-bit integers that wrap. A header of this kind gives:
//   Left                     element of the packed left side: u8 or s8 where the processor multiplies 8-bit values, else s16
//   Register, Operand        sums, and what is multiplied
//   kVectorOutputs           outputs of one vector of weights (4 weights each)
//   kTileVectors, kTileRows  sums that fit the registers
//   load_weights(w)          a vector of a panel, as an operand
//   pack_column(taps, ..)    weights of depthwise convolutions
//   broadcast(left)          four elements of a row of the left side, for every output
//   dot(sums, x, w)          sums + products
//   store_sums<N>(sums, v)   the outputs of N registers of sums, in order
//   LeftForm                 how 8-bit values become elements of the left side

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__) || defined(MOTE_DOT_PAIRS)
#include "mote/kernels/int8/dot_vnni.h"
#elif defined(__aarch64__)
#include "mote/kernels/int8/dot_neon.h"
#elif defined(__ARM_NEON)
#include "mote/kernels/int8/dot_neonv7.h"
#elif defined(__wasm_simd128__)
#include "mote/kernels/int8/dot_wasm.h"
#else
#include "mote/kernels/int8/dot_madd.h"
#endif

#if !defined(__ARM_NEON)
namespace mote::kernels::MOTE_ISA_NAME {

// sum + the four weights of each output.
MOTE_INLINE Register add_weights(Register sum, Register w) {
  alignas(16) constexpr Left kOnes[4] = {1, 1, 1, 1};
  return dot(sum, broadcast(kOnes), w);
}

}  // namespace mote::kernels::MOTE_ISA_NAME
#endif

#if !defined(__ARM_NEON) || defined(__aarch64__)
namespace mote::kernels::MOTE_ISA_NAME {

using Operand = Register;
MOTE_INLINE Operand load_operand(const void* p) { return load_register(p); }

}  // namespace mote::kernels::MOTE_ISA_NAME
#endif
