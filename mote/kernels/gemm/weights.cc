#include "mote/kernels/gemm/product.h"

namespace mote::kernels::MOTE_ISA_NAME {

Weights weights_of(const Tensor& w, int32_t k, int32_t first) noexcept {
  const auto with = [&](auto panels) -> Weights {
    using P = decltype(panels);
    const int64_t stride = panel_stride_of<P>(k) * static_cast<int64_t>(sizeof(typename P::Element));
    return {w.as<const uint8_t>() + first / kPanel * stride, stride, P::kGroup, kEveryHeight<P>, &tile_for<P>};
  };
  switch (w.dtype()) {
    case DType::f16: return with(PanelF16{});
    case DType::bf16: return with(PanelBf16{});
    case DType::s8: return with(PanelS8{});
    default: return with(PanelF32{});
  }
}

void multiply_row(const Product& p, const TileRows& row, const Finish& finish, const Threads* threads) noexcept {
  const int32_t panels = (p.outputs + kPanel - 1) / kPanel, units = (panels + kOneRow - 1) / kOneRow;
  // A byte of weights takes most of a step to arrive.
  const double products = static_cast<double>(p.outputs) * p.k, bytes = static_cast<double>(panels * p.weights.panel_stride);
  const uint32_t helpers = useful_threads(threads, products > 0.75 * bytes ? products : 0.75 * bytes);
  const uint32_t parts = helpers < static_cast<uint32_t>(units) ? helpers : static_cast<uint32_t>(units);
  parallel_for(threads, parts, [&](uint32_t i) {
    const Range mine = part_of(units, i, parts);
    const int32_t begin = mine.first * kOneRow * kPanel, past = (mine.first + mine.size) * kOneRow * kPanel;
    const int32_t end = past < p.outputs ? past : p.outputs;
    Tile t;
    static_cast<TileRows&>(t) = row;
    t.panel_stride = p.weights.panel_stride;
    Micro micro(p.weights);
    for (t.first = begin; t.first < end; t.first += t.count) {
      micro.choose(1, end - t.first);
      t.at = t.first;
      t.count = end - t.first < micro.panels * kPanel ? end - t.first : micro.panels * kPanel;
      t.panel = p.weights.panel(t.first / kPanel);
      t.ahead = t.panel;
      micro.tile(t, finish);
    }
    finish.activate_after(*row.out + begin, end - begin);
  });
}

}  // namespace mote::kernels::MOTE_ISA_NAME
