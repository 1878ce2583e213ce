#pragma once

// Running totals along one axis.

#include <initializer_list>

#include "mote/ops/common/axis_walk.h"
#include "mote/ops/common/select.h"

namespace mote::ops {

// infer() of operators that keep the shape and work along one axis. A scalar is a tensor with one element, as in ATen.
inline Status infer_along_axis(int32_t wanted, const InferContext& c, DTypeMask types) noexcept {
  MOTE_TRY(c.require(0, types));
  int axis;
  MOTE_TRY(c.axis(wanted, c.in(0).rank > 0 ? c.in(0).rank : 1, &axis));
  c.same_as(0, 0, c.in(0).dtype);
  return Status::kOk;
}

struct ScanAttrs {
  int32_t axis = 0;
  int32_t exclusive = 0;
  int32_t reverse = 0;
};
inline constexpr auto kScanAttrs =
    std::make_tuple(attr("axis", &ScanAttrs::axis, "axis to run along; negative counts from the end; input 1, where present, replaces it"),
                    attr("exclusive", &ScanAttrs::exclusive, "1: an element's own value is left out of its total"),
                    attr("reverse", &ScanAttrs::reverse, "1: runs from the last element to the first"));

inline Status infer_scan(const ScanAttrs& a, const InferContext& c, DTypeMask types) noexcept {
  for (const int32_t flag : {a.exclusive, a.reverse})
    if (flag != 0 && flag != 1) return c.reject(Why::kAttribute, 1, flag);
  if (!c.has(1)) return infer_along_axis(a.axis, c, types);
  MOTE_TRY(c.require(1, kIndex));
  const TensorDesc& axis = c.in(1);
  if (axis.rank > 1) return c.reject(Why::kRank, 1, axis.rank);
  if (axis.rank == 1 && axis.dims[0] != 1) return c.reject(Why::kDimMismatch, 1, axis.dims[0]);
  // While the axis is unknown any will do: the shape does not depend on it, and the kernel checks it.
  return infer_along_axis(c.known(1) ? c.value(1, 0) : 0, c, types);
}

// The axis from 0, or -1 when the one read at run time is out of range.
inline int scan_axis(const OpContext& c, int32_t attribute) noexcept {
  const int64_t rank = c.input(0).rank() > 0 ? c.input(0).rank() : 1;
  int64_t axis = attribute;
  if (c.has_input(1)) axis = c.input(1).dtype() == DType::s32 ? *c.input(1).as<const int32_t>() : *c.input(1).as<const int64_t>();
  if (axis < -rank || axis >= rank) return -1;
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

// Total: `void add(C)` and `value()`.
template <class T, class Total>
Status run_scan(const OpContext& c) noexcept {
  const ScanAttrs& a = c.attrs<ScanAttrs>();
  const Tensor &x = c.input(0), &y = c.output(0);
  const int axis = scan_axis(c, a.axis);
  if (axis < 0) return {Status::kInvalidArgument, Why::kAxis};
  const int32_t n = x.rank() > 0 ? x.dim(axis) : 1;
  AxisWalk<2> walk(*x.desc, axis, {x.desc, y.desc});
  while (walk.next()) {
    const T* in = x.at<const T>(walk.offset[0]);
    T* out = y.at<T>(walk.offset[1]);
    Total total;
    for (int32_t k = 0; k < n; ++k) {
      const int32_t i = a.reverse != 0 ? n - 1 - k : k;
      const Compute<T> v = static_cast<Compute<T>>(line_at(in, i, walk.stride[0]));
      if (a.exclusive == 0) total.add(v);
      line_at(out, i, walk.stride[1]) = static_cast<T>(total.value());
      if (a.exclusive != 0) total.add(v);
    }
  }
  return Status::kOk;
}

}  // namespace mote::ops
