#pragma once

#include "mote/kernels/common/tensor_rows.h"
#include "mote/kernels/gemm/microkernel.h"

namespace mote::kernels::MOTE_ISA_NAME::gemm {

// The LHS of a GEMM (see gemm_f32_range) whose rows are those of a matrix, or of a batch of matrices.
class MatrixRows {
 public:
  MatrixRows(const Tensor& a, const Tensor& y, const Tensor* residual, int32_t k)
      : a_(a), y_(y), residual_(residual != nullptr ? *residual : y), has_residual_(residual != nullptr), k_(k) {}
  bool has_residual() const { return has_residual_; }
  int64_t row_bytes() const { return int64_t{k_} * 4; }
  void row_pointers(int32_t first, int32_t count, const float** pointers, float** out, const float** residual, LhsTile* t) const {
    t->runs = 1;
    t->run_length = k_;
    for (int32_t i = 0; i < count; ++i) {
      pointers[i] = reinterpret_cast<const float*>(a_(first + i));
      out[i] = reinterpret_cast<float*>(y_(first + i));
      if (has_residual_) residual[i] = reinterpret_cast<const float*>(residual_(first + i));
    }
  }

 private:
  TensorRows a_, y_, residual_;
  bool has_residual_;
  int32_t k_;
};

}  // namespace mote::kernels::MOTE_ISA_NAME::gemm
