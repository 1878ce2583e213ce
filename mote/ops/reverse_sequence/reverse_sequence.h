#pragma once

#include "mote/ops/common/int_list.h"
#include "mote/ops/common/moves.h"

namespace mote::ops::reverse_sequence {

struct Attrs {
  int32_t batch_axis = 1;
  int32_t time_axis = 0;
};
using Types = AllTypes;
inline constexpr OpInfo kInfo =
    OpInfo("Turns the first elements along the time axis around, as many as each sequence of the batch has; the rest stays.")
        .signature("x, lengths -> y")
        .inputs(2)
        .types(mask_of_list(Types{}))
        .ranks(2, kMaxRank)
        .flags(kIntegerExact)
        .onnx("ReverseSequence");
inline constexpr auto kAttrs =
    std::make_tuple(attr("batch_axis", &Attrs::batch_axis, "axis that counts sequences; negative counts from the end"),
                    attr("time_axis", &Attrs::time_axis, "axis to turn around, not the batch axis; negative counts from the end"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(c.require(1, kIndex));
  const TensorDesc &x = c.in(0), &lengths = c.in(1);
  int batch, time;
  MOTE_TRY(c.axis(a.batch_axis, x.rank, &batch));
  MOTE_TRY(c.axis(a.time_axis, x.rank, &time));
  if (batch == time) return c.reject(Why::kAxis, batch, time);
  if (lengths.rank != 1) return c.reject(Why::kRank, 1, lengths.rank);
  if (lengths.dims[0] != x.dims[batch]) return c.reject(Why::kDimMismatch, x.dims[batch], lengths.dims[0]);
  c.same_as(0, 0, x.dtype);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::reverse_sequence
