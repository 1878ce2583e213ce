#pragma once

// The position of an extreme element along one axis, or among all elements: arg_max and arg_min.

#include <initializer_list>

#include "mote/ops/common/ordering.h"
#include "mote/ops/common/reduce.h"

namespace mote::ops {

struct ArgAttrs {
  int32_t axis = 0;
  int32_t keep_dims = 1;
  int32_t select_last = 0;
  int32_t flat = 0;
  int32_t index_type = 0;
};
inline constexpr auto kArgAttrs =
    std::make_tuple(attr("axis", &ArgAttrs::axis, "axis to search; negative counts from the end"),
                    attr("keep_dims", &ArgAttrs::keep_dims, "1: searched axes stay with size 1; 0: they go"),
                    attr("select_last", &ArgAttrs::select_last, "1: of equal elements the last one counts; 0: the first one"),
                    attr("flat", &ArgAttrs::flat, "1: searches all elements, in row-major order, and ignores `axis`"),
                    attr("index_type", &ArgAttrs::index_type, "type of the result; 0: s64, 1: s32"));

inline uint32_t searched_axes(const ArgAttrs& a, int rank) noexcept {
  if (a.flat != 0) return (1u << rank) - 1;
  return 1u << (a.axis >= 0 ? a.axis : rank > 0 ? a.axis + rank : 0);
}

inline Status infer_arg(const ArgAttrs& a, const InferContext& c, DTypeMask types) noexcept {
  MOTE_TRY(c.require(0, types));
  for (const int32_t flag : {a.keep_dims, a.select_last, a.flat, a.index_type})
    if (flag != 0 && flag != 1) return c.reject(Why::kAttribute, 1, flag);
  const TensorDesc& x = c.in(0);
  int axis;
  if (a.flat == 0) MOTE_TRY(c.axis(a.axis, x.rank > 0 ? x.rank : 1, &axis));
  const uint32_t mask = searched_axes(a, x.rank);
  for (int i = 0; i < x.rank; ++i)
    if ((mask >> i & 1) != 0 && x.dims[i] == 0) return c.reject(Why::kDimMismatch, 1, 0);  // nothing has no position
  return set_reduced(c, a.index_type == 0 ? DType::s64 : DType::s32, mask, a.keep_dims != 0);
}

// Position of the element that comes first in the order; NaN comes before everything else.
template <class Order, class T>
int32_t position_of_first(const Reduced<T>& x, bool select_last) noexcept {
  Compute<T> best{};
  int32_t position = 0, i = 0;
  x.each([&](Compute<T> v) {
    const bool best_nan = holds_nan(best), nan = holds_nan(v);
    const bool better = nan ? !best_nan : !best_nan && Order()(v, best);
    const bool equal = nan ? best_nan : v == best;
    if (i == 0 || better || (select_last && equal)) {
      best = v;
      position = i;
    }
    ++i;
  });
  return position;
}

template <class Order, class T>
Status run_arg(const OpContext& c) noexcept {
  const ArgAttrs& a = c.attrs<ArgAttrs>();
  const Tensor &x = c.input(0), &y = c.output(0);
  ReduceWalk walk(*x.desc, *y.desc, searched_axes(a, x.rank()), a.keep_dims != 0);
  while (walk.next()) {
    const int32_t position = position_of_first<Order>(Reduced<T>(x, walk), a.select_last != 0);
    if (a.index_type == 0) *y.at<int64_t>(walk.y_offset()) = position;
    else *y.at<int32_t>(walk.y_offset()) = position;
  }
  return Status::kOk;
}

}  // namespace mote::ops
