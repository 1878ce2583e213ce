#pragma once

// What pools share: their attributes and shapes. Pools keep the batch and the channels.

#include "mote/ops/common/select.h"
#include "mote/ops/common/window.h"

namespace mote::ops {

template <class A>
constexpr auto pool_fields() {
  return std::tuple_cat(std::make_tuple(attr("kernel", &A::kernel, "size of the window per spatial dimension; unused entries are ignored")),
                        window_fields<A>(),
                        std::make_tuple(attr("ceil_mode", &A::ceil_mode, "1: a last window that reaches beyond the padding counts too")));
}

// Sets output 0; an operator with more outputs sets those itself.
template <class A>
Status infer_pool(const A& a, const InferContext& c, DTypeMask types) noexcept {
  MOTE_TRY(c.require(0, types));
  MOTE_TRY(require_spatial(c, 0));
  if (a.ceil_mode > 1) return c.reject(Why::kAttribute, 1, a.ceil_mode);
  const TensorDesc& x = c.in(0);
  Window w = make_window(a, x, a.kernel);
  MOTE_TRY(infer_window(c, a.ceil_mode != 0, &w));
  return set_spatial(c, 0, x.dtype, x.dims[0], w, x.dims[x.rank - 1]);
}

}  // namespace mote::ops
