#pragma once

// Included by fixed_point.h, within its namespace. WebAssembly has 64-bit products of 32-bit lanes, but shifts all lanes by one count.

// Low 32 bits of the 64-bit products of lanes 0 and 1 (`low`) and 2 and 3 (`high`), shifted right by Bits.
template <int Bits>
MOTE_INLINE VI narrow_shifted(v128_t low, v128_t high) {
  return VI{wasm_i32x4_shuffle(wasm_u64x2_shr(low, Bits), wasm_u64x2_shr(high, Bits), 0, 2, 4, 6)};
}

MOTE_INLINE VI high_mul(VI a, VI b) {
  const v128_t half = wasm_i64x2_splat(int64_t{1} << 30);
  return narrow_shifted<31>(wasm_i64x2_add(wasm_i64x2_extmul_low_i32x4(a.raw, b.raw), half),
                            wasm_i64x2_add(wasm_i64x2_extmul_high_i32x4(a.raw, b.raw), half));
}

// A shift per lane as a product: x * 2^(30 - n) / 2^30. The power of two is built as a float.
MOTE_INLINE VI shift_right(VI x, VI n) {
  const v128_t power = wasm_i32x4_trunc_sat_f32x4(wasm_i32x4_shl(wasm_i32x4_sub(wasm_i32x4_splat(30 + 127), n.raw), 23));
  return narrow_shifted<30>(wasm_i64x2_extmul_low_i32x4(x.raw, power), wasm_i64x2_extmul_high_i32x4(x.raw, power));
}
