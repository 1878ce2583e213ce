#pragma once

// Packs blocks of a matrix that is not constant into panels (K, 16), as the micro-kernel reads its RHS.

#include "mote/kernels/common/math.h"
#include "mote/kernels/move/move.h"

namespace mote::kernels::MOTE_ISA_NAME::gemm {

// Element (k, n) at data + k * k_step + n * n_step bytes; one of the steps is 4.
struct Matrix {
  const uint8_t* data;
  int64_t k_step, n_step;
};

// Packs rows [k, k + depth) and columns [n, n + columns), columns <= 16, into a panel (depth, 16), padded with zeros.
inline void pack_panel(const Matrix& m, int32_t k, int32_t depth, int32_t n, int32_t columns, float* panel) {
  const uint8_t* from = m.data + k * m.k_step + n * m.n_step;
  if (m.n_step != 4) {
    if (columns < kPanel)
      for (int32_t i = 0; i < depth; ++i) unroll<kPanelVectors>([&](auto v) { store(hn::Zero(F32()), panel + i * kPanel + v * kLanes); });
    return move::transpose_32({from, reinterpret_cast<uint8_t*>(panel), m.n_step, kPanel * 4, columns, depth});
  }
  for (int32_t i = 0; i < depth; ++i, from += m.k_step, panel += kPanel) {
    const float* row = reinterpret_cast<const float*>(from);
    unroll<kPanelVectors>([&](auto v) {
      const int32_t remaining = columns - v * kLanes;
      store(remaining > 0 ? load_partial(row + v * kLanes, remaining) : hn::Zero(F32()), panel + v * kLanes);
    });
  }
}

}  // namespace mote::kernels::MOTE_ISA_NAME::gemm
