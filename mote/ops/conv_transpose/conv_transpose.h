#pragma once

#include "mote/ops/common/convolution.h"

namespace mote::ops::conv_transpose {

struct Attrs {
  int32_t strides[3] = {1, 1, 1};
  int32_t dilations[3] = {1, 1, 1};
  int32_t pads_begin[3] = {};
  int32_t pads_end[3] = {};
  int32_t output_padding[3] = {};
  int32_t groups = 1;
  uint32_t activation = 0;
  float act_a = 0;
  float act_b = 0;
};
using Types = FloatTypes;
inline constexpr OpInfo kInfo =
    OpInfo("Spreads each position of (N, spatial, C) over the output through weights (O, kernel, C/groups); paddings crop the output.")
        .signature("x, weights, bias?, residual?, scales? -> y")
        .inputs(2, 5)
        .types(mask_of_list(Types{}))
        .ranks(3, 5)
        .flags(kRowRange | kPackedWeights)
        .rings(operand_bit(0) | operand_bit(3))
        .onnx("ConvTranspose");
inline constexpr auto kAttrs = std::tuple_cat(
    window_fields<Attrs>(),
    std::make_tuple(attr("output_padding", &Attrs::output_padding, "positions added at the end of each spatial dimension of the output"),
                    attr("groups", &Attrs::groups, "parts of the channels that are convolved separately")),
    activation_fields<Attrs>());

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(check_convolution(a, c, kInfo.types_));
  MOTE_TRY(check_per_channel(c, 4, c.in(1).dims[0], DType::f32));
  Window w = make_window(a, c.in(0), &c.in(1).dims[1]);
  MOTE_TRY(infer_transposed_window(c, a.output_padding, &w));
  return set_convolution_output(c, w);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::conv_transpose
