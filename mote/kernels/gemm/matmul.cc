// f32 matmul with packed weights; dispatch to the kernels of other forms of weights.

#include "mote/ops/matmul/matmul.h"

#include "mote/kernels/gemm/gemm_f32.h"
#include "mote/kernels/gemm/matmul_dense.h"
#include "mote/kernels/gemm/matrix_rows.h"
#include "mote/kernels/weights/matmul.h"

namespace mote::kernels::MOTE_ISA_NAME::gemm {
namespace {

using ops::matmul::Attrs;

Status matmul_f32(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor &lhs = c.input(0), &w = c.input(1), &y = c.output(0);
  const int32_t k = w.dim(1), n = w.dim(0);
  const auto vector = [&](int i) { return c.has_input(i) ? c.input(i).as<const float>() : nullptr; };
  const EpilogueF32 epilogue(vector(2), vector(4), a.alpha, a.activation, a.act_a, a.act_b);
  const GemmShape p{n > 0 ? y.count() / n : 0, n, k, weights_of(w, k, 0)};
  // A single row starts where its tensor does; locating rows in general would take longer than multiplying a small one.
  if (p.rows == 1) {
    const float *row = lhs.as<const float>(), *residual = vector(3);
    float* out = y.as<float>();
    LhsTile t;
    t.rows = &row, t.runs = 1, t.run_length = k;
    t.out = &out, t.residual = residual != nullptr ? &residual : nullptr;
    gemv_f32(p, t, epilogue, c.threads);
    return Status::kOk;
  }
  gemm_f32(p, MatrixRows(lhs, y, c.has_input(3) ? &c.input(3) : nullptr, k), epilogue, c.threads);
  return Status::kOk;
}

// One value for each output column.
bool is_vector(const Tensor& t, int32_t n) { return t.rank() >= 1 && t.dim(t.rank() - 1) == n && t.count() == n; }

}  // namespace

KernelFn select_matmul(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor &lhs = c.input(0), &w = c.input(1);
  if (w.desc->layout == Layout::kPlain) return select_matmul_dense(c);
  if (lhs.dtype() != DType::f32) return nullptr;
  const bool grouped = c.has_input(4) && (a.group_size > 0 || c.input(4).dtype() != DType::f32);
  if (grouped || c.has_input(5) || w.dtype() == DType::s4) return weights::select_matmul_grouped(c);
  if (a.transpose_a != 0 || w.dim(1) == 0) return nullptr;
  if (c.has_input(2) && !is_vector(c.input(2), w.dim(0))) return nullptr;
  // K is a single run, so it may end within a k group.
  return has_panels(*w.desc, 0) ? &matmul_f32 : nullptr;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::gemm
