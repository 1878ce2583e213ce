// Products of 8-bit matrices (or batches of them) with packed weights.

#include "mote/ops/q_matmul/q_matmul.h"
#include "mote/kernels/common/rows_of.h"
#include "mote/kernels/int8/product.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

using ops::q_matmul::Attrs;

class MatrixLeft {
 public:
  MatrixLeft(const Tensor& x, const Tensor& y) : x_(x), y_(y) {}
  static constexpr bool has_residual() { return false; }
  static Strip strip() { return {}; }
  template <class W>
  static void write_run(int32_t, int32_t, int32_t, W&) {}
  template <class F>
  MOTE_INLINE void visit(int32_t first, int32_t count, int32_t k_begin, int32_t k_end, const F& f) const {
    for (int32_t i = 0; i < count; ++i)
      f(i, y_(first + i), nullptr, first + i, [&](auto& writer) { writer.put(x_(first + i) + k_begin, k_end - k_begin); });
  }

 private:
  RowsOf x_, y_;
};

Status run(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor &x = c.input(0), &w = c.input(1), &y = c.output(0);
  const int32_t n = w.dim(0), k = w.dim(1);
  const Stage stage(c, a, nullptr);
  const Product p{n > 0 ? y.count() / n : 0, n, k, w.as<const int8_t>(), 0, x.dtype() == DType::s8};
  multiply(p, MatrixLeft(x, y), stage, c.threads);
  return Status::kOk;
}

}  // namespace

KernelFn select_q_matmul(const OpContext& c) noexcept {
  const Tensor& w = c.input(1);
  if (w.desc->layout != Layout::kPanel16k4 || w.rank() != 2 || w.dim(1) == 0 || !Stage::can(c, c.attrs<Attrs>())) return nullptr;
  return &run;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
