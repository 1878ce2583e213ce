#pragma once

// Included by fixed.h, within its namespace: WebAssembly multiplies 32 by 32 bits, but shifts all lanes alike.

// The lower halves of 64-bit products, of the first and the last two lanes, moved down by Bits.
template <int Bits>
MOTE_INLINE VI moved_down(v128_t low, v128_t high) {
  return VI{wasm_i32x4_shuffle(wasm_u64x2_shr(low, Bits), wasm_u64x2_shr(high, Bits), 0, 2, 4, 6)};
}

MOTE_INLINE VI high_mul(VI a, VI b) {
  const v128_t half = wasm_i64x2_splat(int64_t{1} << 30);
  return moved_down<31>(wasm_i64x2_add(wasm_i64x2_extmul_low_i32x4(a.raw, b.raw), half),
                        wasm_i64x2_add(wasm_i64x2_extmul_high_i32x4(a.raw, b.raw), half));
}

// x * 2^(30 - n) / 2^30. The power is made as a float.
MOTE_INLINE VI shift_right(VI x, VI n) {
  const v128_t power = wasm_i32x4_trunc_sat_f32x4(wasm_i32x4_shl(wasm_i32x4_sub(wasm_i32x4_splat(30 + 127), n.raw), 23));
  return moved_down<30>(wasm_i64x2_extmul_low_i32x4(x.raw, power), wasm_i64x2_extmul_high_i32x4(x.raw, power));
}
