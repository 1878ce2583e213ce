#include "mote/kernels/gemm/tile.h"

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

}  // namespace mote::kernels::MOTE_ISA_NAME
