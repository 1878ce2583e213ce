#pragma once

// The loops around the micro-kernel, for anything that can name the rows of its left side.

#include "mote/kernels/common/parallel.h"
#include "mote/kernels/gemm/tile.h"

namespace mote::kernels::MOTE_ISA_NAME {

inline constexpr int32_t kMaxTileRuns = 128;  // pointers to the rows of a tile live on the stack

// The right side and the sizes.
struct Product {
  int32_t rows, outputs, k;
  Weights weights;
};

// Where a part of the work lies: tiles of rows, panels of outputs.
struct Part {
  int32_t first_tile, tiles, first_panel, panels;
};

// `rows` rows in tiles of nearly equal height; or, where not every height has a micro-kernel, in full ones and powers of two behind.
struct RowTiles {
  explicit RowTiles(int32_t n, bool every = true) : rows(n), count((n + kTileRows - 1) / kTileRows), every_height(every) {
    if (!every) count = n / kTileRows + __builtin_popcount(static_cast<uint32_t>(n % kTileRows));
  }
  int32_t begin(int32_t tile) const {
    if (every_height) return static_cast<int32_t>(int64_t{rows} * tile / count);
    const int32_t full = rows / kTileRows;
    if (tile <= full) return tile * kTileRows;
    // The highest bits of the rest are the first tiles.
    uint32_t rest = static_cast<uint32_t>(rows % kTileRows);
    for (int32_t i = full; i < tile; ++i) rest &= ~(0x80000000u >> __builtin_clz(rest));
    return rows - static_cast<int32_t>(rest);
  }
  int32_t rows, count;
  bool every_height;
};

// The micro-kernel in use.
struct Micro {
  explicit Micro(const Weights& w) : weights(w) {}
  // For `n` rows and the first of `most` outputs. Mostly that is what it was before.
  MOTE_INLINE void choose(int32_t n, int32_t most) {
    if constexpr (HWY_ARCH_ARM_A64 == 0) most = most < panels_at_once(n) * kPanel ? most : panels_at_once(n) * kPanel;
    if (n == rows && most == limit) return;
    rows = n;
    limit = most;
    tile = weights.tile_for(n, most, &panels);
  }
  const Weights& weights;
  int32_t rows = 0, limit = 0, panels = 0;
  TileFn tile = nullptr;
};

// Panels that a micro-kernel may take at once, and that stay together wherever work is cut: a last one that is not full changes how all of
// them are rounded.
inline int32_t panels_together(const Product& p, const RowTiles& tiles) {
  constexpr int32_t kMost = kTwoRows > kOneRow ? kTwoRows : kOneRow;
  const bool low = p.rows / tiles.count <= 3 || !p.weights.every_height;
  return low && kMost > kTilePanels ? kMost : kTilePanels;
}

// Left: rows(first, count, pointers, out, residual, tile) names `count` rows (pointers[run * count + i]), where they go, and how they are
// cut into runs (tile->runs, tile->run_length). row_bytes(): bytes that a further row adds to those read.
template <class Left>
void multiply_part(const Product& p, const Left& left, const Finish& finish, const RowTiles& tiles, const Part& part) {
  const float* pointers[kMaxTileRuns * kTileRows];
  float* out[kTileRows];
  const float* residual[kTileRows];
  const int64_t panel_bytes = p.weights.panel_stride;
  Tile t;
  t.rows = pointers;
  t.panel_stride = panel_bytes;
  t.out = out;
  t.residual = left.has_residual() ? residual : nullptr;
  const int64_t ahead_bytes = p.k / 4 * int64_t{kAheadBytes};
  Micro micro(p.weights);
  // One tile of the panels from `panel` on; returns how many it took. The first tiles that use these panels (nth: 0, 1 ...) ask for pieces
  // of the next ones, which would come late otherwise.
  const auto run = [&](int32_t rows, int32_t panel, int32_t most, int32_t nth) {
    t.at = t.first = panel * kPanel;
    const int32_t outputs = p.outputs - t.first;
    micro.choose(rows, outputs < most * kPanel ? outputs : most * kPanel);
    const int32_t count = micro.panels;
    t.count = outputs < count * kPanel ? outputs : count * kPanel;
    t.panel = p.weights.panel(panel);
    t.ahead = t.panel;
    if (nth * ahead_bytes < count * panel_bytes) t.ahead = static_cast<const char*>(t.panel) + count * panel_bytes + nth * ahead_bytes;
    micro.tile(t, finish);
    return count;
  };
  // Few weights: all of them for each tile of rows. Many: all rows for each panel, so that the weights are read once.
  constexpr int64_t kWeightsInCache = 96 * 1024;
  const int32_t panels_end = part.first_panel + part.panels, tiles_end = part.first_tile + part.tiles;
  const bool rows_outside = part.panels * panel_bytes <= kWeightsInCache;
  const int32_t panel_step = rows_outside ? part.panels : panels_together(p, tiles);
  for (int32_t outer = part.first_panel; outer < panels_end; outer += panel_step) {
    const int32_t outer_end = outer + panel_step < panels_end ? outer + panel_step : panels_end;
    for (int32_t tile = part.first_tile; tile < tiles_end; ++tile) {
      const int32_t first = tiles.begin(tile), rows = tiles.begin(tile + 1) - first;
      left.rows(first, rows, pointers, out, residual, &t);
      for (int32_t panel = outer; panel < outer_end;) panel += run(rows, panel, outer_end - panel, tile - part.first_tile);
      const int32_t done = outer * kPanel, end = outer_end * kPanel < p.outputs ? outer_end * kPanel : p.outputs;
      if (finish.has_after()) finish.activate_after(out, rows, done, end - done);
    }
  }
}

// One row, of which `t` has all but the weights. Reading those is what takes the time, so each thread has one share of them, the same in
// every run: it may stay in a cache of its own.
void multiply_row(const Product& p, const TileRows& row, const Finish& finish, const Threads* threads) noexcept;

// The whole product, in parts that threads may take.
template <class Left>
void multiply(const Product& p, const Left& left, const Finish& finish, const Threads* threads) {
  if (p.rows <= 0 || p.outputs <= 0) return;
  if (p.rows == 1) {
    const float *pointers[kMaxTileRuns], *residual = nullptr;
    float* out;
    TileRows t{};
    left.rows(0, 1, pointers, &out, &residual, &t);
    t.rows = pointers;
    t.out = &out;
    t.residual = left.has_residual() ? &residual : nullptr;
    return multiply_row(p, t, finish, threads);
  }
  const RowTiles tiles(p.rows, p.weights.every_height);
  const int32_t panels = (p.outputs + kPanel - 1) / kPanel;
  // Rows of a part: their values stay in the second-level cache while the panels go by.
  const int64_t row_bytes = left.row_bytes();
  constexpr int64_t kRowsInCache = 512 * 1024;
  int64_t tiles_per_part = kRowsInCache / (row_bytes * kTileRows);
  if (tiles_per_part < 4) tiles_per_part = 4;
  const double work = static_cast<double>(p.rows) * p.outputs * p.k;
  Split split(tiles.count, static_cast<int32_t>(tiles_per_part), panels, panels_together(p, tiles), work, threads,
              {p.rows * row_bytes, panels * p.weights.panel_stride, int64_t{p.rows} * p.outputs * 4});
  split.run([&](int32_t first_tile, int32_t tile_count, int32_t first_panel, int32_t panel_count) {
    multiply_part(p, left, finish, tiles, {first_tile, tile_count, first_panel, panel_count});
  });
}

}  // namespace mote::kernels::MOTE_ISA_NAME
