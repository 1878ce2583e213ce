#pragma once

#include "mote/ops/common/quant_window.h"
#include "mote/ops/common/select.h"

namespace mote::ops::q_conv {

struct Attrs {
  int32_t strides[3] = {1, 1, 1};
  int32_t dilations[3] = {1, 1, 1};
  int32_t pads_begin[3] = {};
  int32_t pads_end[3] = {};
  int32_t groups = 1;
  uint32_t to = 0;
  int32_t input_zero = 0;
  int32_t weight_zero = 0;
  int32_t output_zero = 0;
  int32_t clamp_lo = kNoClampLo;
  int32_t clamp_hi = kNoClampHi;
  uint32_t wide = 0;
  // How the residual is added: QuantBinaryAttrs, field by field.
  uint32_t sum_mode = 0;
  int32_t sum_a_zero = 0;
  int32_t sum_b_zero = 0;
  int32_t sum_y_zero = 0;
  int32_t sum_left_shift = 0;
  int32_t sum_a_multiplier = 0;
  int32_t sum_a_shift = 0;
  int32_t sum_b_multiplier = 0;
  int32_t sum_b_shift = 0;
  int32_t sum_y_multiplier = 0;
  int32_t sum_y_shift = 0;
  float sum_a_scale = 0;
  float sum_b_scale = 0;
  float sum_y_scale = 0;
  int32_t sum_clamp_lo = 0;
  int32_t sum_clamp_hi = 0;
};
constexpr int kResidual = 8, kResidualFactor = kEpilogueResidualFactor;
// Forms of which a build for some programs may leave out what those do not use: selected_forms(OpId::q_conv).
enum Form : uint32_t { kFormDense = 1, kFormGrouped = 2, kFormResidual = 4 };
inline uint32_t form_of(const Attrs& a, bool residual) {
  return static_cast<uint32_t>(a.groups == 1 ? kFormDense : kFormGrouped) | (residual ? static_cast<uint32_t>(kFormResidual) : 0u);
}
using Types = TypeList<int8_t, uint8_t, int16_t>;
inline constexpr OpInfo kInfo =
    OpInfo(
        "Convolves a quantized tensor, adds a bias and scales the sums to the output's type; padding counts as zero. A residual is added "
        "to that as q_add does, or, times a factor of each channel, to the sums before they are scaled.")
        .signature("x, weights, bias?, multiplier?, shift?, x_zero?, w_zero?, x_scale?, residual?, residual_factor? -> y")
        .inputs(2, 10)
        .types(mask_of_list(Types{}))
        .ranks(3, 5)
        .flags(kRowRange | kIntegerExact | kPackedWeights)
        .rings(operand_bit(0) | operand_bit(kResidual))
        .onnx("ConvInteger, QLinearConv");
inline constexpr auto kAttrs = std::tuple_cat(
    window_fields<Attrs>(), std::make_tuple(attr("groups", &Attrs::groups, "channels are divided into this many groups")),
    epilogue_fields<Attrs>(),
    std::make_tuple(
        attr("sum_mode", &Attrs::sum_mode,
             "with a residual: q_add's mode, a being what the convolution gives, b the residual; 3, with residual_factor: sums + "
             "((residual - sum_b_zero) * residual_factor shifted right by -sum_b_shift, rounded half up) are scaled"),
        attr("sum_a_zero", &Attrs::sum_a_zero, "with a residual: as in q_add"),
        attr("sum_b_zero", &Attrs::sum_b_zero, "with a residual: as in q_add"),
        attr("sum_y_zero", &Attrs::sum_y_zero, "with a residual: as in q_add"),
        attr("sum_left_shift", &Attrs::sum_left_shift, "with a residual: as in q_add"),
        attr("sum_a_multiplier", &Attrs::sum_a_multiplier, "with a residual: as in q_add"),
        attr("sum_a_shift", &Attrs::sum_a_shift, "with a residual: as in q_add"),
        attr("sum_b_multiplier", &Attrs::sum_b_multiplier, "with a residual: as in q_add"),
        attr("sum_b_shift", &Attrs::sum_b_shift, "with a residual: as in q_add"),
        attr("sum_y_multiplier", &Attrs::sum_y_multiplier, "with a residual: as in q_add"),
        attr("sum_y_shift", &Attrs::sum_y_shift, "with a residual: as in q_add"),
        attr("sum_a_scale", &Attrs::sum_a_scale, "with a residual: as in q_add"),
        attr("sum_b_scale", &Attrs::sum_b_scale, "with a residual: as in q_add"),
        attr("sum_y_scale", &Attrs::sum_y_scale, "with a residual: as in q_add"),
        attr("sum_clamp_lo", &Attrs::sum_clamp_lo, "with a residual: as in q_add"),
        attr("sum_clamp_hi", &Attrs::sum_clamp_hi, "with a residual: as in q_add")));

inline QuantBinaryAttrs sum_attrs(const Attrs& a) {
  return {a.sum_mode,    a.sum_a_zero,       a.sum_b_zero,   a.sum_y_zero,       a.sum_left_shift, a.sum_a_multiplier,
          a.sum_a_shift, a.sum_b_multiplier, a.sum_b_shift,  a.sum_y_multiplier, a.sum_y_shift,    a.sum_a_scale,
          a.sum_b_scale, a.sum_y_scale,      a.sum_clamp_lo, a.sum_clamp_hi};
}
inline void set_sum_attrs(Attrs& a, const QuantBinaryAttrs& s) {
  a.sum_mode = s.mode;
  a.sum_a_zero = s.a_zero, a.sum_b_zero = s.b_zero, a.sum_y_zero = s.y_zero;
  a.sum_left_shift = s.left_shift;
  a.sum_a_multiplier = s.a_multiplier, a.sum_a_shift = s.a_shift;
  a.sum_b_multiplier = s.b_multiplier, a.sum_b_shift = s.b_shift;
  a.sum_y_multiplier = s.y_multiplier, a.sum_y_shift = s.y_shift;
  a.sum_a_scale = s.a_scale, a.sum_b_scale = s.b_scale, a.sum_y_scale = s.y_scale;
  a.sum_clamp_lo = s.clamp_lo, a.sum_clamp_hi = s.clamp_hi;
}

// x (N, spatial, C), weights (O, kernel, C/groups). x_zero and x_scale have one element or one per batch.
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(check_window_product(a, c, kInfo.types_));
  Window window = make_window(a, c.in(0), c.in(1).dims + 1);
  MOTE_TRY(infer_window(c, false, &window));
  const DType type = epilogue_type(a, c.in(0).dtype);
  MOTE_TRY(set_spatial(c, 0, type, c.in(0).dims[0], window, c.in(1).dims[0]));
  if (!c.has(kResidual)) return Status::kOk;
  const TensorDesc& r = c.in(kResidual);
  if (r.dtype != type || (mask_of(type) & kQuant) == 0)
    return c.reject(Why::kDTypeMismatch, static_cast<uint8_t>(type), static_cast<uint8_t>(r.dtype));
  if (r.rank != c.out(0).rank) return c.reject(Why::kRank, c.out(0).rank, r.rank);
  for (int k = 0; k < r.rank; ++k)
    if (r.dims[k] != c.out(0).dims[k]) return c.reject(Why::kDimMismatch, c.out(0).dims[k], r.dims[k]);
  const bool to_accumulators = a.sum_mode == static_cast<uint32_t>(QuantMode::kSums);
  if (c.has(kResidualFactor) != to_accumulators) return c.reject(Why::kInputCount, to_accumulators, c.has(kResidualFactor));
  if (!to_accumulators) return check_quant_binary(sum_attrs(a), c, type);
  MOTE_TRY(check_vector(c, kResidualFactor, mask_of(DType::s32), c.in(1).dims[0]));
  if (a.sum_b_shift > 0 || a.sum_b_shift < -30) return c.reject(Why::kAttribute, 0, a.sum_b_shift);
  return check_zero(c, a.sum_b_zero, type);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::q_conv
