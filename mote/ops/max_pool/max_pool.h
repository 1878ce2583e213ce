#pragma once

#include "mote/ops/common/pool.h"

namespace mote::ops::max_pool {

struct Attrs {
  int32_t kernel[3] = {1, 1, 1};
  int32_t strides[3] = {1, 1, 1};
  int32_t dilations[3] = {1, 1, 1};
  int32_t pads_begin[3] = {};
  int32_t pads_end[3] = {};
  uint32_t ceil_mode = 0;
};
using Types = NumberTypes;
// An index is the flat position of the (first) maximum within the spatial dimensions of x, as in ATen's max_pool2d_with_indices.
inline constexpr OpInfo kInfo =
    OpInfo("Takes the maximum of each window of (N, spatial, C); NaN wins, padding never does; also gives where in the plane it was.")
        .signature("x -> y, indices?")
        .outputs(1, 2)
        .types(mask_of_list(Types{}))
        .ranks(3, 5)
        .flags(kRowRange)
        .onnx("MaxPool, GlobalMaxPool");
inline constexpr auto kAttrs = pool_fields<Attrs>();

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(infer_pool(a, c, kInfo.types_));
  return c.outputs() > 1 ? c.set(1, DType::s64, c.out(0).rank, c.out(0).dims) : Status(Status::kOk);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::max_pool
