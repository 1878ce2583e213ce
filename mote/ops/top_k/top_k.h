#pragma once

#include "mote/ops/common/int_list.h"
#include "mote/ops/common/moves.h"

namespace mote::ops::top_k {

struct Attrs {
  int32_t k = 0;
  int32_t axis = -1;
  int32_t largest = 1;
  int32_t index_s32 = 0;
};
using Types = AllTypes;
Scratch scratch(const OpContext& c) noexcept;
inline constexpr OpInfo kInfo =
    OpInfo("Finds the k largest or smallest elements along one axis, best first; of equal ones the first, and NaN is the largest.")
        .signature("x, k? -> values?, indices?")
        .inputs(1, 2)
        .outputs(1, 2)
        .types(mask_of_list(Types{}))
        .flags(kIntegerExact)
        .scratch(&scratch)
        .aten("aten::topk.values")
        .onnx("TopK");
inline constexpr auto kAttrs = std::make_tuple(attr("k", &Attrs::k, "how many, at most the axis's size; not read when it is an input"),
                                               attr("axis", &Attrs::axis, "axis to search; negative counts from the end"),
                                               attr("largest", &Attrs::largest, "1: the largest, 0: the smallest"),
                                               attr("index_s32", &Attrs::index_s32, "1: indices are s32 instead of s64"));

// A scalar is a tensor with one element, as in ATen.
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  const TensorDesc& x = c.in(0);
  int axis;
  MOTE_TRY(c.axis(a.axis, x.rank > 0 ? x.rank : 1, &axis));
  if (c.has(1)) MOTE_TRY(require_one(c, 1, kIndex));
  const IntList counts(c.op(), 1, &a.k, 1);
  const int64_t size = x.rank > 0 ? x.dims[axis] : 1;
  const int64_t k = counts.known() ? counts[0] : kDimUnknown;
  if (counts.known() && (k < 0 || k > size || (x.rank == 0 && k != 1))) return c.reject(Why::kAttribute, size, k);
  if (size > kMaxSorted) return c.reject(Why::kShapeOverflow, kMaxSorted, size);
  int64_t dims[kMaxRank];
  for (int i = 0; i < x.rank; ++i) dims[i] = i == axis ? k : x.dims[i];
  for (int o = 0; o < c.outputs(); ++o)
    MOTE_TRY(set_shape(c, o, o == 0 ? x.dtype : a.index_s32 != 0 ? DType::s32 : DType::s64, x.rank, dims));
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::top_k
