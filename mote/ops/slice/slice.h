#pragma once

#include "mote/ops/common/int_list.h"
#include "mote/ops/common/moves.h"

namespace mote::ops::slice {

struct Attrs {
  int32_t starts[8] = {};
  int32_t ends[8] = {};
  int32_t axes[8] = {};
  int32_t steps[8] = {};
  int32_t count = 0;
};
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Takes a range of indices along some axes, with steps that may be negative.")
                                    .signature("x, starts?, ends?, axes?, steps? -> y")
                                    .inputs(1, 5)
                                    .types(mask_of_list(Types{}))
                                    .flags(kIntegerExact)
                                    .onnx("Slice");
inline constexpr auto kAttrs =
    std::make_tuple(attr("starts", &Attrs::starts, "first index per axis; negative counts from the end; clamped to the tensor"),
                    attr("ends", &Attrs::ends, "index to stop before; negative counts from the end; clamped to the tensor"),
                    attr("axes", &Attrs::axes, "axes that are cut; negative counts from the end"),
                    attr("steps", &Attrs::steps, "distance between indices, not 0"),
                    attr("count", &Attrs::count,
                         "how many axes are cut; 0 with run-time starts: axes 0, 1, ... and steps of 1 unless they are inputs too"));

struct Range {
  int64_t start = 0, step = 1, size = 0;
};

// Start and end are clamped as ONNX says: for negative steps to [0, size-1] and [-1, size-1].
inline Range cut(int64_t start, int64_t end, int64_t step, int64_t size) noexcept {
  const int64_t last = step > 0 ? size : size - 1, first_end = step > 0 ? 0 : -1;
  if (start < 0) start += size;
  if (end < 0) end += size;
  start = start < 0 ? 0 : start > last ? last : start;
  end = end < first_end ? first_end : end > last ? last : end;
  const int64_t way = step > 0 ? end - start : start - end, stride = step > 0 ? step : -step;
  Range r;
  r.start = start;
  r.step = step;
  r.size = way <= 0 || size == 0 ? 0 : (way - 1) / stride + 1;
  return r;
}

// What is taken along each axis; sizes are kDimUnknown while they depend on values that are not there yet.
inline Status resolve(const Attrs& a, const OpContext& c, Range* ranges) noexcept {
  const TensorDesc& x = *c.input(0).desc;
  for (int i = 0; i < x.rank; ++i) ranges[i] = {0, 1, x.dims[i]};
  const IntList starts(c, 1, a.starts, a.count), ends(c, 2, a.ends, a.count), axes(c, 3, a.axes, a.count), steps(c, 4, a.steps, a.count);
  const int32_t n = starts.count();
  const bool all_axes = a.count == 0 && !c.has_input(3), unit_steps = a.count == 0 && !c.has_input(4);
  if (n < 0 || n > x.rank || ends.count() != n) return {Status::kShape, Why::kAttribute};
  if ((!all_axes && axes.count() != n) || (!unit_steps && steps.count() != n)) return {Status::kShape, Why::kAttribute};
  if (!all_axes && !axes.known()) {
    for (int i = 0; i < x.rank; ++i) ranges[i].size = kDimUnknown;
    return Status::kOk;
  }
  uint32_t seen = 0;
  for (int32_t k = 0; k < n; ++k) {
    const int32_t axis = index_in(all_axes ? k : axes[k], x.rank);
    if (axis < 0 || (seen >> axis & 1) != 0) return {Status::kShape, Why::kAxis};
    seen |= 1u << axis;
    ranges[axis].size = kDimUnknown;
    if (!starts.known() || !ends.known() || (!unit_steps && !steps.known())) continue;
    const int64_t step = unit_steps ? 1 : steps[k];
    if (step == 0) return {Status::kShape, Why::kAttribute};
    ranges[axis] = cut(starts[k], ends[k], step, x.dims[axis]);
  }
  return Status::kOk;
}

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  for (int i = 1; i <= 4; ++i)
    if (c.has(i)) MOTE_TRY(require_ints(c, i, kMaxRank));
  if (a.count < 0 || a.count > kMaxRank) return c.reject(Why::kAttribute, kMaxRank, a.count);
  Range ranges[kMaxRank];
  if (const Status s = resolve(a, c.op(), ranges); !s.ok()) return c.reject(s.why());
  int64_t dims[kMaxRank];
  for (int i = 0; i < c.in(0).rank; ++i) dims[i] = ranges[i].size;
  return set_shape(c, 0, c.in(0).dtype, c.in(0).rank, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::slice
