#pragma once

// WebAssembly: i32x4.dot_i16x8 multiplies s16 by s16 and adds pairs of products. As in dot_madd.h, weights are widened when they are
// loaded, the LHS is packed as s16 with its zero point subtracted, and an output has two partial accumulators.

#include <wasm_simd128.h>

#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

using Lhs = int16_t;
using Register = v128_t;
using Bytes16 = v128_t;
inline constexpr int kVectorOutputs = 2, kTileVectors = 2, kTileRows = 6;

MOTE_INLINE Register zero_register() { return wasm_i32x4_splat(0); }
MOTE_INLINE Register load_register(const void* p) { return wasm_v128_load(p); }
MOTE_INLINE void store_register(void* p, Register v) { wasm_v128_store(p, v); }
MOTE_INLINE Bytes16 load_bytes16(const uint8_t* p) { return wasm_v128_load(p); }
MOTE_INLINE Register load_weights(const int8_t* w) { return wasm_i16x8_load8x8(w); }
MOTE_INLINE Register broadcast(const Lhs* p) { return wasm_v128_load64_splat(p); }
MOTE_INLINE Register add(Register a, Register b) { return wasm_i32x4_add(a, b); }
MOTE_INLINE Register dot(Register acc, Register x, Register w) { return add(acc, wasm_i32x4_dot_i16x8(x, w)); }
MOTE_INLINE Register add_pairs(Register v) { return wasm_i32x4_dot_i16x8(v, wasm_i16x8_splat(1)); }
MOTE_INLINE Register subtract_s16(Register a, int32_t b) { return wasm_i16x8_sub(a, wasm_i16x8_splat(static_cast<int16_t>(b))); }

template <int N>
MOTE_INLINE void store_accumulators(const Register* acc, int32_t* v) {
  static_assert(N % 2 == 0, "two registers hold four outputs");
  unroll<N / 2>([&](auto i) MOTE_LAMBDA {
    const Register a = acc[2 * i], b = acc[2 * i + 1];
    store_register(v + i * 4, add(wasm_i32x4_shuffle(a, b, 0, 2, 4, 6), wasm_i32x4_shuffle(a, b, 1, 3, 5, 7)));
  });
}

// 16 bytes as s16.
MOTE_INLINE void widen_bytes16(Bytes16 v, bool is_signed, Register* out) {
  out[0] = is_signed ? wasm_i16x8_extend_low_i8x16(v) : wasm_u16x8_extend_low_u8x16(v);
  out[1] = is_signed ? wasm_i16x8_extend_high_i8x16(v) : wasm_u16x8_extend_high_u8x16(v);
}
MOTE_INLINE void widen_taps(const Bytes16* taps, bool is_signed, Register* out) {
  unroll<4>([&](auto i) MOTE_LAMBDA { widen_bytes16(taps[i], is_signed, out + 2 * i); });
}
// The same result as interleave.h.
MOTE_INLINE void interleave(Bytes16 a, Bytes16 b, Bytes16 c, Bytes16 d, Bytes16* out) {
  const auto low = [](Bytes16 x, Bytes16 y)
                       MOTE_LAMBDA { return wasm_i8x16_shuffle(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23); };
  const auto high = [](Bytes16 x, Bytes16 y)
                        MOTE_LAMBDA { return wasm_i8x16_shuffle(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31); };
  const Bytes16 ab = low(a, b), cd = low(c, d), ab2 = high(a, b), cd2 = high(c, d);
  out[0] = wasm_i16x8_shuffle(ab, cd, 0, 8, 1, 9, 2, 10, 3, 11);
  out[1] = wasm_i16x8_shuffle(ab, cd, 4, 12, 5, 13, 6, 14, 7, 15);
  out[2] = wasm_i16x8_shuffle(ab2, cd2, 0, 8, 1, 9, 2, 10, 3, 11);
  out[3] = wasm_i16x8_shuffle(ab2, cd2, 4, 12, 5, 13, 6, 14, 7, 15);
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8

#include "mote/kernels/int8/dot/lhs_s16.h"
