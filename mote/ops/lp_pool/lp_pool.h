#pragma once

#include "mote/ops/common/pool.h"

namespace mote::ops::lp_pool {

struct Attrs {
  int32_t kernel[3] = {1, 1, 1};
  int32_t strides[3] = {1, 1, 1};
  int32_t dilations[3] = {1, 1, 1};
  int32_t pads_begin[3] = {};
  int32_t pads_end[3] = {};
  uint32_t ceil_mode = 0;
  float p = 2;
};
using Types = FloatTypes;
inline constexpr OpInfo kInfo =
    OpInfo("Takes the p-norm of each window of (N, spatial, C): the p-th root of the sum of |x| to the power p.")
        .signature("x -> y")
        .types(mask_of_list(Types{}))
        .ranks(3, 5)
        .flags(kRowRange)
        .onnx("LpPool, GlobalLpPool");
inline constexpr auto kAttrs =
    std::tuple_cat(pool_fields<Attrs>(), std::make_tuple(attr("p", &Attrs::p, "order of the norm, finite and above 0")));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  if (!(a.p > 0 && a.p < 1e9f)) return c.reject(Why::kAttribute);
  return infer_pool(a, c, kInfo.types_);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::lp_pool
