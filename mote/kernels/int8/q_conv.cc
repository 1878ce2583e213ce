// Quantized convolutions as products: the window of each output is gathered into a row of the left side.

#include "mote/ops/q_conv/q_conv.h"

#include "mote/kernels/int8/depthwise.h"
#include "mote/kernels/int8/multiply.h"
#include "mote/kernels/int8/window_left.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

using ops::q_conv::Attrs;
using ops::q_conv::kResidual;

Status run(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor& w = c.input(1);
  const int spatial = w.rank() - 2;
  const Plane x(c.input(0)), y(c.output(0));
  const Geometry g(a, w.desc->dims + 1, spatial);
  Plane residual;
  ops::QuantBinaryAttrs sum;
  const bool add = c.has_input(kResidual);
  if (add) residual = Plane(c.input(kResidual)), sum = ops::q_conv::sum_attrs(a);
  const Stage stage(c, a, &sum);
  const int32_t channels = w.dim(w.rank() - 1), outputs = w.dim(0) / a.groups, k = g.kernel_h * g.kernel_w * channels;
  const int64_t panel_bytes = int64_t{(k + 3) / 4} * kStepBytes;
  for (int32_t group = 0; group < a.groups; ++group) {
    const WindowLeft left(g, x, y, add ? &residual : nullptr, RowRange(c, y, spatial == 1), group * channels, channels);
    const int8_t* weights = w.as<const int8_t>() + group * outputs / kPanel * panel_bytes;
    multiply(Product{left.count(), outputs, k, weights, group * outputs, c.input(0).dtype() == DType::s8}, left, stage, c.threads);
  }
  return Status::kOk;
}

// The lines that windows are sure to be read from.
LineShape lines_of(const OpContext& c) {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor &x = c.input(0), &w = c.input(1);
  if (x.desc->dynamic != 0 || a.groups != 1 || a.weight_zero != 0 || c.has_input(ops::kStageWZero) || c.has_input(ops::kStageXZero))
    return {};
  const Geometry g(a, w.desc->dims + 1, w.rank() - 2);
  const Plane out(c.output(0));
  return WindowLeft(g, Plane(x), out, nullptr, RowRange(c, out, w.rank() == 3), 0, w.dim(w.rank() - 1)).lines();
}

}  // namespace

KernelFn select_q_conv(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor &x = c.input(0), &w = c.input(1);
  if (!is_panel16k4(w.desc->layout) || w.rank() > 4 || !Stage::can(c, a)) return nullptr;
  const auto ring = [&](const Tensor& t) { return t.desc->ring_rows != 0; };
  const bool add = c.has_input(kResidual);
  if (w.rank() == 3 && (!c.rows.all() || ring(x) || ring(c.output(0)) || (add && ring(c.input(kResidual))))) return nullptr;
  if (add && !SumOf::can(ops::q_conv::sum_attrs(a))) return nullptr;
  const int32_t channels = w.dim(w.rank() - 1);
  if (w.dim(0) == 0 || !pays(c.output(0).count() / w.dim(0), w.dim(0) / a.groups, element_count(*w.desc) / w.dim(0), lines_of(c)))
    return nullptr;
  if constexpr (!kTilesAlone) {
    const KernelFn depthwise = a.groups > 1 && channels == 1 ? select_q_depthwise(c) : nullptr;
    if (depthwise != nullptr) return depthwise;
  }
  if (channels == 0 || (a.groups > 1 && w.dim(0) / a.groups % kPanel != 0) || !suits(w)) return nullptr;
  return &run;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
