#pragma once

// Products with a single row, where the weights are read once and nothing else counts: sums of the weights, which the zero point needs, are
// made on the same way.

#include <type_traits>

#include "mote/kernels/int8/product.h"

namespace mote::kernels::MOTE_ISA_NAME {

inline constexpr int32_t kMaxRow = 8192;

// The outputs of one part: `count` of them from `first` on, a whole number of panels but for the last.
inline void multiply_row_part(const Product& p, const Left* row, int32_t excess, const Stage& stage, const RowTerms& terms, int32_t first,
                              int32_t count, uint8_t* out, const uint8_t* residual) {
  constexpr int kVectors = kPanel / kVectorOutputs,
                kPanels = kRegisters == 32 ? 4
                          : kVectors < 4   ? 4 / kVectors
                                           : 1,
                kAll = kVectors * kPanels;
  const int32_t steps = (p.k + 3) / 4, width = static_cast<int32_t>(dtype_bytes(stage.type()));
  const int64_t panel_stride = int64_t{steps} * kStepBytes;
  alignas(64) Left ones[4] = {1, 1, 1, 1};
  const Operand one = broadcast(ones);
  alignas(64) int32_t sums[Columns::kCount];
  Columns columns;
  for (int32_t end = first + count; first < end; first += Columns::kCount) {
    const int32_t some = end - first < Columns::kCount ? end - first : Columns::kCount, panels = (some + kPanel - 1) / kPanel;
    for (int32_t panel = 0; panel < panels; panel += kPanels) {
      const int8_t* weights[kPanels];
      // Panels beyond the last are the last one again; their sums have no place.
      for (int32_t i = 0; i < kPanels; ++i)
        weights[i] = p.weights + (first / kPanel + (panel + i < panels ? panel + i : panels - 1)) * panel_stride;
      Register sum[kAll], weight[kAll];
      unroll<kAll>([&](auto i) MOTE_LAMBDA { sum[i] = weight[i] = zero_register(); });
      for (int32_t step = 0; step < steps; ++step) {
        const Operand x = broadcast(row + step * 4);
        unroll<kAll>([&](auto i) MOTE_LAMBDA {
          const Operand w = load_weights(weights[i / kVectors] + step * kStepBytes + i % kVectors * kVectorOutputs * 4);
          sum[i] = dot(sum[i], x, w);
          weight[i] = dot(weight[i], one, w);
        });
      }
      unroll<kPanels>([&](auto i) MOTE_LAMBDA {
        if (panel + i < panels) {
          store_sums<kVectors>(sum + i * kVectors, sums + (panel + i) * kPanel);
          store_sums<kVectors>(weight + i * kVectors, columns.weight + (panel + i) * kPanel);
        }
      });
    }
    stage.describe(p.first_output + first, some, p.k, &columns);
    stage.add_zero_points(excess, p.k, some, &columns);
    uint8_t* to = out + (p.first_output + first) * width;
    const uint8_t* more = residual != nullptr ? residual + (p.first_output + first) * width : nullptr;
    stage.store(columns, {sums, Columns::kCount, 1, 0, some, &to, more != nullptr ? &more : nullptr, &terms, false});
  }
}

// False: it is not such a product.
template <class L>
bool multiply_row(const Product& p, const L& left, const Stage& stage, const Threads* threads) {
  const int32_t zero = stage.x_zero(0);
  const LeftForm form(p.is_signed, zero);
  const int32_t excess = wrapping_sub(zero, form.offset());
  if (p.rows != 1 || p.k > kMaxRow || excess == 0 || stage.has_w_zero() || stage.x_zero_varies()) return false;
  alignas(64) Left row[kMaxRow];
  alignas(64) uint8_t buffer[kMaxRow + 64];
  uint8_t* out = nullptr;
  const uint8_t* residual = nullptr;
  RowTerms terms{};
  left.visit(0, 1, 0, p.k, [&](int32_t, uint8_t* to, const uint8_t* more, int32_t number, const auto& write) {
    RowWriter<false> writer(form, static_cast<uint8_t>(zero), p.k, row, buffer);
    write(writer);
    writer.finish();
    out = to;
    residual = left.has_residual() ? more : nullptr;
    terms = {0, 0, stage.x_scale(number)};
  });
  const int32_t panels = (p.outputs + kPanel - 1) / kPanel;
  const Traffic bytes{p.k, int64_t{p.k} * p.outputs, p.outputs};
  const Split split(1, 1, panels, 4, static_cast<double>(p.outputs) * p.k / 4, threads, bytes);
  split.run([&](int32_t, int32_t, int32_t first_panel, int32_t panel_count) {
    const int32_t first = first_panel * kPanel, left_over = p.outputs - first, most = panel_count * kPanel;
    multiply_row_part(p, row, excess, stage, terms, first, left_over < most ? left_over : most, out, residual);
  });
  return true;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
