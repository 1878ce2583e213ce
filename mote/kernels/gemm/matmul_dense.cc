// f32 matmul of two plain (unpacked) matrices: blocks of the RHS are packed on the stack.

#include "mote/kernels/gemm/matmul_dense.h"

#include "mote/kernels/gemm/pack.h"
#include "mote/kernels/gemm/packed_blocks.h"
#include "mote/ops/matmul/matmul.h"

namespace mote::kernels::MOTE_ISA_NAME::gemm {
namespace {

using ops::matmul::Attrs;

// The operands of one matrix product of a batch, as gemm_f32_columns() takes them.
struct DenseOperands {
  const uint8_t* lhs;
  uint8_t* out;
  const uint8_t* residuals;  // or null
  int64_t lhs_row, out_row, residual_row;
  int32_t n, k;
  const uint8_t* a(int32_t row) const { return lhs + row * lhs_row; }
  uint8_t* y(int32_t row) const { return out + row * out_row; }
  const uint8_t* residual(int32_t row) const { return residuals != nullptr ? residuals + row * residual_row : nullptr; }
};

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

Status matmul_f32_dense(const OpContext& c) noexcept {
  const Attrs& attrs = c.attrs<Attrs>();
  const Tensor &a = c.input(0), &b = c.input(1), &y = c.output(0);
  const int32_t m = y.dim(y.rank() - 2), n = y.dim(y.rank() - 1), k = a.dim(a.rank() - 1);
  if (y.count() == 0) return Status::kOk;
  const int32_t batches = y.count() / (m * n), groups = (n + kBlockColumns - 1) / kBlockColumns;
  const float* bias = c.has_input(2) ? c.input(2).as<const float>() : nullptr;
  const EpilogueF32 last(bias, nullptr, attrs.alpha, attrs.activation, attrs.act_a, attrs.act_b),
      plain(nullptr, nullptr, attrs.alpha, 0, 0, 0);
  const int64_t b_row = b.stride(b.rank() - 2);
  const uint32_t helpers = thread_count(c.threads, static_cast<double>(y.count()) * k);
  const int32_t row_parts = row_parts_of(batches * groups, m, helpers);
  const uint32_t parts = static_cast<uint32_t>(batches * groups * row_parts);
  parallel_for(helpers > 1 ? c.threads : nullptr, parts, [&](uint32_t part) {
    const int32_t i = static_cast<int32_t>(part), batch = i / (groups * row_parts), group = i / row_parts % groups;
    const Matrix rhs = {b.as<const uint8_t>() + batch_offset(b, y, batch), attrs.transpose_b != 0 ? 4 : b_row,
                        attrs.transpose_b != 0 ? b_row : 4};
    const Tensor& residual = c.has_input(3) ? c.input(3) : y;
    const DenseOperands operands = {a.as<const uint8_t>() + batch_offset(a, y, batch),
                                    y.as<uint8_t>() + batch_offset(y, y, batch),
                                    c.has_input(3) ? residual.as<const uint8_t>() + batch_offset(residual, y, batch) : nullptr,
                                    a.stride(a.rank() - 2),
                                    y.stride(y.rank() - 2),
                                    residual.stride(residual.rank() - 2),
                                    n,
                                    k};
    const Range rows = part_of(m, static_cast<uint32_t>(i % row_parts), static_cast<uint32_t>(row_parts));
    if (rows.size == 0) return;
    gemm_f32_columns(operands, rows.first, rows.size, group * kBlockColumns, last, plain,
                     [&](int32_t k0, int32_t depth, int32_t column, int32_t columns, float* panel) {
                       pack_panel(rhs, k0, depth, column, columns, panel);
                     });
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
  return &matmul_f32_dense;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::gemm
