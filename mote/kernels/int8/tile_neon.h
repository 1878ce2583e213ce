#pragma once

// The micro-kernel on 64-bit Arm: rows of the left side times panels of weights, one panel after the other. Sums stay in registers from the
// first product to the last, and where TileEnd says how, to the 8-bit output. What the processor can multiply decides how sums lie in
// registers (products_neon.h); `rows_of` brings them into the order of outputs.

#include "mote/kernels/int8/end_neon.h"
#include "mote/kernels/int8/panel_neondot.h"
#include "mote/kernels/int8/products_neon.h"

namespace mote::kernels::MOTE_ISA_NAME {

inline constexpr bool kTileEnds = true, kAnyReal = true;

// The sums of MR rows and NV vectors of outputs. rows: of the first run.
template <int MR, int NV>
MOTE_INLINE void panel_s8(const Tile& t, const Left* const (&rows)[MR], const int32_t* base, const int8_t* weights,
                          int32x4_t (&out)[MR][NV]) {
  Sums<MR, NV> sums(base);
  const Left* at[MR];
  unroll<MR>([&](auto m) MOTE_LAMBDA { at[m] = rows[m]; });
  for (int32_t run = 0;;) {
    weights = sums.add_products(at, t.run_steps, weights, t.careful);
    if (++run >= t.runs) break;
    unroll<MR>([&](auto m) MOTE_LAMBDA { at[m] += t.run_stride; });
  }
  sums.rows_of(out);
}

template <int MR, int NV>
MOTE_INLINE void finished_panel(const Tile& t, const TileEnd& e, const Left* const (&rows)[MR], uint8_t* const (&to)[MR], int64_t at) {
  int32x4_t sums[MR][NV];
  panel_s8<MR, NV>(t, rows, e.base + at, t.weights + at / kPanel * t.panel_stride, sums);
  finish<MR, NV>(e, Limits(e), at, t.outputs - at, sums, to);
}

// Rows of at most so many steps go to finished_panel_dot. smmla does more with one instruction, but its sums have to be brought into order.
inline constexpr int32_t kDotSteps = kRowsAtOnce < kTileRows ? 0 : kPairsOfRows ? 16 : 0x7fffffff;

// All whole panels; returns the first output behind them.
template <int MR>
MOTE_INLINE int64_t panels_by_dot(const Tile& t, const Left* const (&rows)[MR], uint8_t* const* out) {
  int64_t at = 0;
  if constexpr (kDotSteps > 0) {
    const int8_t* weights = t.weights;
    uint8_t* to[MR];
    unroll<MR>([&](auto m) MOTE_LAMBDA { to[m] = out[m]; });
    const int64_t stride = t.panel_stride, end = t.outputs, steps = t.run_steps;
    for (; at + kPanel <= end; at += kPanel, weights += stride) finished_panel_dot<MR>(rows, steps, weights, *t.end, at, to);
  }
  return at;
}

// MR rows from `first` on. The tile is copied: what it holds would be read again after every output that is written.
template <int MR>
__attribute__((noinline)) void panels_s8(const Tile& tile, int32_t first) {
  const Left* rows[MR];
  unroll<MR>([&](auto m) MOTE_LAMBDA { rows[m] = tile.left + (first + m) * int64_t{tile.row_stride}; });
  int64_t at = 0;
  if (tile.end != nullptr && tile.runs == 1 && tile.run_steps <= kDotSteps && !tile.end->real && tile.end->flip == 0) {
    at = panels_by_dot<MR>(tile, rows, tile.end->out + first);
    if (at >= tile.outputs) return;
  }
  const Tile t = tile;
  if (t.end == nullptr) {
    int32x4_t sums[MR][4];
    panel_s8<MR, 4>(t, rows, nullptr, t.weights, sums);
    unroll<MR>([&](auto m) MOTE_LAMBDA { store_sums<4>(sums[m], t.sums + (first + m) * kTileOutputs); });
    return;
  }
  const TileEnd e = *t.end;
  uint8_t* to[MR];
  unroll<MR>([&](auto m) MOTE_LAMBDA { to[m] = e.out[first + m]; });
  for (; at + kPanel / 2 < t.outputs; at += kPanel) finished_panel<MR, 4>(t, e, rows, to, at);
  if (at < t.outputs) finished_panel<MR, 2>(t, e, rows, to, at);
}

template <int MR>
void tile_s8(const Tile& t) {
  constexpr int kWhole = MR / kRowsAtOnce * kRowsAtOnce;
  for (int32_t first = 0; first < kWhole; first += kRowsAtOnce) panels_s8<kRowsAtOnce>(t, first);
  if constexpr (kWhole < MR) panels_s8<MR - kWhole>(t, kWhole);
}

template <int... M>
MOTE_INLINE TileFn tile_of(int32_t rows, std::integer_sequence<int, M...>) {
  static constexpr TileFn kTiles[] = {&tile_s8<M + 1>...};
  return kTiles[rows - 1];
}
// The micro-kernel for `rows` rows, 1 to kTileRows.
MOTE_INLINE TileFn tile_of(int32_t rows, bool) { return tile_of(rows, std::make_integer_sequence<int, kTileRows>{}); }

}  // namespace mote::kernels::MOTE_ISA_NAME
