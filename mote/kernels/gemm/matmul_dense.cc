// Products whose right side is computed too: it is packed piece by piece on the stack, each piece used for all rows of its part.

#include "mote/kernels/gemm/matmul_dense.h"

#include "mote/kernels/gemm/pack.h"
#include "mote/kernels/gemm/product.h"
#include "mote/ops/matmul/matmul.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

using ops::matmul::Attrs;

constexpr int32_t kDepth = 256;  // of a piece; longer sums are carried on in the output
constexpr int32_t kWidth = kTilePanels * kPanel;

// One product of a batch.
struct Factors {
  const uint8_t* a;
  Matrix b;
  uint8_t* y;
  const uint8_t* residual;  // or null
  int64_t a_row, y_row, residual_row;
  int32_t m, n, k;
};

// Rows [row, row + rows) and columns from n on.
void multiply_piece(const Factors& f, const float* panels, int32_t k, int32_t depth, int32_t row, int32_t rows, int32_t n,
                    const Finish& finish) {
  const RowTiles tiles(rows);
  for (int32_t i = 0; i < tiles.count; ++i) {
    const int32_t first = row + tiles.begin(i), count = tiles.begin(i + 1) - tiles.begin(i);
    const float* pointers[kTileRows];
    float* out[kTileRows];
    const float* before[kTileRows];
    for (int32_t r = 0; r < count; ++r) {
      pointers[r] = reinterpret_cast<const float*>(f.a + (first + r) * f.a_row) + k;
      out[r] = reinterpret_cast<float*>(f.y + (first + r) * f.y_row) + n;
      before[r] = k > 0                   ? out[r]
                  : f.residual != nullptr ? reinterpret_cast<const float*>(f.residual + (first + r) * f.residual_row) + n
                                          : nullptr;
    }
    Tile<PanelF32> t;
    t.rows = pointers;
    t.runs = 1;
    t.run_length = depth;
    t.panel = panels;
    t.ahead = t.panel;
    t.panel_stride = int64_t{depth} * kPanel;
    t.out = out;
    t.residual = before[0] != nullptr ? before : nullptr;
    t.first = n;
    t.count = f.n - n < kWidth ? f.n - n : kWidth;
    (t.count > kPanel ? tile_of<PanelF32, kTilePanels>(count) : tile_of<PanelF32, 1>(count))(t, finish);
    for (int32_t r = 0; r < count; ++r) finish.activate_after(out[r], t.count);
  }
}

void multiply_columns(const Factors& f, int32_t row, int32_t rows, int32_t n, const Finish& last, const Finish& plain) {
  alignas(64) float panels[kDepth * kWidth];
  for (int32_t k = 0; k < f.k; k += kDepth) {
    const int32_t depth = f.k - k < kDepth ? f.k - k : kDepth;
    for (int32_t p = 0; p < kTilePanels && n + p * kPanel < f.n; ++p) {
      const int32_t column = n + p * kPanel, columns = f.n - column < kPanel ? f.n - column : kPanel;
      pack_panel(f.b, k, depth, column, columns, panels + p * depth * kPanel);
    }
    multiply_piece(f, panels, k, depth, row, rows, n, k + depth == f.k ? last : plain);
  }
}

// Byte offset of matrix `batch` of a tensor that is broadcast to y's batch dimensions.
int64_t batch_offset(const Tensor& t, const Tensor& y, int32_t batch) {
  int64_t offset = 0;
  for (int i = y.rank() - 3; i >= 0; --i) {
    const int own = i - (y.rank() - t.rank());
    if (own >= 0 && t.dim(own) != 1) offset += int64_t{batch % y.dim(i)} * t.stride(own);
    batch /= y.dim(i);
  }
  return offset;
}

Status run_dense(const OpContext& c) noexcept {
  const Attrs& attrs = c.attrs<Attrs>();
  const Tensor &a = c.input(0), &b = c.input(1), &y = c.output(0);
  const int32_t m = y.dim(y.rank() - 2), n = y.dim(y.rank() - 1), k = a.dim(a.rank() - 1);
  if (y.count() == 0) return Status::kOk;
  const int32_t batches = y.count() / (m * n), groups = (n + kWidth - 1) / kWidth;
  const float* bias = c.has_input(2) ? c.input(2).as<const float>() : nullptr;
  const Finish last(bias, nullptr, attrs.alpha, attrs.activation, attrs.act_a, attrs.act_b), plain(nullptr, nullptr, attrs.alpha, 0, 0, 0);
  const int64_t b_row = b.stride(b.rank() - 2);
  const uint32_t helpers = useful_threads(c.threads, static_cast<double>(y.count()) * k);
  // Threads share products and groups of columns first, rows where there are too few of those.
  int32_t row_parts = 1;
  while (helpers > 1 && batches * groups * row_parts < static_cast<int32_t>(helpers) * 2 && m / (row_parts * 2) >= kTileRows)
    row_parts *= 2;
  const uint32_t parts = static_cast<uint32_t>(batches * groups * row_parts);
  parallel_for(helpers > 1 ? c.threads : nullptr, parts, [&](uint32_t part) {
    const int32_t i = static_cast<int32_t>(part), batch = i / (groups * row_parts), group = i / row_parts % groups;
    Factors f;
    f.a = a.as<const uint8_t>() + batch_offset(a, y, batch);
    f.b.data = b.as<const uint8_t>() + batch_offset(b, y, batch);
    f.b.k_step = attrs.transpose_b != 0 ? 4 : b_row;
    f.b.n_step = attrs.transpose_b != 0 ? b_row : 4;
    f.y = y.as<uint8_t>() + batch_offset(y, y, batch);
    f.residual = c.has_input(3) ? c.input(3).as<const uint8_t>() + batch_offset(c.input(3), y, batch) : nullptr;
    f.a_row = a.stride(a.rank() - 2);
    f.y_row = y.stride(y.rank() - 2);
    f.residual_row = c.has_input(3) ? c.input(3).stride(c.input(3).rank() - 2) : 0;
    f.m = m, f.n = n, f.k = k;
    const Range rows = part_of(m, static_cast<uint32_t>(i % row_parts), static_cast<uint32_t>(row_parts));
    if (rows.size > 0) multiply_columns(f, rows.first, rows.size, group * kWidth, last, plain);
  });
  return Status::kOk;
}

}  // namespace

KernelFn select_matmul_dense(const OpContext& c) noexcept {
  const Attrs& attrs = c.attrs<Attrs>();
  const Tensor &a = c.input(0), &b = c.input(1), &y = c.output(0);
  if (a.dtype() != DType::f32 || b.dtype() != DType::f32 || b.desc->layout != Layout::kPlain) return nullptr;
  if (attrs.transpose_a != 0 || c.has_input(4) || c.has_input(5) || a.dim(a.rank() - 1) == 0) return nullptr;
  if (c.has_input(2)) {
    const Tensor& bias = c.input(2);
    const int32_t n = y.dim(y.rank() - 1);
    if (bias.rank() < 1 || bias.dim(bias.rank() - 1) != n || bias.count() != n) return nullptr;
  }
  return &run_dense;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
