#pragma once

// GEMMs whose RHS is not packed f32: blocks of it (kBlockK rows, kBlockColumns columns) are packed into panels on the stack, and each block
// is used for all rows of a thread's part.

#include "mote/kernels/gemm/gemm_f32.h"

namespace mote::kernels::MOTE_ISA_NAME::gemm {

inline constexpr int32_t kBlockK = 256;  // longer sums accumulate in the output tensor
inline constexpr int32_t kBlockColumns = kTilePanels * kPanel;

// Rows [row, row + rows) times one block of the RHS, for columns from n on and K in [k, k + depth). Operands: everything but the RHS:
// a(row), y(row) and residual(row) as byte addresses (residual may be null), n and k.
template <class Operands>
void gemm_f32_block(const Operands& f, const float* panels, int32_t k, int32_t depth, int32_t row, int32_t rows, int32_t n,
                    const EpilogueF32& epilogue) {
  const RowTiles tiles(rows);
  for (int32_t i = 0; i < tiles.count; ++i) {
    const int32_t first = row + tiles.begin(i), count = tiles.begin(i + 1) - tiles.begin(i);
    const float* pointers[kTileRows];
    float* out[kTileRows];
    const float* addend[kTileRows];  // partial sums of the previous blocks, or the residual
    for (int32_t r = 0; r < count; ++r) {
      pointers[r] = reinterpret_cast<const float*>(f.a(first + r)) + k;
      out[r] = reinterpret_cast<float*>(f.y(first + r)) + n;
      const auto* residual = reinterpret_cast<const float*>(f.residual(first + r));
      addend[r] = k > 0 ? out[r] : residual != nullptr ? residual + n : nullptr;
    }
    TileArgs t;
    t.rows = pointers;
    t.runs = 1;
    t.run_length = depth;
    t.panel = panels;
    t.prefetch = t.panel;
    t.panel_stride = int64_t{depth} * kPanel * 4;
    t.out = out;
    t.residual = addend[0] != nullptr ? addend : nullptr;
    t.first_output = n;
    t.outputs = f.n - n < kBlockColumns ? f.n - n : kBlockColumns;
    (t.outputs > kPanel ? microkernel_of<PanelF32, kTilePanels>(count) : microkernel_of<PanelF32, 1>(count))(t, epilogue);
    if (epilogue.has_slow_activation()) epilogue.apply_slow_activation(out, count, 0, t.outputs);
  }
}

// Rows [row, row + rows) of the kBlockColumns columns from n on. pack(k, depth, column, columns, panel) packs rows [k, k + depth) of at
// most 16 columns of the RHS as a panel (depth, 16). `last` is the epilogue of the last block, `plain` that of the others.
template <class Operands, class Pack>
void gemm_f32_columns(const Operands& f, int32_t row, int32_t rows, int32_t n, const EpilogueF32& last, const EpilogueF32& plain,
                      const Pack& pack) {
  alignas(64) float panels[kBlockK * kBlockColumns];
  for (int32_t k = 0; k < f.k; k += kBlockK) {
    const int32_t depth = f.k - k < kBlockK ? f.k - k : kBlockK;
    for (int32_t p = 0; p < kTilePanels && n + p * kPanel < f.n; ++p) {
      const int32_t column = n + p * kPanel, columns = f.n - column < kPanel ? f.n - column : kPanel;
      pack(k, depth, column, columns, panels + p * depth * kPanel);
    }
    gemm_f32_block(f, panels, k, depth, row, rows, n, k + depth == f.k ? last : plain);
  }
}

// How many parts to split rows into for threads, given `columns` blocks of columns: splitting those needs no packing twice, so they come
// first.
inline int32_t row_parts_of(int32_t columns, int32_t rows, uint32_t helpers) {
  int32_t parts = 1;
  while (helpers > 1 && columns * parts < static_cast<int32_t>(helpers) * 2 && rows / (parts * 2) >= kTileRows) parts *= 2;
  return parts;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::gemm
