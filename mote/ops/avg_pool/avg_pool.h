#pragma once

#include "mote/ops/common/pool.h"

namespace mote::ops::avg_pool {

struct Attrs {
  int32_t kernel[3] = {1, 1, 1};
  int32_t strides[3] = {1, 1, 1};
  int32_t dilations[3] = {1, 1, 1};
  int32_t pads_begin[3] = {};
  int32_t pads_end[3] = {};
  uint32_t ceil_mode = 0;
  uint32_t count_include_pad = 0;
  int32_t divisor_override = 0;
};
using Types = FloatTypes;
inline constexpr OpInfo kInfo = OpInfo("Takes the mean of each window of (N, spatial, C); a window that meets only padding gives 0.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .ranks(3, 5)
                                    .flags(kRowRange)
                                    .onnx("AveragePool, GlobalAveragePool");
inline constexpr auto kAttrs = std::tuple_cat(
    pool_fields<Attrs>(),
    std::make_tuple(
        attr("count_include_pad", &Attrs::count_include_pad, "1: padding counts in the divisor; what ceil_mode adds beyond it never does"),
        attr("divisor_override", &Attrs::divisor_override, "divides by this instead of by the count; 0: the count")));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  if (a.count_include_pad > 1) return c.reject(Why::kAttribute, 1, a.count_include_pad);
  return infer_pool(a, c, kInfo.types_);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::avg_pool
