#include "mote/kernels/cortexm/runtime/select.h"

#include "mote/kernels/cortexm/pool.h"
#include "mote/kernels/cortexm/runtime/depthwise.h"
#include "mote/kernels/cortexm/runtime/fast.h"
#include "mote/ops/q_avg_pool/q_avg_pool.h"

namespace mote::cortexm {
namespace {

Status average(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::q_avg_pool::Attrs>();
  const Tensor &x = c.input(0), &y = c.output(0);
  const ops::IntRange r = ops::clamp_range(a.clamp_lo, a.clamp_hi, DType::s8);
  const AvgPool p{rows_of(*x.desc, x.dim(3)), rows_of(*y.desc, y.dim(3)), taps_of(ops::q_avg_pool::window_of(a, *x.desc)),
                  static_cast<int8_t>(r.lo), static_cast<int8_t>(r.hi)};
  for (int32_t n = 0; n < y.dim(0); ++n)
    avg_pool(p, x.as<const int8_t>() + n * x.stride(0), y.as<int8_t>() + n * y.stride(0), c.rows.begin, end_row(c));
  return Status::kOk;
}

bool is_s8(const Tensor& t) { return t.dtype() == DType::s8 && t.desc->layout == Layout::kPlain && t.desc->dynamic == 0; }
// True for dense weights (outputs, ..., inputs). The verifier rejects overlapping dimensions, so the outermost stride decides.
bool is_compact(const TensorDesc& w, int32_t inputs) { return w.strides[0] == inputs && inputs > 0 && w.dims[0] > 0; }

// What all kernels here require of operands and attributes.
template <class A>
bool plain(const OpContext& c, const A& a) {
  for (int i = ops::kEpilogueXZero; i <= ops::kEpilogueXScale && i < c.input_count; ++i)
    if (c.operands[i] >= 0) return false;
  if (!is_s8(c.input(0)) || !is_s8(c.input(1)) || !is_s8(c.output(0)) || a.weight_zero != 0 || a.wide != 0) return false;
  return !c.has_input(ops::kEpilogueBias) || c.input(ops::kEpilogueBias).dtype() == DType::s32;
}
bool scaled_by(const OpContext& c, DTypeMask types) {
  return c.has_input(ops::kEpilogueMultiplier) && (mask_of(c.input(ops::kEpilogueMultiplier).dtype()) & types) != 0;
}

[[maybe_unused]] KernelFn for_conv(const OpContext& c) {
  const auto& a = c.attrs<ops::q_conv::Attrs>();
  const Tensor &x = c.input(0), &w = c.input(1), &y = c.output(0);
  if (!plain(c, a) || x.rank() != 4 || x.stride(3) != 1 || y.stride(3) != 1 || !scaled_by(c, mask_of(DType::s32))) return nullptr;
  const int32_t inputs = w.dim(1) * w.dim(2) * w.dim(3);
  const bool residual = c.has_input(ops::q_conv::kResidual);
  if (!is_compact(*w.desc, inputs) || inputs > kMostInputs || (residual && !kResiduals)) return nullptr;
  if ((kConvForms & ops::q_conv::kFormDense) != 0 && a.groups == 1) {
    const bool added = !residual || a.sum_mode <= static_cast<uint32_t>(ops::QuantMode::kShift);  // added to elements, not to accumulators
    return added && inputs <= kMostPairBytes / 4 ? fast::dense_conv : nullptr;
  }
  if ((kConvForms & ops::q_conv::kFormGrouped) == 0 || a.groups != x.dim(3) || a.groups != w.dim(0) || residual) return nullptr;
  return inputs <= kMostTaps && is_small(x) && is_small(y) ? depthwise_conv : nullptr;
}

[[maybe_unused]] KernelFn for_average(const OpContext& c) {
  const auto& a = c.attrs<ops::q_avg_pool::Attrs>();
  const Tensor &x = c.input(0), &y = c.output(0);
  if (!is_s8(x) || !is_s8(y) || !is_small(x) || !is_small(y) || a.mode != 0 || a.count_include_pad != 0) return nullptr;
  const ops::Window w = ops::q_avg_pool::window_of(a, *x.desc);
  for (int i = 0; i < 2; ++i) {
    const ops::WindowDim& d = w.dim[i];
    // No window is empty.
    if (d.dilation != 1 || d.pad_begin >= d.kernel || (y.dim(i + 1) - 1) * d.stride - d.pad_begin >= d.in || d.kernel > 0x7fff)
      return nullptr;
  }
  return average;
}

[[maybe_unused]] KernelFn for_matmul(const OpContext& c) {
  const auto& a = c.attrs<ops::q_matmul::Attrs>();
  const Tensor& w = c.input(1);
  if (!plain(c, a) || w.rank() != 2 || !is_compact(*w.desc, w.dim(1)) || !is_dense(*c.input(0).desc) || !is_dense(*c.output(0).desc))
    return nullptr;
  return w.dim(1) <= kMostInputs && scaled_by(c, mask_of(DType::s32) | mask_of(DType::f64)) ? fast::matmul : nullptr;
}

}  // namespace

KernelFn select([[maybe_unused]] uint16_t op, [[maybe_unused]] const OpContext& c) noexcept {
  // Builds for given programs leave out kernels that they do not use.
  if constexpr (selected_types(OpId::q_conv) != 0)
    if (op == static_cast<uint16_t>(OpId::q_conv)) return for_conv(c);
  if constexpr (selected_types(OpId::q_matmul) != 0)
    if (op == static_cast<uint16_t>(OpId::q_matmul)) return for_matmul(c);
  if constexpr (selected_types(OpId::q_avg_pool) != 0)
    if (op == static_cast<uint16_t>(OpId::q_avg_pool)) return for_average(c);
  return nullptr;
}

}  // namespace mote::cortexm
