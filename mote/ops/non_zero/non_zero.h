#pragma once

#include "mote/ops/common/moves.h"

namespace mote::ops::non_zero {

struct Attrs {
  int32_t transpose = 0;
};
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Lists the indices of the elements that are not zero, in row-major order; NaN is not zero.")
                                    .signature("x -> indices")
                                    .types(mask_of_list(Types{}))
                                    .flags(kDataDependent | kIntegerExact)
                                    .aten("aten::nonzero.out")
                                    .onnx("NonZero");
inline constexpr auto kAttrs =
    std::make_tuple(attr("transpose", &Attrs::transpose, "0: (rank, n) as ONNX; 1: (n, rank) as ATen and TFLite"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  const bool tuples = a.transpose != 0;
  const int32_t rank = c.in(0).rank, dims[2] = {tuples ? kDimUnknown : rank, tuples ? rank : kDimUnknown};
  return c.set(0, DType::s64, 2, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::non_zero
