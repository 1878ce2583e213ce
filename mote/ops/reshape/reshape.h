#pragma once

#include "mote/ops/common/int_list.h"
#include "mote/ops/common/moves.h"

namespace mote::ops::reshape {

struct Attrs {
  int32_t dims[8] = {};
  int32_t rank = 0;
  int32_t allow_zero = 0;
};
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Gives the elements, in row-major order, another shape.")
                                    .signature("x, shape? -> y")
                                    .inputs(1, 2)
                                    .types(mask_of_list(Types{}))
                                    .flags(kView | kIntegerExact)
                                    .onnx("Reshape, Flatten, Squeeze, Unsqueeze");
inline constexpr auto kAttrs = std::make_tuple(
    attr("dims", &Attrs::dims, "new sizes; -1, at most once: inferred from the number of elements; 0 copies the input's size"),
    attr("rank", &Attrs::rank, "how many of dims count; not read when the shape is an input"),
    attr("allow_zero", &Attrs::allow_zero, "1: a size of 0 means 0"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  if (c.has(1)) MOTE_TRY(require_ints(c, 1, kMaxRank));
  if (c.has(1) && c.in(1).rank != 1) return c.reject(Why::kRank, 1, c.in(1).rank);
  const IntList shape(c.op(), 1, a.dims, a.rank);
  const int rank = shape.count();
  if (rank < 0 || rank > kMaxRank) return c.reject(Why::kRank, kMaxRank, rank);
  int64_t dims[kMaxRank];
  int64_t rest = 1;
  int inferred = -1;
  for (int i = 0; i < rank; ++i) {
    dims[i] = kDimUnknown;
    if (!shape.known()) continue;
    dims[i] = shape[i];
    if (dims[i] == 0 && a.allow_zero == 0) {
      if (i >= c.in(0).rank) return c.reject(Why::kAttribute, c.in(0).rank, i);
      dims[i] = c.in(0).dims[i];
    }
    if (dims[i] < -1 || (dims[i] == -1 && inferred >= 0)) return c.reject(Why::kNegativeDim, 0, dims[i]);
    if (dims[i] == -1) inferred = i;
    else rest *= dims[i];
    if (rest > kMaxTensorBytes) return c.reject(Why::kShapeOverflow, kMaxTensorBytes, rest);
  }
  const int64_t count = element_count(c.in(0));
  if (inferred >= 0) {
    if (rest == 0 || count % rest != 0) return c.reject(Why::kElementCount, count, rest);
    dims[inferred] = count / rest;
  } else if (shape.known() && rest != count) {
    return c.reject(Why::kElementCount, count, rest);
  }
  return set_shape(c, 0, c.in(0).dtype, rank, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::reshape
