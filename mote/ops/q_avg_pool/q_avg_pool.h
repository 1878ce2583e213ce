#pragma once

#include "mote/ops/common/quant.h"
#include "mote/ops/common/select.h"
#include "mote/ops/common/window.h"

namespace mote::ops::q_avg_pool {

struct Attrs {
  int32_t kernel[3] = {1, 1, 1};
  int32_t strides[3] = {1, 1, 1};
  int32_t dilations[3] = {1, 1, 1};
  int32_t pads_begin[3] = {};
  int32_t pads_end[3] = {};
  uint32_t ceil_mode = 0;
  uint32_t count_include_pad = 0;
  uint32_t mode = 0;
  int32_t input_zero = 0;
  int32_t output_zero = 0;
  float multiplier = 1;
  int32_t clamp_lo = kNoClampLo;
  int32_t clamp_hi = kNoClampHi;
};
using Types = TypeList<int8_t, uint8_t, int16_t>;
inline constexpr OpInfo kInfo = OpInfo("Averages quantized elements under a window that slides over the spatial dimensions.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .ranks(3, 5)
                                    .flags(kRowRange | kIntegerExact);
inline constexpr auto kAttrs = std::tuple_cat(
    std::make_tuple(attr("kernel", &Attrs::kernel, "size of the window; 0: the whole dimension")), window_fields<Attrs>(),
    std::make_tuple(attr("ceil_mode", &Attrs::ceil_mode, "1: a last, partial window counts too"),
                    attr("count_include_pad", &Attrs::count_include_pad, "1: padding counts as elements of value zero"),
                    attr("mode", &Attrs::mode,
                         "0: same scale and zero point in and out, ties away from zero (TFLite); 1: rescaled with float arithmetic (ONNX)"),
                    attr("input_zero", &Attrs::input_zero, "zero point of x"),
                    attr("output_zero", &Attrs::output_zero, "mode 1: zero point of y"),
                    attr("multiplier", &Attrs::multiplier, "mode 1: scale of x divided by scale of y"),
                    attr("clamp_lo", &Attrs::clamp_lo, "least output value"), attr("clamp_hi", &Attrs::clamp_hi, "greatest output value")));

// The window of input x, its output sizes open.
inline Window window_of(const Attrs& a, const TensorDesc& x) {
  int32_t kernel[kMaxSpatial];
  for (int i = 0; i < kMaxSpatial; ++i) kernel[i] = a.kernel[i] == 0 && i < x.rank - 2 ? x.dims[i + 1] : a.kernel[i];
  return make_window(a, x, kernel);
}

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(require_spatial(c, 0));
  const TensorDesc& x = c.in(0);
  if (a.ceil_mode > 1 || a.count_include_pad > 1 || a.mode > 1) return c.reject(Why::kAttribute, 1, a.mode);
  MOTE_TRY(check_zero(c, a.input_zero, x.dtype));
  MOTE_TRY(check_zero(c, a.output_zero, x.dtype));
  MOTE_TRY(check_clamp(c, a.clamp_lo, a.clamp_hi, x.dtype));
  Window window = window_of(a, x);
  MOTE_TRY(infer_window(c, a.ceil_mode != 0, &window));
  return set_spatial(c, 0, x.dtype, x.dims[0], window, x.dims[x.rank - 1]);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::q_avg_pool
