#pragma once

#include "mote/ops/common/int_list.h"
#include "mote/ops/common/moves.h"

namespace mote::ops::split {

struct Attrs {
  int32_t axis = 0;
};
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Cuts a tensor along one axis, into equal parts (the last may be smaller) or parts of given sizes.")
                                    .signature("x, sizes? -> y?...")
                                    .inputs(1, 2)
                                    .outputs(1, kVariadic)
                                    .types(mask_of_list(Types{}))
                                    .ranks(1, kMaxRank)
                                    .flags(kIntegerExact)
                                    .onnx("Split");
inline constexpr auto kAttrs = std::make_tuple(attr("axis", &Attrs::axis, "axis to cut along; negative counts from the end"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  const TensorDesc& x = c.in(0);
  int axis;
  MOTE_TRY(c.axis(a.axis, x.rank, &axis));
  const int32_t parts = c.outputs();
  if (c.has(1)) {
    MOTE_TRY(require_ints(c, 1, parts));
    const int32_t sizes = c.in(1).rank == 0 ? 1 : c.in(1).dims[0];
    if (sizes != parts) return c.reject(Why::kOutputCount, sizes, parts);
  }
  const int32_t each = x.dims[axis] / parts + (x.dims[axis] % parts != 0 ? 1 : 0);
  int64_t left = x.dims[axis];
  for (int o = 0; o < parts; ++o) {
    int64_t size = o + 1 < parts ? each : left;
    if (c.has(1)) size = c.known(1) ? c.value(1, o) : kDimUnknown;
    if (size < 0 && (!c.has(1) || c.known(1))) return c.reject(Why::kNegativeDim, 0, size);
    left -= size;
    int64_t dims[kMaxRank];
    for (int k = 0; k < x.rank; ++k) dims[k] = k == axis ? size : x.dims[k];
    MOTE_TRY(set_shape(c, o, x.dtype, x.rank, dims));
  }
  if ((!c.has(1) || c.known(1)) && left != 0) return c.reject(Why::kDimMismatch, x.dims[axis], x.dims[axis] - left);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::split
