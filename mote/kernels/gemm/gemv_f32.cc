// Products of a single row, and the choice of the micro-kernel by the type of the weights.

#include "mote/kernels/gemm/gemm_f32.h"

namespace mote::kernels::MOTE_ISA_NAME::gemm {

Weights weights_of(const Tensor& w, int32_t k, int32_t first) noexcept {
  const auto weights_as = [&](auto panels) -> Weights {
    using P = decltype(panels);
    const int64_t stride = panel_stride_of<P>(k) * static_cast<int64_t>(sizeof(typename P::Element));
    return {w.as<const uint8_t>() + first / kPanel * stride, stride, P::kGroup, kEveryHeight<P>, &microkernel_for<P>};
  };
  switch (w.dtype()) {
    case DType::f16: return weights_as(PanelF16{});
    case DType::bf16: return weights_as(PanelBf16{});
    case DType::s8: return weights_as(PanelS8{});
    default: return weights_as(PanelF32{});
  }
}

void gemv_f32(const GemmShape& p, const LhsTile& row, const EpilogueF32& epilogue, const Threads* threads) noexcept {
  const int32_t panels = (p.outputs + kPanel - 1) / kPanel, units = (panels + kPanelsForOneRow - 1) / kPanelsForOneRow;
  // Loading a byte of weights takes most of a step (parallel.h).
  const double multiply_adds = static_cast<double>(p.outputs) * p.k, bytes = static_cast<double>(panels * p.weights.panel_stride);
  const uint32_t helpers = thread_count(threads, multiply_adds > 0.75 * bytes ? multiply_adds : 0.75 * bytes);
  const uint32_t parts = helpers < static_cast<uint32_t>(units) ? helpers : static_cast<uint32_t>(units);
  parallel_for(threads, parts, [&](uint32_t i) {
    const Range mine = part_of(units, i, parts);
    const int32_t begin = mine.first * kPanelsForOneRow * kPanel, past = (mine.first + mine.size) * kPanelsForOneRow * kPanel;
    const int32_t end = past < p.outputs ? past : p.outputs;
    TileArgs t;
    static_cast<LhsTile&>(t) = row;
    t.panel_stride = p.weights.panel_stride;
    MicrokernelChoice micro(p.weights);
    for (t.first_output = begin; t.first_output < end; t.first_output += t.outputs) {
      micro.choose(1, end - t.first_output);
      t.out_offset = t.first_output;
      t.outputs = end - t.first_output < micro.panels * kPanel ? end - t.first_output : micro.panels * kPanel;
      t.panel = p.weights.panel(t.first_output / kPanel);
      t.prefetch = t.panel;
      micro.run_tile(t, epilogue);
    }
    epilogue.apply_slow_activation(*row.out + begin, end - begin);
  });
}

}  // namespace mote::kernels::MOTE_ISA_NAME::gemm
