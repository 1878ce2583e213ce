#pragma once

#include "mote/ops/common/moves.h"

namespace mote::ops::bitcast {

struct Attrs {
  int32_t to = 0;
};
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Reads the same bytes as another element type of the same width.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kView | kIntegerExact)
                                    .onnx("BitCast");
inline constexpr auto kAttrs =
    std::make_tuple(attr("to", &Attrs::to, "element type of the result (its DType value); not bool, whose bytes are only 0 and 1"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  if (!names_type(a.to, kNumber)) return c.reject(Why::kAttribute, kNumber, a.to);
  const DType to = static_cast<DType>(a.to);
  if (dtype_bytes(to) != dtype_bytes(c.in(0).dtype)) return c.reject(Why::kDTypeMismatch, dtype_bytes(c.in(0).dtype), dtype_bytes(to));
  c.same_as(0, 0, to);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::bitcast
