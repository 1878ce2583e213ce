// Quantized convolutions as GEMMs (im2col): the window of each output position is a row of the LHS, one GEMM per group.

#include "mote/ops/q_conv/q_conv.h"

#include "mote/kernels/int8/depthwise/depthwise.h"
#include "mote/kernels/int8/gemm/conv_rows.h"
#include "mote/kernels/int8/gemm/gemm.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {
namespace {

using ops::q_conv::Attrs;
using ops::q_conv::kResidual;

Status q_conv_s8(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor& w = c.input(1);
  const int spatial = w.rank() - 2;
  const NhwcView x(c.input(0)), y(c.output(0));
  const WindowGeometry g(a, w.desc->dims + 1, spatial);
  NhwcView residual;
  ops::QuantBinaryAttrs residual_attrs;
  const bool add = c.has_input(kResidual);
  if (add) residual = NhwcView(c.input(kResidual)), residual_attrs = ops::q_conv::sum_attrs(a);
  const RequantEpilogue epilogue(c, a, &residual_attrs);
  const int32_t channels = w.dim(w.rank() - 1), outputs = w.dim(0) / a.groups, k = g.kernel_h * g.kernel_w * channels;
  const int64_t panel_bytes = int64_t{(k + 3) / 4} * kKGroupBytes;
  for (int32_t group = 0; group < a.groups; ++group) {
    const ConvRowSource lhs(g, x, y, add ? &residual : nullptr, RowRange(c, y, spatial == 1), group * channels, channels);
    const int8_t* weights = w.as<const int8_t>() + group * outputs / kPanel * panel_bytes;
    gemm_s8(GemmShape{lhs.count(), outputs, k, weights, group * outputs, c.input(0).dtype() == DType::s8}, lhs, epilogue, c.threads);
  }
  return Status::kOk;
}

// The padded input of the convolution, if its shape is known before it runs and rows need no sums of their own.
PaddedRowsShape padded_shape_of(const OpContext& c) {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor &x = c.input(0), &w = c.input(1);
  if (x.desc->dynamic != 0 || a.groups != 1 || a.weight_zero != 0 || c.has_input(ops::kEpilogueWZero) || c.has_input(ops::kEpilogueXZero))
    return {};
  const WindowGeometry g(a, w.desc->dims + 1, w.rank() - 2);
  const NhwcView out(c.output(0));
  return ConvRowSource(g, NhwcView(x), out, nullptr, RowRange(c, out, w.rank() == 3), 0, w.dim(w.rank() - 1)).padded_shape();
}

}  // namespace

KernelFn select_q_conv(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor &x = c.input(0), &w = c.input(1);
  if (!is_panel16k4(w.desc->layout) || w.rank() > 4 || !RequantEpilogue::supports(c, a)) return nullptr;
  const auto ring = [&](const Tensor& t) { return t.desc->ring_rows != 0; };
  const bool add = c.has_input(kResidual);
  if (w.rank() == 3 && (!c.rows.all() || ring(x) || ring(c.output(0)) || (add && ring(c.input(kResidual))))) return nullptr;
  if (add && !AddResidual::supports(ops::q_conv::sum_attrs(a))) return nullptr;
  const int32_t channels = w.dim(w.rank() - 1);
  if (w.dim(0) == 0 ||
      !is_profitable(c.output(0).count() / w.dim(0), w.dim(0) / a.groups, element_count(*w.desc) / w.dim(0), padded_shape_of(c)))
    return nullptr;
  if constexpr (!kTilesOnly) {
    const KernelFn depthwise = a.groups > 1 && channels == 1 ? select_q_depthwise(c) : nullptr;
    if (depthwise != nullptr) return depthwise;
  }
  if (channels == 0 || (a.groups > 1 && w.dim(0) / a.groups % kPanel != 0) || !supports_weights(w)) return nullptr;
  return &q_conv_s8;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
