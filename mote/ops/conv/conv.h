#pragma once

#include "mote/ops/common/convolution.h"

namespace mote::ops::conv {

struct Attrs {
  int32_t strides[3] = {1, 1, 1};
  int32_t dilations[3] = {1, 1, 1};
  int32_t pads_begin[3] = {};
  int32_t pads_end[3] = {};
  int32_t groups = 1;
  uint32_t activation = 0;
  float act_a = 0;
  float act_b = 0;
  int32_t group_size = 0;
};
using Types = FloatTypes;
Scratch scratch(const OpContext& c) noexcept;
inline constexpr OpInfo kInfo =
    OpInfo("Convolves (N, spatial, C) with weights (O, kernel, C/groups) over 1 to 3 spatial dimensions; groups = C is depthwise.")
        .signature("x, weights, bias?, residual?, scales?, zero_points? -> y")
        .inputs(2, 6)
        .types(mask_of_list(Types{}))
        .ranks(3, 5)
        .flags(kRowRange | kPackedWeights)
        .scratch(&scratch)
        .rings(operand_bit(0) | operand_bit(3))
        .onnx("Conv");
inline constexpr auto kAttrs = std::tuple_cat(
    window_fields<Attrs>(), std::make_tuple(attr("groups", &Attrs::groups, "parts of the channels that are convolved separately")),
    activation_fields<Attrs>(),
    std::make_tuple(attr("group_size", &Attrs::group_size,
                         "neighbouring weights of an output that share a scale, scales are (K/group_size, O); 0: scales are (O)")));

// K, the products of an output, in groups.
inline Status check_scales(const Attrs& a, const InferContext& c) noexcept {
  const TensorDesc& w = c.in(1);
  if (a.group_size < 0) return c.reject(Why::kAttribute, 0, a.group_size);
  if (a.group_size == 0) return c.has(5) ? c.reject(Why::kAttribute, 1, 0) : check_per_channel(c, 4, w.dims[0], DType::f32);
  if (!c.has(4)) return c.reject(Why::kInputMissing, 4, -1);
  if ((mask_of(w.dtype) & (mask_of(DType::s8) | mask_of(DType::s4))) == 0)
    return c.reject(Why::kDType, mask_of(DType::s4), static_cast<uint8_t>(w.dtype));
  int64_t k = 1;
  for (int i = 1; i < w.rank; ++i) k *= w.dims[i];
  return check_group_scales(c, 4, (k + a.group_size - 1) / a.group_size, w.dims[0]);
}

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(check_convolution(a, c, kInfo.types_));
  MOTE_TRY(check_scales(a, c));
  Window w = make_window(a, c.in(0), &c.in(1).dims[1]);
  MOTE_TRY(infer_window(c, false, &w));
  return set_convolution_output(c, w);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::conv
