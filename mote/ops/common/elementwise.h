#pragma once

// Kernels of operators that work element by element. An operator gives a function object, which becomes a loop over neighbours for each
// type; the walks around it (dense tensors at once, else views, broadcasting, strips) are there once.

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

// y[i] = f(x[i]) for n neighbours.
using UnaryRow = void (*)(const OpContext&, const void* x, void* y, int32_t n);
// y[i] = f(a[i * a_step], b[i * b_step]); the steps are 0 or 1.
using BinaryRow = void (*)(const OpContext&, const void* a, int32_t a_step, const void* b, int32_t b_step, void* y, int32_t n);

// The loops, once for all operators and types.
[[gnu::noinline]] inline Status map_unary(const OpContext& c, UnaryRow row) noexcept {
  const Tensor &x = c.input(0), &y = c.output(0);
  if (c.rows.all() && is_dense(*x.desc) && is_dense(*y.desc)) {
    row(c, x.data, y.data, y.count());
    return Status::kOk;
  }
  RowWalk<2> w(*y.desc, {x.desc, y.desc}, c.rows);
  while (w.next()) row(c, x.at<const void>(w.offset[0]), y.at<void>(w.offset[1]), w.length);
  return Status::kOk;
}
[[gnu::noinline]] inline Status map_binary(const OpContext& c, BinaryRow row) noexcept {
  const Tensor &a = c.input(0), &b = c.input(1), &y = c.output(0);
  if (c.rows.all() && same_shape(*a.desc, *b.desc) && is_dense(*a.desc) && is_dense(*b.desc) && is_dense(*y.desc)) {
    row(c, a.data, 1, b.data, 1, y.data, y.count());
    return Status::kOk;
  }
  RowWalk<3> w(*y.desc, {a.desc, b.desc, y.desc}, c.rows);
  while (w.next())
    row(c, a.at<const void>(w.offset[0]), w.step[0], b.at<const void>(w.offset[1]), w.step[1], y.at<void>(w.offset[2]), w.length);
  return Status::kOk;
}

// F: `R operator()(C x) const` where C is the compute type (float for f16 and bf16). R is stored as bool when it is bool, as T otherwise.
template <class F, class T, class R = decltype(std::declval<F>()(Compute<T>{}))>
void map_row(const F& f, const void* from, void* to, int32_t n) noexcept {
  using Out = std::conditional_t<std::is_same_v<R, bool>, bool, T>;
  const T* x = static_cast<const T*>(from);
  Out* y = static_cast<Out*>(to);
  for (int32_t i = 0; i < n; ++i) y[i] = static_cast<Out>(f(load(x + i)));
}

template <class F, class A>
struct Unary {
  template <class T>
  struct Kernel {
    static void row(const OpContext& c, const void* x, void* y, int32_t n) noexcept { map_row<F, T>(make_function<F, A>(c), x, y, n); }
    static Status run(const OpContext& c) noexcept { return map_unary(c, &row); }
  };
};

// F: `R operator()(C a, C b) const`; see map_row.
template <class F, class A>
struct Binary {
  template <class T>
  struct Kernel {
    using C = Compute<T>;
    using R = decltype(std::declval<F>()(C{}, C{}));
    using Out = std::conditional_t<std::is_same_v<R, bool>, bool, T>;

    static void row(const OpContext& c, const void* left, int32_t a_step, const void* right, int32_t b_step, void* to, int32_t n) noexcept {
      const F f = make_function<F, A>(c);
      const T *a = static_cast<const T*>(left), *b = static_cast<const T*>(right);
      Out* y = static_cast<Out*>(to);
      for (int32_t i = 0; i < n; ++i, a += a_step, b += b_step) y[i] = static_cast<Out>(f(load(a), load(b)));
    }
    static Status run(const OpContext& c) noexcept { return map_binary(c, &row); }
  };
};

// The kernel of a unary operator: pick_unary<OpId::exp, Exp>(c, FloatTypes{}).
template <OpId Op, class F, class A = NoAttrs, class... Ts>
KernelFn pick_unary(const OpContext& c, TypeList<Ts...> types) noexcept {
  return pick<Op, Unary<F, A>::template Kernel>(c.input(0).dtype(), types);
}

// The kernel of a binary operator with broadcasting: pick_binary<OpId::add, Add>(c, NumberTypes{}).
template <OpId Op, class F, class A = NoAttrs, class... Ts>
KernelFn pick_binary(const OpContext& c, TypeList<Ts...> types) noexcept {
  return pick<Op, Binary<F, A>::template Kernel>(c.input(0).dtype(), types);
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
