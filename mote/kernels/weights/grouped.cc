#include "mote/kernels/weights/grouped.h"

#include "mote/kernels/gemm/pieces.h"
#include "mote/kernels/weights/widen.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

using WidenFn = void (*)(const int32_t* words, const GroupScales& s, int32_t k, int32_t depth, int32_t column, int32_t columns, float* to);

struct Job {
  const LeftRows& left;
  const Finish &last, &plain;
  GroupScales scales;
  WidenFn widen;
  const int32_t* words;
  int64_t panel_words;
  int32_t n, step;
};

// Products that are made at once: whole runs, or a part of one.
struct Piece {
  Piece(const LeftRows& left, int32_t first, int32_t step)
      : k(first), run(first / left.run_length), at(first % left.run_length), before(first % step) {
    const int32_t rest = left.run_length - at;
    if (left.run_length > kDepth) {
      depth = length = rest < kDepth ? rest : kDepth;
      return;
    }
    const int32_t most = kDepth / left.run_length;
    runs = left.runs - run < most ? left.runs - run : most;
    length = left.run_length;
    depth = runs * length;
  }
  int32_t k, run, at, before, runs = 1, length, depth;
};

// Weights are widened from the beginning of a panel's step on: so many rows more than the piece has.
inline constexpr int32_t kMostBefore = NibblesOfWord::kStep;

// A piece for rows [row, row + rows) and the columns from n on, whose weights are in `panels`. Sums are carried on in the output.
void multiply_rows(const Job& j, const Piece& p, const float* panels, int32_t row, int32_t rows, int32_t n, const Finish& finish) {
  const float* pointers[kMaxTileRuns * kTileRows];
  float* out[kTileRows];
  const float* before[kTileRows];
  const RowTiles tiles(rows);
  for (int32_t i = 0; i < tiles.count; ++i) {
    const int32_t first = row + tiles.begin(i), count = tiles.begin(i + 1) - tiles.begin(i);
    Tile t;
    j.left.rows(j.left.self, first, count, pointers, out, before, &t);
    const float** rows_of_piece = pointers + p.run * count;
    for (int32_t r = 0; r < count; ++r) {
      out[r] += n;
      if (p.k > 0) before[r] = out[r];
      else if (j.left.has_residual) before[r] += n;
      if (p.at > 0) rows_of_piece[r] += p.at;
    }
    t.rows = rows_of_piece;
    t.runs = p.runs;
    t.run_length = p.length;
    t.panel = panels;
    t.ahead = panels;
    t.panel_stride = int64_t{p.depth + p.before} * kPanel * 4;
    t.out = out;
    t.residual = p.k > 0 || j.left.has_residual ? before : nullptr;
    t.first = n;
    t.count = j.n - n < kWidth ? j.n - n : kWidth;
    (t.count > kPanel ? tile_of<PanelF32, kTilePanels>(count) : tile_of<PanelF32, 1>(count))(t, finish);
    if (finish.has_after()) finish.activate_after(out, count, 0, t.count);
  }
}

void multiply_columns(const Job& j, int32_t row, int32_t rows, int32_t n) {
  alignas(64) float panels[(kDepth + 2 * kMostBefore) * kWidth];
  const int32_t k_count = j.left.runs * j.left.run_length;
  for (int32_t k = 0; k < k_count;) {
    const Piece piece(j.left, k, j.step);
    const int32_t depth = piece.depth + piece.before;
    for (int32_t p = 0; p < kTilePanels && n + p * kPanel < j.n; ++p) {
      const int32_t column = n + p * kPanel, columns = j.n - column < kPanel ? j.n - column : kPanel;
      j.widen(j.words + column / kPanel * j.panel_words, j.scales, k - piece.before, depth, column, columns, panels + p * depth * kPanel);
    }
    k += piece.depth;
    multiply_rows(j, piece, panels + piece.before * kPanel, row, rows, n, k == k_count ? j.last : j.plain);
  }
}

}  // namespace

void multiply_grouped(const OpContext& c, const LeftRows& left, int32_t group_size, const Finish& last, const Finish& plain) noexcept {
  const Tensor& w = c.input(1);
  const bool nibbles = w.dtype() == DType::s4;
  const int32_t n = w.dim(0), k = left.runs * left.run_length, step = nibbles ? NibblesOfWord::kStep : BytesOfWord::kStep;
  if (left.count <= 0 || n <= 0) return;
  const Job job = {left,
                   last,
                   plain,
                   GroupScales(c.input(4), c.has_input(5) ? &c.input(5) : nullptr, group_size > 0 && group_size < k ? group_size : k),
                   nibbles ? &widen_panel<NibblesOfWord> : &widen_panel<BytesOfWord>,
                   w.as<const int32_t>(),
                   int64_t{(k + step - 1) / step} * kPanel,
                   n,
                   step};
  const int32_t columns = (n + kWidth - 1) / kWidth;
  const uint32_t helpers = useful_threads(c.threads, static_cast<double>(left.count) * n * k);
  const int32_t row_parts = row_parts_of(columns, left.count, helpers);
  parallel_for(helpers > 1 ? c.threads : nullptr, static_cast<uint32_t>(columns * row_parts), [&](uint32_t part) {
    const int32_t i = static_cast<int32_t>(part);
    const Range rows = part_of(left.count, part % static_cast<uint32_t>(row_parts), static_cast<uint32_t>(row_parts));
    if (rows.size > 0) multiply_columns(job, rows.first, rows.size, i / row_parts * kWidth);
  });
}

bool reads_groups(const OpContext& c, int32_t group_size, int32_t runs, int32_t run_length) noexcept {
  const Tensor& w = c.input(1);
  const bool nibbles = w.dtype() == DType::s4;
  const int32_t step = nibbles ? NibblesOfWord::kStep : BytesOfWord::kStep;
  if (c.input(0).dtype() != DType::f32 || !c.has_input(4) || runs <= 0 || runs > kMaxTileRuns || run_length <= 0) return false;
  if (nibbles ? w.desc->layout != Layout::kPanel16k8 : !is_panel16k4(w.desc->layout)) return false;
  return (group_size == 0 || group_size >= runs * run_length || group_size % step == 0);
}

}  // namespace mote::kernels::MOTE_ISA_NAME
