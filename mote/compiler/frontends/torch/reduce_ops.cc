#include <algorithm>
#include <cmath>
#include <numeric>

#include "mote/compiler/frontends/torch/op.h"
#include "mote/ops/arg_max/arg_max.h"
#include "mote/ops/cum_max/cum_max.h"
#include "mote/ops/cum_sum/cum_sum.h"
#include "mote/ops/log_softmax/log_softmax.h"
#include "mote/ops/reduce_var/reduce_var.h"

namespace mote::frontends::torch {
namespace {

// No axes: all of them.
std::vector<int64_t> axes_or_all(Op& o, const char* name, int rank) {
  std::vector<int64_t> axes = o.axes(name, rank);
  if (axes.empty()) {
    axes.resize(static_cast<size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
  }
  return axes;
}

Value* reduced(Op& o, OpId id, Value* x, const char* dim = "dim") {
  if (rank_of(x) == 0) x = o.reshape(x, {1});
  const std::vector<int64_t> axes = axes_or_all(o, dim, rank_of(x));
  const bool keep = o.flag("keepdim", false) && o.out_rank() > 0;
  return o.reduce(id, x, axes, keep);
}

template <OpId id>
void import_reduction(Op& o) {
  Value* x = o.cast(o.in("self"), o.out_type());
  // Truth values add and multiply as 0 and 1.
  if (o.out_type() == DType::boolean) return o.out(o.cast(reduced(o, id, o.cast(x, DType::s64)), DType::boolean));
  o.out(reduced(o, id, x));
}

template <OpId id>
void import_extreme(Op& o) {
  o.out(reduced(o, id, o.in("self")));
}

// Truth values; torch gives u8 for u8.
template <OpId id>
void import_truth(Op& o) {
  o.out(o.cast(reduced(o, id, o.in("self")), o.out_type()));
}

void import_count_nonzero(Op& o) {
  Value* x = o.in("self");
  o.out(reduced(o, OpId::reduce_sum, o.cast(o.cast(x, DType::boolean), DType::s64)));
}

template <int root>
Value* spread(Op& o, Value* x) {
  ops::reduce_var::Attrs a;
  a.root = root;
  a.correction = 1;
  if (o.has("correction")) a.correction = static_cast<float>(o.real("correction", 1));
  else if (!o.flag("unbiased", true)) a.correction = 0;
  if (rank_of(x) == 0) x = o.reshape(x, {1});
  const std::vector<int64_t> axes = axes_or_all(o, "dim", rank_of(x));
  a.axis_count = static_cast<int32_t>(axes.size());
  for (size_t i = 0; i < axes.size() && i < 8; ++i) a.axes[i] = static_cast<int32_t>(axes[i]);
  a.keep_dims = o.flag("keepdim", false) && o.out_rank() > 0 ? 1 : 0;
  return o.b.ok() ? o.b.op(OpId::reduce_var, a, {x}) : nullptr;
}

template <int root>
void import_spread(Op& o) {
  o.out(spread<root>(o, o.in("self")));
}

template <int root>
void import_spread_mean(Op& o) {
  Value* x = o.in("self");
  o.out(0, spread<root>(o, x));
  o.out(1, reduced(o, OpId::reduce_mean, x));
}

Value* p_norm(Op& o, Value* x, double p) {
  if (p == 2) return reduced(o, OpId::reduce_l2, x);
  if (p == 1) return reduced(o, OpId::reduce_l1, x);
  Value* magnitude = o.op(OpId::abs, {x});
  if (std::isinf(p)) return reduced(o, p > 0 ? OpId::reduce_max : OpId::reduce_min, magnitude);
  if (p == 0) return reduced(o, OpId::reduce_sum, o.cast(o.op(OpId::not_equal, {x, o.number(0, x)}), dtype_of_value(x)));
  return o.pow(reduced(o, OpId::reduce_sum, o.pow(magnitude, p)), 1 / p);
}

void import_norm(Op& o) { o.out(p_norm(o, o.cast(o.in("self"), o.out_type()), o.real(o.has("ord") ? "ord" : "p", 2))); }

void import_logsumexp(Op& o) { o.out(reduced(o, OpId::reduce_log_sum_exp, o.cast(o.in("self"), o.out_type()))); }

Value* place(Op& o, OpId id, Value* x, int axis, bool keep) {
  ops::arg_max::Attrs a;
  a.axis = axis;
  a.keep_dims = keep ? 1 : 0;
  return o.b.ok() ? o.b.op(id, a, {x}) : nullptr;
}

template <OpId id>
void import_place(Op& o) {
  Value* x = o.in("self");
  const bool keep = o.flag("keepdim", false);
  if (o.has("dim") && rank_of(x) > 0) return o.out(place(o, id, x, o.axis("dim", 0, rank_of(x)), keep));
  Value* flat = place(o, id, o.reshape(x, {-1}), 0, false);
  if (keep && rank_of(x) > 0) flat = o.reshape(flat, std::vector<int64_t>(static_cast<size_t>(rank_of(x)), 1));
  o.out(flat);
}

// The value and where it is.
template <OpId reduce, OpId arg>
void import_extreme_along(Op& o) {
  Value* x = o.in("self");
  if (rank_of(x) == 0) {
    o.out(0, x);
    return o.out(1, o.number(0, DType::s64));
  }
  const int axis = o.axis("dim", 0, rank_of(x));
  const bool keep = o.flag("keepdim", false);
  o.out(0, o.reduce(reduce, x, {axis}, keep));
  if (o.wants(1)) o.out(1, place(o, arg, x, axis, keep));
}

void import_aminmax(Op& o) {
  Value* x = o.in("self");
  o.out(0, reduced(o, OpId::reduce_min, x));
  o.out(1, reduced(o, OpId::reduce_max, x));
}

template <OpId id>
void import_running(Op& o) {
  Value* x = o.cast(o.in("self"), o.out_type());
  const int axis = o.axis("dim", 0, rank_of(x));
  if (rank_of(x) == 0) return o.out(x);
  ops::cum_sum::Attrs a;
  a.axis = axis;
  if (o.b.ok()) o.out(o.b.op(id, a, {x}));
}

template <int smallest>
void import_running_extreme(Op& o) {
  Value* x = o.in("self");
  const int axis = o.axis("dim", 0, rank_of(x));
  if (rank_of(x) == 0) {
    o.out(0, x);
    return o.out(1, o.number(0, DType::s64));
  }
  const DType t = dtype_of_value(x);
  ops::cum_max::Attrs a;
  a.axis = axis;
  a.smallest = smallest;
  if (t == DType::boolean) x = o.cast(x, DType::u8);
  const std::vector<Value*> y = o.b.ok() ? o.b.ops(OpId::cum_max, a, {x}, 2) : std::vector<Value*>{};
  if (y.size() != 2) return;
  o.out(0, o.cast(y[0], t));
  o.out(1, y[1]);
}

void import_softmax(Op& o) {
  Value* x = o.cast(o.in("self"), o.out_type());
  const int axis = o.axis("dim", -1, rank_of(x));
  if (rank_of(x) == 0) x = o.reshape(x, {1});
  Value* y = o.softmax(x, axis);
  o.out(o.out_rank() == 0 ? o.reshape(y, {}) : y);
}

// Rows that are minus infinity throughout give 0.
void import_safe_softmax(Op& o) {
  import_softmax(o);
  Value* x = o.in("self");
  if (!o.b.ok() || o.outputs.empty() || rank_of(x) == 0) return;
  Value* out_of_reach = o.op(OpId::equal, {x, o.number(-INFINITY, x)});
  Value* dead = o.reduce(OpId::reduce_all, out_of_reach, {o.axis("dim", -1, rank_of(x))}, true);
  o.out(o.op(OpId::where, {dead, o.number(0, o.out_type()), o.outputs[0]}));
}

void import_log_softmax(Op& o) {
  Value* x = o.cast(o.in("self"), o.out_type());
  ops::log_softmax::Attrs a;
  a.axis = o.axis("dim", -1, rank_of(x));
  if (rank_of(x) == 0) x = o.reshape(x, {1});
  Value* y = o.b.ok() ? o.b.op(OpId::log_softmax, a, {x}) : nullptr;
  o.out(o.out_rank() == 0 ? o.reshape(y, {}) : y);
}

}  // namespace

void add_reduce_ops(OpTable& t);
void add_reduce_ops(OpTable& t) {
  add_lines(t, {
                   {"aten.sum", "default dim_IntList", &import_reduction<OpId::reduce_sum>},
                   {"aten.mean", "default dim", &import_reduction<OpId::reduce_mean>},
                   {"aten.prod", "default dim_int", &import_reduction<OpId::reduce_prod>},
                   {"aten.amax", "default", &import_extreme<OpId::reduce_max>},
                   {"aten.amin", "default", &import_extreme<OpId::reduce_min>},
                   {"aten.aminmax", "default", &import_aminmax},
                   {"aten.max", "default", &import_extreme<OpId::reduce_max>},
                   {"aten.min", "default", &import_extreme<OpId::reduce_min>},
                   {"aten.max", "dim", &import_extreme_along<OpId::reduce_max, OpId::arg_max>},
                   {"aten.min", "dim", &import_extreme_along<OpId::reduce_min, OpId::arg_min>},
                   {"aten.any", "default dim dims", &import_truth<OpId::reduce_any>},
                   {"aten.all", "default dim dims", &import_truth<OpId::reduce_all>},
                   {"aten.argmax", "default", &import_place<OpId::arg_max>},
                   {"aten.argmin", "default", &import_place<OpId::arg_min>},
                   {"aten.count_nonzero", "default dim_IntList", &import_count_nonzero},
                   {"aten.var", "default dim correction", &import_spread<0>, kFloat},
                   {"aten.std", "default dim correction", &import_spread<1>, kFloat},
                   {"aten.var_mean", "default dim correction", &import_spread_mean<0>, kFloat},
                   {"aten.std_mean", "default dim correction", &import_spread_mean<1>, kFloat},
                   {"aten.norm", "Scalar ScalarOpt_dim ScalarOpt_dtype ScalarOpt_dim_dtype", &import_norm, kFloat},
                   {"aten.linalg_vector_norm", "default", &import_norm, kFloat},
                   {"aten.logsumexp", "default", &import_logsumexp},
                   {"aten.cumsum", "default", &import_running<OpId::cum_sum>},
                   {"aten.cumprod", "default", &import_running<OpId::cum_prod>},
                   {"aten.cummax", "default", &import_running_extreme<0>},
                   {"aten.cummin", "default", &import_running_extreme<1>},
                   {"aten.softmax", "int", &import_softmax},
                   {"aten._softmax", "default", &import_softmax, kFloat},
                   {"aten._safe_softmax", "default", &import_safe_softmax, kFloat},
                   {"aten.log_softmax", "int", &import_log_softmax},
                   {"aten._log_softmax", "default", &import_log_softmax, kFloat},
               });
}

}  // namespace mote::frontends::torch
