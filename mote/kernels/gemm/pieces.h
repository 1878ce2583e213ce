#pragma once

// Products whose right side is no packed f32: it is brought into panels piece by piece on the stack, each piece used for all rows of
// its part.

#include "mote/kernels/gemm/product.h"

namespace mote::kernels::MOTE_ISA_NAME {

inline constexpr int32_t kDepth = 256;  // of a piece; longer sums are carried on in the output
inline constexpr int32_t kWidth = kTilePanels * kPanel;

// Rows [row, row + rows) and columns from n on. Factors: all but the right side of a product, a(row), y(row) and residual(row) as bytes
// (residual may be null), n and k.
template <class Factors>
void multiply_piece(const Factors& f, const float* panels, int32_t k, int32_t depth, int32_t row, int32_t rows, int32_t n,
                    const Finish& finish) {
  const RowTiles tiles(rows);
  for (int32_t i = 0; i < tiles.count; ++i) {
    const int32_t first = row + tiles.begin(i), count = tiles.begin(i + 1) - tiles.begin(i);
    const float* pointers[kTileRows];
    float* out[kTileRows];
    const float* before[kTileRows];
    for (int32_t r = 0; r < count; ++r) {
      pointers[r] = reinterpret_cast<const float*>(f.a(first + r)) + k;
      out[r] = reinterpret_cast<float*>(f.y(first + r)) + n;
      const auto* residual = reinterpret_cast<const float*>(f.residual(first + r));
      before[r] = k > 0 ? out[r] : residual != nullptr ? residual + n : nullptr;
    }
    Tile t;
    t.rows = pointers;
    t.runs = 1;
    t.run_length = depth;
    t.panel = panels;
    t.ahead = t.panel;
    t.panel_stride = int64_t{depth} * kPanel * 4;
    t.out = out;
    t.residual = before[0] != nullptr ? before : nullptr;
    t.first = n;
    t.count = f.n - n < kWidth ? f.n - n : kWidth;
    (t.count > kPanel ? tile_of<PanelF32, kTilePanels>(count) : tile_of<PanelF32, 1>(count))(t, finish);
    if (finish.has_after()) finish.activate_after(out, count, 0, t.count);
  }
}

// Rows [row, row + rows) of the kWidth columns from n on. pack(k, depth, column, columns, panel) writes rows [k, k + depth) of at most 16
// columns of the right side as a panel (depth, 16).
template <class Factors, class Pack>
void multiply_columns(const Factors& f, int32_t row, int32_t rows, int32_t n, const Finish& last, const Finish& plain, const Pack& pack) {
  alignas(64) float panels[kDepth * kWidth];
  for (int32_t k = 0; k < f.k; k += kDepth) {
    const int32_t depth = f.k - k < kDepth ? f.k - k : kDepth;
    for (int32_t p = 0; p < kTilePanels && n + p * kPanel < f.n; ++p) {
      const int32_t column = n + p * kPanel, columns = f.n - column < kPanel ? f.n - column : kPanel;
      pack(k, depth, column, columns, panels + p * depth * kPanel);
    }
    multiply_piece(f, panels, k, depth, row, rows, n, k + depth == f.k ? last : plain);
  }
}

// Into how many parts rows are cut for threads where there are `columns` groups of columns: those are shared first.
inline int32_t row_parts_of(int32_t columns, int32_t rows, uint32_t helpers) {
  int32_t parts = 1;
  while (helpers > 1 && columns * parts < static_cast<int32_t>(helpers) * 2 && rows / (parts * 2) >= kTileRows) parts *= 2;
  return parts;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
