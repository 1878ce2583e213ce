#pragma once

#include "mote/ops/common/moves.h"

namespace mote::ops::cast {

struct Attrs {
  int32_t to = 0;
};
using Types = AllTypes;
inline constexpr OpInfo kInfo =
    OpInfo(
        "Converts to another element type: to float rounds to nearest, float to integer cuts off and saturates (NaN gives 0), "
        "integers wrap, bool is \"not zero\".")
        .signature("x -> y")
        .types(mask_of_list(Types{}))
        .flags(kElementwise | kRowRange)
        .aten("aten::_to_copy.out")
        .onnx("Cast, CastLike");
inline constexpr auto kAttrs = std::make_tuple(attr("to", &Attrs::to, "element type of the result (its DType value)"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  if (!names_type(a.to, kInfo.types_)) return c.reject(Why::kAttribute, kInfo.types_, a.to);
  const DType to = static_cast<DType>(a.to);
  int64_t dims[kMaxRank];
  for (int i = 0; i < c.in(0).rank; ++i) dims[i] = c.in(0).dims[i];
  return set_shape(c, 0, to, c.in(0).rank, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::cast
