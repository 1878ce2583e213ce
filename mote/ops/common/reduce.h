#pragma once

// Reductions over any set of axes. An operator gives a function from the reduced elements to the result; this gives its attributes,
// its shapes and the loop.

#include "mote/ops/common/reduce_walk.h"
#include "mote/ops/common/select.h"

namespace mote::ops {

struct ReduceAttrs {
  int32_t axes[kMaxRank] = {};
  int32_t axis_count = 0;
  int32_t keep_dims = 1;
};
inline constexpr auto kReduceAttrs =
    std::make_tuple(attr("axes", &ReduceAttrs::axes, "axes to reduce; negative counts from the end; input 1, if present, replaces them"),
                    attr("axis_count", &ReduceAttrs::axis_count, "how many of `axes` count; 0: all axes"),
                    attr("keep_dims", &ReduceAttrs::keep_dims, "1: reduced axes stay with size 1; 0: they go"));

// The axes as bits in *mask; false, with the culprit in *bad, when one is out of range or repeated. `axes` (dense s32 or s64) replaces
// the attribute when given. A scalar has one axis to name, as in ATen.
inline bool reduced_axes(const ReduceAttrs& a, int rank, const Tensor* axes, uint32_t* mask, int64_t* bad) noexcept {
  const int32_t count = axes != nullptr ? axes->count() : a.axis_count;
  const int64_t range = rank > 0 ? rank : 1;
  *mask = count == 0 ? (1u << rank) - 1 : 0;
  for (int32_t i = 0; i < count; ++i) {
    int64_t axis = a.axes[i & 7];
    if (axes != nullptr) axis = axes->dtype() == DType::s32 ? axes->as<const int32_t>()[i] : axes->as<const int64_t>()[i];
    *bad = axis;
    if (axis < -range || axis >= range) return false;
    const uint32_t bit = 1u << (axis < 0 ? axis + range : axis);
    if ((*mask & bit) != 0) return false;
    *mask |= bit;
  }
  return true;
}

// Sets output 0 to the shape of input 0 reduced along the axes of `mask`.
inline Status set_reduced(const InferContext& c, DType type, uint32_t mask, bool keep_dims) noexcept {
  const TensorDesc& x = c.in(0);
  int32_t dims[kMaxRank] = {};
  int rank = 0;
  for (int i = 0; i < x.rank; ++i) {
    const bool reduced = (mask >> i & 1) != 0;
    if (!reduced || keep_dims) dims[rank++] = reduced ? 1 : x.dims[i];
  }
  return c.set(0, type, rank, dims);
}

// The same while `count` axes are named by values that are not there yet.
inline Status set_reduced_by(const InferContext& c, DType type, int32_t count, bool keep_dims) noexcept {
  const TensorDesc& x = c.in(0);
  if (count > (x.rank > 0 ? x.rank : 1)) return c.reject(Why::kAxis, x.rank, count);
  const int gone = keep_dims || x.rank == 0 ? 0 : count;
  int32_t dims[kMaxRank] = {};
  // Dimension i of the result is one of i to i + gone of x; reduced ones that stay have size 1.
  for (int i = 0; i < x.rank - gone; ++i) {
    dims[i] = x.dims[i];
    for (int k = 1; k <= gone; ++k)
      if (x.dims[i + k] != x.dims[i]) dims[i] = kDimUnknown;
    if (keep_dims && x.dims[i] != 1) dims[i] = kDimUnknown;
  }
  return c.set(0, type, x.rank - gone, dims);
}

// infer() of reductions. The result has the input's type, or `result` when given.
inline Status infer_reduce(const ReduceAttrs& a, const InferContext& c, DTypeMask types, DType result = DType::kNone) noexcept {
  MOTE_TRY(c.require(0, types));
  const TensorDesc& x = c.in(0);
  const DType type = result == DType::kNone ? x.dtype : result;
  if (a.keep_dims != 0 && a.keep_dims != 1) return c.reject(Why::kAttribute, 1, a.keep_dims);
  if (a.axis_count < 0 || a.axis_count > kMaxRank) return c.reject(Why::kAttribute, kMaxRank, a.axis_count);
  if (c.has(1)) {
    MOTE_TRY(c.require(1, kIndex));
    if (c.in(1).rank > 1) return c.reject(Why::kRank, 1, c.in(1).rank);
  }
  const int32_t count = !c.has(1) ? 0 : c.in(1).rank == 0 ? 1 : c.in(1).dims[0];
  if (count > 0 && !c.known(1)) return set_reduced_by(c, type, count, a.keep_dims != 0);
  uint32_t mask;
  int64_t bad;
  if (!reduced_axes(a, x.rank, c.has(1) ? &c.op().input(1) : nullptr, &mask, &bad)) return c.reject(Why::kAxis, x.rank, bad);
  return set_reduced(c, type, mask, a.keep_dims != 0);
}

// One element of output 0 from those of input 0 that the walk is at.
using ReduceOne = void (*)(const void* function, const Tensor& x, const ReduceWalk& walk, void* out);

[[gnu::noinline]] inline Status run_reduce(const OpContext& c, const ReduceAttrs& a, ReduceOne one, const void* function) noexcept {
  const Tensor &x = c.input(0), &y = c.output(0);
  uint32_t mask;
  int64_t bad;
  if (!reduced_axes(a, x.rank(), c.has_input(1) ? &c.input(1) : nullptr, &mask, &bad)) return {Status::kInvalidArgument, Why::kAxis};
  ReduceWalk walk(*x.desc, *y.desc, mask, a.keep_dims != 0);
  // Axes read at run time may be others than those the output was made for.
  if (!walk.fits()) return {Status::kInvalidArgument, Why::kDimMismatch};
  while (walk.next()) one(function, x, walk, y.at<void>(walk.y_offset()));
  return Status::kOk;
}

// Sets each element of output 0 to f(elements), where `elements` is a Reduced<T>.
template <class T, class Out = T, class F>
Status run_reduce(const OpContext& c, const ReduceAttrs& a, const F& f) noexcept {
  const ReduceOne one = [](const void* function, const Tensor& x, const ReduceWalk& walk, void* out) {
    *static_cast<Out*>(out) = static_cast<Out>((*static_cast<const F*>(function))(Reduced<T>(x, walk)));
  };
  return run_reduce(c, a, one, &f);
}

}  // namespace mote::ops
