// matmul of f32 with group-scaled weights.

#include "mote/kernels/weights/matmul.h"

#include "mote/kernels/gemm/matrix_rows.h"
#include "mote/kernels/weights/grouped.h"
#include "mote/ops/matmul/matmul.h"

namespace mote::kernels::MOTE_ISA_NAME::weights {

using namespace gemm;  // MatrixRows
namespace {

using ops::matmul::Attrs;

Status matmul_f32_group_scaled(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor &w = c.input(1), &y = c.output(0);
  const int32_t n = w.dim(0), k = w.dim(1);
  const float* bias = c.has_input(2) ? c.input(2).as<const float>() : nullptr;
  const EpilogueF32 last(bias, nullptr, a.alpha, a.activation, a.act_a, a.act_b), plain(nullptr, nullptr, a.alpha, 0, 0, 0);
  const MatrixRows lhs(c.input(0), y, c.has_input(3) ? &c.input(3) : nullptr, k);
  gemm_f32_group_scaled(c, lhs_rows_of(lhs, y.count() / n, 1, k), a.group_size, last, plain);
  return Status::kOk;
}

}  // namespace

KernelFn select_matmul_grouped(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor& w = c.input(1);
  if (a.transpose_a != 0 || w.dim(0) == 0 || !supports_group_scales(c, a.group_size, 1, w.dim(1))) return nullptr;
  if (a.group_size > 0 && a.groups_first == 0) return nullptr;
  if (c.has_input(2) && (c.input(2).rank() < 1 || c.input(2).count() != w.dim(0) || c.input(2).dim(c.input(2).rank() - 1) != w.dim(0)))
    return nullptr;
  return &matmul_f32_group_scaled;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::weights
