// GEMM of f32 rows with group-scaled weights: blocks of the weights are dequantized to f32 panels on the stack, each used for all rows.

#include "mote/kernels/weights/grouped.h"

#include "mote/kernels/gemm/packed_blocks.h"
#include "mote/kernels/weights/widen.h"

namespace mote::kernels::MOTE_ISA_NAME::weights {

using namespace gemm;  // panels, micro-kernels and their loops
namespace {

using WidenFn = void (*)(const int32_t* words, const GroupScales& s, int32_t k, int32_t depth, int32_t column, int32_t columns, float* to);

struct GroupedGemm {
  const LhsRows& lhs;
  const EpilogueF32 &last, &plain;
  GroupScales scales;
  WidenFn widen;
  const int32_t* words;
  int64_t panel_words;
  int32_t n, step;
};

// A block of K that is dequantized at once: whole runs of the LHS, or a part of one.
struct KBlock {
  KBlock(const LhsRows& lhs, int32_t first, int32_t step)
      : k(first), run(first / lhs.run_length), run_offset(first % lhs.run_length), extra_rows(first % step) {
    const int32_t run_remaining = lhs.run_length - run_offset;
    if (lhs.run_length > kBlockK) {
      depth = length = run_remaining < kBlockK ? run_remaining : kBlockK;
      return;
    }
    const int32_t max_runs = kBlockK / lhs.run_length;
    runs = lhs.runs - run < max_runs ? lhs.runs - run : max_runs;
    length = lhs.run_length;
    depth = runs * length;
  }
  int32_t k, run, run_offset, extra_rows, runs = 1, length, depth;
};

// Weights are dequantized in whole steps, from the start of the step that the block begins in: at most so many extra rows of K.
inline constexpr int32_t kMaxExtraRows = NibblesOfWord::kStep;

// Rows [row, row + rows) times one block, for the columns from n on, whose weights are in `panels`. Partial sums accumulate in the output.
void multiply_block(const GroupedGemm& j, const KBlock& p, const float* panels, int32_t row, int32_t rows, int32_t n,
                    const EpilogueF32& epilogue) {
  const float* pointers[kMaxTileRuns * kTileRows];
  float* out[kTileRows];
  const float* addend[kTileRows];  // partial sums of the previous blocks, or the residual
  const RowTiles tiles(rows);
  for (int32_t i = 0; i < tiles.count; ++i) {
    const int32_t first = row + tiles.begin(i), count = tiles.begin(i + 1) - tiles.begin(i);
    TileArgs t;
    j.lhs.rows(j.lhs.self, first, count, pointers, out, addend, &t);
    const float** block_pointers = pointers + p.run * count;
    for (int32_t r = 0; r < count; ++r) {
      out[r] += n;
      if (p.k > 0) addend[r] = out[r];
      else if (j.lhs.has_residual) addend[r] += n;
      if (p.run_offset > 0) block_pointers[r] += p.run_offset;
    }
    t.rows = block_pointers;
    t.runs = p.runs;
    t.run_length = p.length;
    t.panel = panels;
    t.prefetch = panels;
    t.panel_stride = int64_t{p.depth + p.extra_rows} * kPanel * 4;
    t.out = out;
    t.residual = p.k > 0 || j.lhs.has_residual ? addend : nullptr;
    t.first_output = n;
    t.outputs = j.n - n < kBlockColumns ? j.n - n : kBlockColumns;
    (t.outputs > kPanel ? microkernel_of<PanelF32, kTilePanels>(count) : microkernel_of<PanelF32, 1>(count))(t, epilogue);
    if (epilogue.has_slow_activation()) epilogue.apply_slow_activation(out, count, 0, t.outputs);
  }
}

// Rows [row, row + rows) of the kBlockColumns columns from n on, over all of K.
void gemm_f32_columns(const GroupedGemm& j, int32_t row, int32_t rows, int32_t n) {
  alignas(64) float panels[(kBlockK + 2 * kMaxExtraRows) * kBlockColumns];
  const int32_t k_count = j.lhs.runs * j.lhs.run_length;
  for (int32_t k = 0; k < k_count;) {
    const KBlock block(j.lhs, k, j.step);
    const int32_t depth = block.depth + block.extra_rows;
    for (int32_t p = 0; p < kTilePanels && n + p * kPanel < j.n; ++p) {
      const int32_t column = n + p * kPanel, columns = j.n - column < kPanel ? j.n - column : kPanel;
      j.widen(j.words + column / kPanel * j.panel_words, j.scales, k - block.extra_rows, depth, column, columns,
              panels + p * depth * kPanel);
    }
    k += block.depth;
    multiply_block(j, block, panels + block.extra_rows * kPanel, row, rows, n, k == k_count ? j.last : j.plain);
  }
}

}  // namespace

void gemm_f32_group_scaled(const OpContext& c, const LhsRows& lhs, int32_t group_size, const EpilogueF32& last,
                           const EpilogueF32& plain) noexcept {
  const Tensor& w = c.input(1);
  const bool nibbles = w.dtype() == DType::s4;
  const int32_t n = w.dim(0), k = lhs.runs * lhs.run_length, step = nibbles ? NibblesOfWord::kStep : BytesOfWord::kStep;
  if (lhs.count <= 0 || n <= 0) return;
  const GroupedGemm gemm = {
      lhs,
      last,
      plain,
      GroupScales(c.input(4), c.has_input(5) ? &c.input(5) : nullptr, group_size > 0 && group_size < k ? group_size : k),
      nibbles ? &widen_panel<NibblesOfWord> : &widen_panel<BytesOfWord>,
      w.as<const int32_t>(),
      int64_t{(k + step - 1) / step} * kPanel,
      n,
      step};
  const int32_t columns = (n + kBlockColumns - 1) / kBlockColumns;
  const uint32_t helpers = thread_count(c.threads, static_cast<double>(lhs.count) * n * k);
  const int32_t row_parts = row_parts_of(columns, lhs.count, helpers);
  parallel_for(helpers > 1 ? c.threads : nullptr, static_cast<uint32_t>(columns * row_parts), [&](uint32_t part) {
    const int32_t i = static_cast<int32_t>(part);
    const Range rows = part_of(lhs.count, part % static_cast<uint32_t>(row_parts), static_cast<uint32_t>(row_parts));
    if (rows.size > 0) gemm_f32_columns(gemm, rows.first, rows.size, i / row_parts * kBlockColumns);
  });
}

bool supports_group_scales(const OpContext& c, int32_t group_size, int32_t runs, int32_t run_length) noexcept {
  const Tensor& w = c.input(1);
  const bool nibbles = w.dtype() == DType::s4;
  const int32_t step = nibbles ? NibblesOfWord::kStep : BytesOfWord::kStep;
  if (c.input(0).dtype() != DType::f32 || !c.has_input(4) || runs <= 0 || runs > kMaxTileRuns || run_length <= 0) return false;
  if (nibbles ? w.desc->layout != Layout::kPanel16k8 : !is_panel16k4(w.desc->layout)) return false;
  return (group_size == 0 || group_size >= runs * run_length || group_size % step == 0);
}

}  // namespace mote::kernels::MOTE_ISA_NAME::weights
