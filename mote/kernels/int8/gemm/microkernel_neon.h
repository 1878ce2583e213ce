#pragma once

// The micro-kernel on 64-bit Arm: a tile of LHS rows times panels of weights, one panel after the other. Accumulators stay in registers
// through all of K and, with a RegisterEpilogue, until they are stored as bytes. Their layout depends on the multiply instruction
// (accumulators_neon.h).

#include "mote/kernels/int8/gemm/accumulators_neon.h"
#include "mote/kernels/int8/gemm/microkernel_neondot.h"
#include "mote/kernels/int8/requantize/register_epilogue_neon.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

inline constexpr bool kHasRegisterEpilogue = true, kAnyRealMultiplier = true;

// Accumulators of MR rows and NV vectors of outputs. rows: start of the first run of each row.
template <int MR, int NV>
MOTE_INLINE void microkernel_s8(const TileArgs& t, const Lhs* const (&rows)[MR], const int32_t* base, const int8_t* weights,
                                int32x4_t (&out)[MR][NV]) {
  Accumulators<MR, NV> accumulators(base);
  const Lhs* row_ptrs[MR];
  unroll<MR>([&](auto m) MOTE_LAMBDA { row_ptrs[m] = rows[m]; });
  for (int32_t run = 0;;) {
    weights = accumulators.multiply_add(row_ptrs, t.run_k_groups, weights, t.has_minus_128);
    if (++run >= t.runs) break;
    unroll<MR>([&](auto m) MOTE_LAMBDA { row_ptrs[m] += t.run_stride; });
  }
  accumulators.to_row_order(out);
}

template <int MR, int NV>
MOTE_INLINE void panel_to_bytes(const TileArgs& t, const RegisterEpilogue& e, const Lhs* const (&rows)[MR], uint8_t* const (&to)[MR],
                                int64_t output) {
  int32x4_t accumulators[MR][NV];
  microkernel_s8<MR, NV>(t, rows, e.base + output, t.weights + output / kPanel * t.panel_stride, accumulators);
  requantize_and_store<MR, NV>(e, ClampVectors(e), output, t.outputs - output, accumulators, to);
}

// Rows of at most so many K groups use panel_to_bytes_dot. smmla does more per instruction, but its accumulators must be reordered.
inline constexpr int32_t kMaxAsmKGroups = kMicrokernelRows < kTileRows ? 0 : kAccumulatesRowPairs ? 16 : 0x7fffffff;

// Computes all full panels and returns the first output behind them.
template <int MR>
MOTE_INLINE int64_t full_panels_dot(const TileArgs& t, const Lhs* const (&rows)[MR], uint8_t* const* out) {
  int64_t output = 0;
  if constexpr (kMaxAsmKGroups > 0) {
    const int8_t* weights = t.weights;
    uint8_t* to[MR];
    unroll<MR>([&](auto m) MOTE_LAMBDA { to[m] = out[m]; });
    const int64_t stride = t.panel_stride, end = t.outputs, k_groups = t.run_k_groups;
    for (; output + kPanel <= end; output += kPanel, weights += stride)
      panel_to_bytes_dot<MR>(rows, k_groups, weights, *t.epilogue, output, to);
  }
  return output;
}

// MR rows from `first` on. TileArgs and the epilogue are copied to locals: the compiler must assume that stores of output bytes change the
// originals and would reload them.
template <int MR>
__attribute__((noinline)) void row_group_s8(const TileArgs& tile, int32_t first) {
  const Lhs* rows[MR];
  unroll<MR>([&](auto m) MOTE_LAMBDA { rows[m] = tile.lhs + (first + m) * int64_t{tile.row_stride}; });
  int64_t output = 0;
  if (tile.epilogue != nullptr && tile.runs == 1 && tile.run_k_groups <= kMaxAsmKGroups && !tile.epilogue->real &&
      tile.epilogue->flip == 0) {
    output = full_panels_dot<MR>(tile, rows, tile.epilogue->out + first);
    if (output >= tile.outputs) return;
  }
  const TileArgs t = tile;
  if (t.epilogue == nullptr) {
    int32x4_t accumulators[MR][4];
    microkernel_s8<MR, 4>(t, rows, nullptr, t.weights, accumulators);
    unroll<MR>([&](auto m) MOTE_LAMBDA { store_accumulators<4>(accumulators[m], t.accumulators + (first + m) * kTileOutputs); });
    return;
  }
  const RegisterEpilogue e = *t.epilogue;
  uint8_t* to[MR];
  unroll<MR>([&](auto m) MOTE_LAMBDA { to[m] = e.out[first + m]; });
  for (; output + kPanel / 2 < t.outputs; output += kPanel) panel_to_bytes<MR, 4>(t, e, rows, to, output);
  if (output < t.outputs) panel_to_bytes<MR, 2>(t, e, rows, to, output);
}

template <int MR>
void tile_s8(const TileArgs& t) {
  constexpr int kFullGroups = MR / kMicrokernelRows * kMicrokernelRows;
  for (int32_t first = 0; first < kFullGroups; first += kMicrokernelRows) row_group_s8<kMicrokernelRows>(t, first);
  if constexpr (kFullGroups < MR) row_group_s8<MR - kFullGroups>(t, kFullGroups);
}

template <int... M>
MOTE_INLINE TileFn select_tile(int32_t rows, std::integer_sequence<int, M...>) {
  static constexpr TileFn kTiles[] = {&tile_s8<M + 1>...};
  return kTiles[rows - 1];
}
// The micro-kernel for `rows` rows (1 to kTileRows).
MOTE_INLINE TileFn select_tile(int32_t rows, bool) { return select_tile(rows, std::make_integer_sequence<int, kTileRows>{}); }

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
