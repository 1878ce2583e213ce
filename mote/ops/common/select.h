#pragma once

// Picks the instance of a kernel template for an element type. A selective build (MOTE_OPS_FROM_MODEL) leaves out the
// types no program needs: the generated header says which those are.

#include "mote/core/op.h"
#include "mote/ops/op_id.h"
#include "mote_selection.h"  // generated: constexpr DTypeMask selected_types(OpId)

namespace mote::ops {

namespace detail {
template <OpId Op, template <class> class Kernel, class T>
void pick_one(DType t, KernelFn& fn) noexcept {
  if constexpr ((selected_types(Op) & mask_of(dtype_of<T>)) != 0) {
    if (t == dtype_of<T>) fn = &Kernel<T>::run;
  }
}
}  // namespace detail

// The function Kernel<T>::run for the T in the list that has element type `t`; null when there is none.
template <OpId Op, template <class> class Kernel, class... Ts>
KernelFn pick(DType t, TypeList<Ts...>) noexcept {
  KernelFn fn = nullptr;
  (detail::pick_one<Op, Kernel, Ts>(t, fn), ...);
  return fn;
}

}  // namespace mote::ops
