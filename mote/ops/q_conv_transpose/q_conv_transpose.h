#pragma once

#include "mote/ops/common/quant_window.h"
#include "mote/ops/common/select.h"

namespace mote::ops::q_conv_transpose {

struct Attrs {
  int32_t strides[3] = {1, 1, 1};
  int32_t dilations[3] = {1, 1, 1};
  int32_t pads_begin[3] = {};
  int32_t pads_end[3] = {};
  int32_t output_padding[3] = {};
  int32_t groups = 1;
  uint32_t to = 0;
  int32_t input_zero = 0;
  int32_t weight_zero = 0;
  int32_t output_zero = 0;
  int32_t clamp_lo = kNoClampLo;
  int32_t clamp_hi = kNoClampHi;
  uint32_t wide = 0;
};
using Types = TypeList<int8_t, uint8_t, int16_t>;
inline constexpr OpInfo kInfo =
    OpInfo("Spreads a quantized tensor by a transposed convolution, adds a bias and scales the sums to the output's type.")
        .signature(kEpilogueSignature)
        .inputs(2, 8)
        .types(mask_of_list(Types{}))
        .ranks(3, 5)
        .flags(kRowRange | kIntegerExact | kPackedWeights);
inline constexpr auto kAttrs = std::tuple_cat(
    window_fields<Attrs>(),
    std::make_tuple(attr("output_padding", &Attrs::output_padding, "positions added at the end of each spatial dimension of the output"),
                    attr("groups", &Attrs::groups, "channels are divided into this many groups")),
    epilogue_fields<Attrs>());

// x (N, spatial, C), weights (O, kernel, C/groups): output channel first, as TFLite has it.
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(check_window_product(a, c, kInfo.types_));
  Window window = make_window(a, c.in(0), c.in(1).dims + 1);
  MOTE_TRY(infer_transposed_window(c, a.output_padding, &window));
  return set_spatial(c, 0, epilogue_type(a, c.in(0).dtype), c.in(0).dims[0], window, c.in(1).dims[0]);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::q_conv_transpose
