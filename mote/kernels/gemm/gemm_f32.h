#pragma once

// The GEMM loop nest around the micro-kernel, for any LHS that can give pointers to its rows.

#include "mote/kernels/common/parallel.h"
#include "mote/kernels/gemm/microkernel.h"

namespace mote::kernels::MOTE_ISA_NAME::gemm {

inline constexpr int32_t kMaxTileRuns = 128;  // the indirection pointers of a tile live on the stack

// Sizes and packed weights (RHS).
struct GemmShape {
  int32_t rows, outputs, k;
  Weights weights;
};

// A rectangle of the output: row tiles times output panels.
struct TileRange {
  int32_t first_tile, tiles, first_panel, panels;
};

// Cuts `rows` rows into tiles of nearly equal height; where not every height has a micro-kernel, into full tiles and powers of two behind.
struct RowTiles {
  explicit RowTiles(int32_t n, bool every = true) : rows(n), count((n + kTileRows - 1) / kTileRows), every_height(every) {
    if (!every) count = n / kTileRows + __builtin_popcount(static_cast<uint32_t>(n % kTileRows));
  }
  int32_t begin(int32_t tile) const {
    if (every_height) return static_cast<int32_t>(int64_t{rows} * tile / count);
    const int32_t full = rows / kTileRows;
    if (tile <= full) return tile * kTileRows;
    // The remainder in binary: one tile for each bit, the highest first.
    uint32_t remaining = static_cast<uint32_t>(rows % kTileRows);
    for (int32_t i = full; i < tile; ++i) remaining &= ~(0x80000000u >> __builtin_clz(remaining));
    return rows - static_cast<int32_t>(remaining);
  }
  int32_t rows, count;
  bool every_height;
};

// The micro-kernel for the current tile height and number of outputs; chosen anew only when these change.
struct MicrokernelChoice {
  explicit MicrokernelChoice(const Weights& w) : weights(w) {}
  // For `n` rows and the first panels of `max_outputs` outputs.
  MOTE_INLINE void choose(int32_t n, int32_t max_outputs) {
    if constexpr (HWY_ARCH_ARM_A64 == 0) max_outputs = max_outputs < panels_at_once(n) * kPanel ? max_outputs : panels_at_once(n) * kPanel;
    if (n == rows && max_outputs == limit) return;
    rows = n;
    limit = max_outputs;
    run_tile = weights.microkernel_for(n, max_outputs, &panels);
  }
  const Weights& weights;
  int32_t rows = 0, limit = 0, panels = 0;
  MicrokernelFn run_tile = nullptr;
};

// Panels that a micro-kernel may take at once, and that a partition must not separate: a partial last panel changes the rounding of all
// that are computed with it, and results must not depend on the number of threads.
inline int32_t panels_together(const GemmShape& p, const RowTiles& tiles) {
  constexpr int32_t kMaxPanels = kPanelsForFewRows > kPanelsForOneRow ? kPanelsForFewRows : kPanelsForOneRow;
  const bool few_rows = p.rows / tiles.count <= 3 || !p.weights.every_height;
  return few_rows && kMaxPanels > kTilePanels ? kMaxPanels : kTilePanels;
}

// One part of a GEMM, in the calling thread.
// Lhs: row_pointers(first, count, pointers, out, residual, tile) writes the addresses of `count` rows (pointers[run * count + i]) and of
// their outputs and residuals, and sets tile->runs and tile->run_length. row_bytes(): bytes that a further row adds to those read.
template <class Lhs>
void gemm_f32_range(const GemmShape& p, const Lhs& lhs, const EpilogueF32& epilogue, const RowTiles& tiles, const TileRange& part) {
  const float* pointers[kMaxTileRuns * kTileRows];
  float* out[kTileRows];
  const float* residual[kTileRows];
  const int64_t panel_bytes = p.weights.panel_stride;
  TileArgs t;
  t.rows = pointers;
  t.panel_stride = panel_bytes;
  t.out = out;
  t.residual = lhs.has_residual() ? residual : nullptr;
  const int64_t prefetched_bytes = p.k / 4 * int64_t{kPrefetchBytes};
  MicrokernelChoice micro(p.weights);
  // One tile times panels from `panel` on, at most `max_panels`; returns how many. The first tiles that use these panels (nth: 0, 1 ...)
  // prefetch a share of the next panels each, which would arrive too late otherwise.
  const auto compute_tile = [&](int32_t rows, int32_t panel, int32_t max_panels, int32_t nth) {
    t.out_offset = t.first_output = panel * kPanel;
    const int32_t outputs = p.outputs - t.first_output;
    micro.choose(rows, outputs < max_panels * kPanel ? outputs : max_panels * kPanel);
    const int32_t count = micro.panels;
    t.outputs = outputs < count * kPanel ? outputs : count * kPanel;
    t.panel = p.weights.panel(panel);
    t.prefetch = t.panel;
    if (nth * prefetched_bytes < count * panel_bytes)
      t.prefetch = static_cast<const char*>(t.panel) + count * panel_bytes + nth * prefetched_bytes;
    micro.run_tile(t, epilogue);
    return count;
  };
  // Loop order. Weights that fit the cache: tiles outside, panels inside. More weights: panels outside, so that weights are read once.
  constexpr int64_t kWeightsInCache = 96 * 1024;
  const int32_t panels_end = part.first_panel + part.panels, tiles_end = part.first_tile + part.tiles;
  const bool rows_outside = part.panels * panel_bytes <= kWeightsInCache;
  const int32_t panel_step = rows_outside ? part.panels : panels_together(p, tiles);
  for (int32_t outer = part.first_panel; outer < panels_end; outer += panel_step) {
    const int32_t outer_end = outer + panel_step < panels_end ? outer + panel_step : panels_end;
    for (int32_t tile = part.first_tile; tile < tiles_end; ++tile) {
      const int32_t first = tiles.begin(tile), rows = tiles.begin(tile + 1) - first;
      lhs.row_pointers(first, rows, pointers, out, residual, &t);
      for (int32_t panel = outer; panel < outer_end;) panel += compute_tile(rows, panel, outer_end - panel, tile - part.first_tile);
      const int32_t begin = outer * kPanel, end = outer_end * kPanel < p.outputs ? outer_end * kPanel : p.outputs;
      if (epilogue.has_slow_activation()) epilogue.apply_slow_activation(out, rows, begin, end - begin);
    }
  }
}

// A single row (matrix times vector). Time goes into reading the weights, so each thread has one fixed share of them, which may stay in its
// private cache from call to call.
void gemv_f32(const GemmShape& p, const LhsTile& row, const EpilogueF32& epilogue, const Threads* threads) noexcept;

// The whole GEMM, partitioned among threads.
template <class Lhs>
void gemm_f32(const GemmShape& p, const Lhs& lhs, const EpilogueF32& epilogue, const Threads* threads) {
  if (p.rows <= 0 || p.outputs <= 0) return;
  if (p.rows == 1) {
    const float *pointers[kMaxTileRuns], *residual = nullptr;
    float* out;
    LhsTile t{};
    lhs.row_pointers(0, 1, pointers, &out, &residual, &t);
    t.rows = pointers;
    t.out = &out;
    t.residual = lhs.has_residual() ? &residual : nullptr;
    return gemv_f32(p, t, epilogue, threads);
  }
  const RowTiles tiles(p.rows, p.weights.every_height);
  const int32_t panels = (p.outputs + kPanel - 1) / kPanel;
  // The LHS rows of a part stay in the second-level cache while all panels are applied to them.
  const int64_t row_bytes = lhs.row_bytes();
  constexpr int64_t kRowsInCache = 512 * 1024;
  int64_t tiles_per_part = kRowsInCache / (row_bytes * kTileRows);
  if (tiles_per_part < 4) tiles_per_part = 4;
  const double work = static_cast<double>(p.rows) * p.outputs * p.k;
  TilePartition split(tiles.count, static_cast<int32_t>(tiles_per_part), panels, panels_together(p, tiles), work, threads,
                      {p.rows * row_bytes, panels * p.weights.panel_stride, int64_t{p.rows} * p.outputs * 4});
  split.run([&](int32_t first_tile, int32_t tile_count, int32_t first_panel, int32_t panel_count) {
    gemm_f32_range(p, lhs, epilogue, tiles, {first_tile, tile_count, first_panel, panel_count});
  });
}

}  // namespace mote::kernels::MOTE_ISA_NAME::gemm
