#pragma once

// Kernels of operators that work element by element. An operator gives a function object; these give the loops:
// a flat one for dense tensors of one shape, and a walk for everything else (views, broadcasting, strips).

#include "mote/ops/common/row_walk.h"
#include "mote/ops/common/select.h"

namespace mote::ops {

// Makes the operator's function object from its attributes (or from nothing).
template <class F, class A>
F make_function(const OpContext& c) noexcept {
  if constexpr (std::is_empty_v<A>) {
    (void)c;
    return F();
  } else {
    return F(c.attrs<A>());
  }
}

// An element as its compute type. Nobody vouches for the bytes of a bool tensor being 0 or 1, and nothing else may be loaded as
// a bool: every byte but 0 is true.
template <class T>
Compute<T> load(const T* p) noexcept {
  if constexpr (std::is_same_v<T, bool>) return *reinterpret_cast<const uint8_t*>(p) != 0;
  else return static_cast<Compute<T>>(*p);
}

// F: `R operator()(C x) const` where C is the compute type (float for f16 and bf16). R is stored as bool when it is bool, as T otherwise.
template <class F, class A, class T>
struct UnaryKernel {
  using C = Compute<T>;
  using R = decltype(std::declval<F>()(C{}));
  using Out = std::conditional_t<std::is_same_v<R, bool>, bool, T>;

  static void row(const F& f, const T* x, Out* y, int32_t n) noexcept {
    for (int32_t i = 0; i < n; ++i) y[i] = static_cast<Out>(f(load(x + i)));
  }
  static Status flat(const OpContext& c) noexcept {
    row(make_function<F, A>(c), c.input(0).as<const T>(), c.output(0).as<Out>(), c.output(0).count());
    return Status::kOk;
  }
  static Status walk(const OpContext& c) noexcept {
    const F f = make_function<F, A>(c);
    const Tensor &x = c.input(0), &y = c.output(0);
    RowWalk<2> w(*y.desc, {x.desc, y.desc}, c.rows);
    while (w.next()) row(f, x.at<const T>(w.offset[0]), y.at<Out>(w.offset[1]), w.length);
    return Status::kOk;
  }
};

// F: `R operator()(C a, C b) const`; see UnaryKernel.
template <class F, class A, class T>
struct BinaryKernel {
  using C = Compute<T>;
  using R = decltype(std::declval<F>()(C{}, C{}));
  using Out = std::conditional_t<std::is_same_v<R, bool>, bool, T>;

  static Status flat(const OpContext& c) noexcept {
    const F f = make_function<F, A>(c);
    const T *a = c.input(0).as<const T>(), *b = c.input(1).as<const T>();
    Out* y = c.output(0).as<Out>();
    for (int32_t i = 0, n = c.output(0).count(); i < n; ++i) y[i] = static_cast<Out>(f(load(a + i), load(b + i)));
    return Status::kOk;
  }
  static Status walk(const OpContext& c) noexcept {
    const F f = make_function<F, A>(c);
    const Tensor &ta = c.input(0), &tb = c.input(1), &ty = c.output(0);
    RowWalk<3> w(*ty.desc, {ta.desc, tb.desc, ty.desc}, c.rows);
    while (w.next()) {
      const T *a = ta.at<const T>(w.offset[0]), *b = tb.at<const T>(w.offset[1]);
      Out* y = ty.at<Out>(w.offset[2]);
      for (int32_t i = 0; i < w.length; ++i, a += w.step[0], b += w.step[1]) y[i] = static_cast<Out>(f(load(a), load(b)));
    }
    return Status::kOk;
  }
};

namespace detail {
template <OpId Op, class K, class T>
void pick_loop(DType t, bool flat, KernelFn& fn) noexcept {
  if constexpr ((selected_types(Op) & mask_of(dtype_of<T>)) != 0) {
    if (t == dtype_of<T>) fn = flat ? &K::flat : &K::walk;
  }
}
}  // namespace detail

// The kernel of a unary operator: pick_unary<OpId::exp, Exp>(c, FloatTypes{}).
template <OpId Op, class F, class A = NoAttrs, class... Ts>
KernelFn pick_unary(const OpContext& c, TypeList<Ts...>) noexcept {
  const bool flat = c.rows.all() && is_dense(*c.input(0).desc) && is_dense(*c.output(0).desc);
  KernelFn fn = nullptr;
  (detail::pick_loop<Op, UnaryKernel<F, A, Ts>, Ts>(c.input(0).dtype(), flat, fn), ...);
  return fn;
}

// The kernel of a binary operator with broadcasting: pick_binary<OpId::add, Add>(c, NumberTypes{}).
template <OpId Op, class F, class A = NoAttrs, class... Ts>
KernelFn pick_binary(const OpContext& c, TypeList<Ts...>) noexcept {
  const TensorDesc &a = *c.input(0).desc, &b = *c.input(1).desc, &y = *c.output(0).desc;
  const bool flat = c.rows.all() && same_shape(a, b) && is_dense(a) && is_dense(b) && is_dense(y);
  KernelFn fn = nullptr;
  (detail::pick_loop<Op, BinaryKernel<F, A, Ts>, Ts>(a.dtype, flat, fn), ...);
  return fn;
}

// infer() of unary operators: the input's shape, and its type or `result` when given.
inline Status infer_unary(const InferContext& c, DTypeMask types, DType result = DType::kNone) noexcept {
  MOTE_TRY(c.require(0, types));
  c.same_as(0, 0, result == DType::kNone ? c.in(0).dtype : result);
  return Status::kOk;
}

// infer() of binary operators: both inputs of one type, broadcast; the result has that type, or `result` when given.
inline Status infer_binary(const InferContext& c, DTypeMask types, DType result = DType::kNone) noexcept {
  MOTE_TRY(c.require(0, types));
  MOTE_TRY(c.require(1, types));
  if (c.in(0).dtype != c.in(1).dtype)
    return c.reject(Why::kDTypeMismatch, static_cast<uint8_t>(c.in(0).dtype), static_cast<uint8_t>(c.in(1).dtype));
  return c.broadcast(0, 0, 1, result == DType::kNone ? c.in(0).dtype : result);
}

}  // namespace mote::ops
