#pragma once

// GEMM of f32 with packed s4 or s8 weights that have a scale (and zero point) for each group of K.

#include "mote/kernels/gemm/gemm_f32.h"

namespace mote::kernels::MOTE_ISA_NAME::weights {

using namespace gemm;  // LhsTile and the loop nest

// A type-erased LHS (see gemm_f32_range): the loop nest is compiled once for all of them. Every row has `runs` runs.
struct LhsRows {
  const void* self;
  void (*rows)(const void* self, int32_t first, int32_t count, const float** pointers, float** out, const float** residual, LhsTile* t);
  int32_t count, runs, run_length;
  bool has_residual;
};
template <class Lhs>
LhsRows lhs_rows_of(const Lhs& lhs, int32_t count, int32_t runs, int32_t run_length) {
  const auto rows = [](const void* self, int32_t first, int32_t n, const float** pointers, float** out, const float** residual,
                       LhsTile* t) { static_cast<const Lhs*>(self)->row_pointers(first, n, pointers, out, residual, t); };
  return {&lhs, rows, count, runs, run_length, lhs.has_residual()};
}

// Inputs of c as conv and matmul have them: weights 1, scales 4 (groups, n) or (n), zero points 5. `last` is the epilogue of the last block
// of K, `plain` that of the others, whose partial sums accumulate in the output.
void gemm_f32_group_scaled(const OpContext& c, const LhsRows& lhs, int32_t group_size, const EpilogueF32& last,
                           const EpilogueF32& plain) noexcept;

// True when gemm_f32_group_scaled() supports these weights.
bool supports_group_scales(const OpContext& c, int32_t group_size, int32_t runs, int32_t run_length) noexcept;

}  // namespace mote::kernels::MOTE_ISA_NAME::weights
