#pragma once

// GEMV: a single LHS row. The time goes into reading the weights once, so their column sums, which the zero point of the LHS needs, are
// computed in the same pass.

#include "mote/kernels/int8/gemm/gemm_s8.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

inline constexpr int32_t kMaxGemvK = 8192;

// The packed row, and what belongs to it.
struct GemvRow {
  alignas(64) Lhs elements[kMaxGemvK];
  int32_t excess;  // zero point less LhsEncoding::offset()
  RowCorrection correction{};
  uint8_t* out = nullptr;
  const uint8_t* residual = nullptr;
};

// Vectors of a panel, panels that are multiplied together, and registers that take.
inline constexpr int kGemvVectors = kPanel / kVectorOutputs;
inline constexpr int kGemvPanels = kRegisters == 32 ? 4 : kGemvVectors < 4 ? 4 / kGemvVectors : 1;
inline constexpr int kGemvRegisters = kGemvVectors * kGemvPanels;

// Accumulators and column sums of `panels` panels (at most kGemvPanels), each kPanel int32.
MOTE_INLINE void gemv_panels(const Lhs* row, int32_t k_groups, const int8_t* first_weights, int32_t panels, int32_t* accumulators,
                             int32_t* column_sums) {
  alignas(64) constexpr Lhs kOnes[4] = {1, 1, 1, 1};
  const Operand one = broadcast(kOnes);
  const int8_t* weights[kGemvPanels];
  // Behind the last panel the same panel is read again; the results are not stored.
  for (int32_t i = 0; i < kGemvPanels; ++i) weights[i] = first_weights + (i < panels ? i : panels - 1) * (int64_t{k_groups} * kKGroupBytes);
  Register acc[kGemvRegisters], column_sum[kGemvRegisters];
  unroll<kGemvRegisters>([&](auto i) MOTE_LAMBDA { acc[i] = column_sum[i] = zero_register(); });
  for (int32_t group = 0; group < k_groups; ++group) {
    const Operand x = broadcast(row + group * 4);
    unroll<kGemvRegisters>([&](auto i) MOTE_LAMBDA {
      const Operand w = load_weights(weights[i / kGemvVectors] + group * kKGroupBytes + i % kGemvVectors * kVectorOutputs * 4);
      acc[i] = dot(acc[i], x, w);
      column_sum[i] = dot(column_sum[i], one, w);
    });
  }
  unroll<kGemvPanels>([&](auto i) MOTE_LAMBDA {
    if (i < panels) {
      store_accumulators<kGemvVectors>(acc + i * kGemvVectors, accumulators + i * kPanel);
      store_accumulators<kGemvVectors>(column_sum + i * kGemvVectors, column_sums + i * kPanel);
    }
  });
}

// Outputs [first, first + count), where first is a multiple of kPanel.
inline void gemv_outputs(const GemmShape& p, const GemvRow& row, const RequantEpilogue& epilogue, int32_t first, int32_t count) {
  const int32_t k_groups = (p.k + 3) / 4, width = static_cast<int32_t>(dtype_bytes(epilogue.type()));
  alignas(64) int32_t accumulators[ChannelParams::kCount];
  ChannelParams params;
  for (int32_t end = first + count; first < end; first += ChannelParams::kCount) {
    const int32_t block = end - first < ChannelParams::kCount ? end - first : ChannelParams::kCount, panels = (block + kPanel - 1) / kPanel;
    for (int32_t panel = 0; panel < panels; panel += kGemvPanels) {
      const int8_t* weights = p.weights + (first / kPanel + panel) * (int64_t{k_groups} * kKGroupBytes);
      gemv_panels(row.elements, k_groups, weights, panels - panel, accumulators + panel * kPanel, params.weight_sum + panel * kPanel);
    }
    epilogue.load_params(p.first_output + first, block, p.k, &params);
    epilogue.add_zero_points(row.excess, p.k, block, &params);
    uint8_t* out = row.out + (p.first_output + first) * width;
    const uint8_t* residual = row.residual != nullptr ? row.residual + (p.first_output + first) * width : nullptr;
    epilogue.store(params, {accumulators, ChannelParams::kCount, 1, 0, block, &out, residual != nullptr ? &residual : nullptr,
                            &row.correction, false});
  }
}

// Returns false, having done nothing, when the GEMM has more rows or does not need column sums: GemmS8 computes it.
template <class RowSource>
bool gemv_s8(const GemmShape& p, const RowSource& lhs, const RequantEpilogue& epilogue, const Threads* threads) {
  const int32_t zero = epilogue.x_zero(0);
  const LhsEncoding encoding(p.is_signed, zero);
  const int32_t excess = wrapping_sub(zero, encoding.offset());
  if (p.rows != 1 || p.k > kMaxGemvK || excess == 0 || epilogue.has_w_zero() || epilogue.x_zero_varies()) return false;
  GemvRow row;
  row.excess = excess;
  alignas(64) uint8_t gather[kMaxGemvK + 64];
  lhs.visit_rows(0, 1, 0, p.k, [&](int32_t, uint8_t* out, const uint8_t* residual, int32_t quant_index, const auto& write) {
    LhsPacker<false> packer(encoding, static_cast<uint8_t>(zero), p.k, row.elements, gather);
    write(packer);
    packer.finish();
    row.out = out;
    row.residual = lhs.has_residual() ? residual : nullptr;
    row.correction = {0, 0, epilogue.x_scale(quant_index)};
  });
  const int32_t panels = (p.outputs + kPanel - 1) / kPanel;
  const BytesMoved bytes{p.k, int64_t{p.k} * p.outputs, p.outputs};
  const TilePartition split(1, 1, panels, 4, static_cast<double>(p.outputs) * p.k / 4, threads, bytes);
  split.run([&](int32_t, int32_t, int32_t first_panel, int32_t panel_count) {
    const int32_t first = first_panel * kPanel, remaining = p.outputs - first, wanted = panel_count * kPanel;
    gemv_outputs(p, row, epilogue, first, remaining < wanted ? remaining : wanted);
  });
  return true;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
