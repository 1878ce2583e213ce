#pragma once

#include "mote/ops/common/int_list.h"
#include "mote/ops/common/moves.h"
#include "mote/ops/common/number.h"

namespace mote::ops::one_hot {

struct Attrs {
  int32_t depth = 0;
  int32_t axis = -1;
  int32_t dtype = 0;
  int32_t negative_off = 0;
};
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Turns each index into a line along a new axis that is on at that index and off elsewhere.")
                                    .signature("indices, depth?, values? -> y")
                                    .inputs(1, 3)
                                    .types(mask_of_list(Types{}), kOfOutput)
                                    .ranks(1, kMaxRank)
                                    .onnx("OneHot");
inline constexpr auto kAttrs = std::make_tuple(
    attr("depth", &Attrs::depth, "length of the lines; not read when it is an input; an index outside gives a line that is all off"),
    attr("axis", &Attrs::axis, "where the new axis stands in the result; negative counts from the result's end"),
    attr("dtype", &Attrs::dtype,
         "element type of the result when (off, on) is not an input: its DType value, 0 for f32; off is 0 and on is 1"),
    attr("negative_off", &Attrs::negative_off, "1: negative indices are outside, instead of counting from the end"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kNumber));
  const TensorDesc& x = c.in(0);
  int axis;
  MOTE_TRY(c.axis(a.axis, x.rank + 1, &axis));
  if (x.rank == kMaxRank) return c.reject(Why::kRank, kMaxRank - 1, x.rank);
  int64_t depth = a.depth;
  if (c.has(1)) {
    MOTE_TRY(require_one(c, 1, kNumber));
    depth = c.known(1) ? to_int(load_number(c.in(1).dtype, c.op().input(1).data)) : kDimUnknown;
  }
  if (depth < 0 && (!c.has(1) || c.known(1))) return c.reject(Why::kNegativeDim, 0, depth);
  DType type = DType::f32;
  if (c.has(2)) {
    MOTE_TRY(c.require(2, kInfo.types_));
    if (c.in(2).rank != 1 || c.in(2).dims[0] != 2) return c.reject(Why::kDimMismatch, 2, c.in(2).dims[0]);
    type = c.in(2).dtype;
  } else if (a.dtype != 0) {
    if (!names_type(a.dtype, kInfo.types_)) return c.reject(Why::kAttribute, kInfo.types_, a.dtype);
    type = static_cast<DType>(a.dtype);
  }
  int64_t dims[kMaxRank];
  for (int i = 0; i <= x.rank; ++i) dims[i] = i < axis ? x.dims[i] : i == axis ? depth : x.dims[i - 1];
  return set_shape(c, 0, type, x.rank + 1, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::one_hot
