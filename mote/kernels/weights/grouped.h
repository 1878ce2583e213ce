#pragma once

// Products of f32 with packed weights of 4 or 8 bits whose groups have scales.

#include "mote/kernels/gemm/product.h"

namespace mote::kernels::MOTE_ISA_NAME {

// A left side as gemm/product.h has it, by address: so the loops are there once for all of them. All its rows are cut into `runs` runs.
struct LeftRows {
  const void* self;
  void (*rows)(const void* self, int32_t first, int32_t count, const float** pointers, float** out, const float** residual, TileRows* t);
  int32_t count, runs, run_length;
  bool has_residual;
};
template <class Left>
LeftRows by_address(const Left& left, int32_t count, int32_t runs, int32_t run_length) {
  const auto rows = [](const void* self, int32_t first, int32_t n, const float** pointers, float** out, const float** residual,
                       TileRows* t) { static_cast<const Left*>(self)->rows(first, n, pointers, out, residual, t); };
  return {&left, rows, count, runs, run_length, left.has_residual()};
}

// Operands as conv and matmul have them: weights 1, scales 4 (groups, n) or (n), zero points 5. `last` finishes a sum, `plain` what is
// carried on.
void multiply_grouped(const OpContext& c, const LeftRows& left, int32_t group_size, const Finish& last, const Finish& plain) noexcept;

// True where multiply_grouped() reads these weights.
bool reads_groups(const OpContext& c, int32_t group_size, int32_t runs, int32_t run_length) noexcept;

}  // namespace mote::kernels::MOTE_ISA_NAME
