#pragma once

#include "mote/ops/common/moves.h"

namespace mote::ops::shape_of {

struct Attrs {
  int32_t start = 0;
  int32_t end = 0x7fffffff;
  int32_t s32 = 0;
};
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Gives the sizes of a tensor's axes as a vector.")
                                    .signature("x -> shape")
                                    .types(mask_of_list(Types{}))
                                    .flags(kIntegerExact)
                                    .onnx("Shape");
inline constexpr auto kAttrs =
    std::make_tuple(attr("start", &Attrs::start, "first axis; negative counts from the end; clamped to the rank"),
                    attr("end", &Attrs::end, "axis to stop before; negative counts from the end; clamped to the rank"),
                    attr("s32", &Attrs::s32, "1: the result is s32 instead of s64"));

// An axis from -rank..rank, clamped.
inline int clamped_axis(int32_t axis, int rank) noexcept {
  const int64_t at = axis < 0 ? int64_t{axis} + rank : axis;
  return static_cast<int>(at < 0 ? 0 : at > rank ? rank : at);
}

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  const int rank = c.in(0).rank, start = clamped_axis(a.start, rank), end = clamped_axis(a.end, rank);
  const int32_t size = end > start ? end - start : 0;
  return c.set(0, a.s32 != 0 ? DType::s32 : DType::s64, 1, &size);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::shape_of
