// Reductions, positions of extremes, running totals.

#include "mote/compiler/frontends/onnx/op_support.h"
#include "mote/ops/common/arg_reduce.h"
#include "mote/ops/common/scan.h"
#include "mote/ops/one_hot/one_hot.h"

namespace mote::frontends::onnx {
namespace {

// Axes as an attribute or, in newer opsets, an input. No axes: all of them, or with noop_with_empty_axes none: false then.
bool reduce(NodeContext& c, OpId id, Value* x, Value** y) {
  ops::ReduceAttrs a;
  a.keep_dims = static_cast<int32_t>(c.attr_int("keepdims", 1));
  std::vector<int64_t> axes;
  std::vector<Value*> inputs = {x};
  if (c.in(1) == nullptr) axes = c.attr_ints("axes");
  else if (!known_list(c.in(1), &axes)) inputs.push_back(c.in(1));
  if (inputs.size() == 1 && axes.empty() && c.attr_int("noop_with_empty_axes", 0) != 0) return false;
  a.axis_count = to_s32(static_cast<int64_t>(axes.size()));
  if (to_list(c, axes, a.axes)) *y = c.b.op(id, a, inputs);
  return true;
}

// `alone` is what the operator does to a single element.
template <OpId id, OpId alone = OpId::copy>
void import_reduce(NodeContext& c) {
  Value* y = nullptr;
  if (!reduce(c, id, c.in(0), &y)) y = alone == OpId::copy ? c.in(0) : c.b.op(alone, {c.in(0)});
  c.out(0, y);
}

void import_log_sum(NodeContext& c) {
  Value* sum = nullptr;
  if (!reduce(c, OpId::reduce_sum, c.in(0), &sum)) sum = c.in(0);
  if (sum != nullptr) c.out(0, c.b.op(OpId::log, {sum}));
}

// Integers of these are computed as floats that hold them.
template <OpId id>
void import_float_reduce(NodeContext& c) {
  const DType type = c.in(0)->type.dtype;
  const bool is_float = (mask_of(type) & kFloat) != 0;
  Value* x = is_float ? c.in(0) : c.b.cast(c.in(0), DType::f64);
  Value* y = nullptr;
  if (x != nullptr && !reduce(c, id, x, &y)) y = x;
  if (y != nullptr) c.out(0, c.b.cast(y, type));
}

template <OpId id>
void import_arg(NodeContext& c) {
  ops::ArgAttrs a;
  a.axis = to_s32(c.attr_int("axis", 0));
  a.keep_dims = static_cast<int32_t>(c.attr_int("keepdims", 1));
  a.select_last = static_cast<int32_t>(c.attr_int("select_last_index", 0));
  c.out(0, c.b.op(id, a, {c.in(0)}));
}

template <OpId id>
void import_scan(NodeContext& c) {
  ops::ScanAttrs a;
  a.exclusive = static_cast<int32_t>(c.attr_int("exclusive", 0));
  a.reverse = static_cast<int32_t>(c.attr_int("reverse", 0));
  std::vector<int64_t> axis;
  const bool known = known_list(c.in(1), &axis) && axis.size() == 1;
  if (known) a.axis = to_s32(axis[0]);
  c.out(0, known ? c.b.op(id, a, {c.in(0)}) : c.b.op(id, a, {c.in(0), c.in(1)}));
}

// One at the first largest element along an axis.
Value* hardmax(NodeContext& c, Value* x, int axis) {
  ops::ArgAttrs first;
  first.axis = axis;
  first.keep_dims = 0;
  Value* at = c.b.op(OpId::arg_max, first, {x});
  ops::one_hot::Attrs a;
  a.axis = axis;
  a.dtype = static_cast<int32_t>(x->type.dtype);
  a.depth = x->type.dims[static_cast<size_t>(axis)];
  if (at == nullptr) return nullptr;
  const bool open = (x->type.dynamic >> axis & 1) != 0;
  return open ? c.b.op(OpId::one_hot, a, {at, sizes_of(c, x, {axis})}) : c.b.op(OpId::one_hot, a, {at});
}

void import_hardmax(NodeContext& c) {
  int axis;
  if (to_axis(c, c.attr_int("axis", -1), c.in(0)->type.rank(), &axis)) c.out(0, hardmax(c, c.in(0), axis));
}

// Before opset 13 all axes from `axis` on count as one.
void import_hardmax_1(NodeContext& c) {
  Value* x = c.in(0);
  int axis;
  if (!to_axis(c, c.attr_int("axis", 1), x->type.rank(), &axis)) return;
  if (axis == x->type.rank() - 1) return c.out(0, hardmax(c, x, axis));
  std::vector<int64_t> dims(x->type.dims.begin(), x->type.dims.begin() + axis);
  dims.push_back(-1);
  Value* flat = x->type.is_static() ? Decompose(c).reshape(x, dims) : nullptr;
  if (!x->type.is_static()) return c.fail("Hardmax over several dynamic axes", "convert the model to opset 13 or later");
  Value* y = flat == nullptr ? nullptr : hardmax(c, flat, axis);
  c.out(0, Decompose(c).reshape(y, {x->type.dims.begin(), x->type.dims.end()}));
}

}  // namespace

void add_reduce_ops(OpTable& table);
void add_reduce_ops(OpTable& table) {
  add_lines(table, {{"ReduceSum", import_reduce<OpId::reduce_sum>},
                    {"ReduceMean", import_reduce<OpId::reduce_mean>},
                    {"ReduceMax", import_reduce<OpId::reduce_max>},
                    {"ReduceMin", import_reduce<OpId::reduce_min>},
                    {"ReduceProd", import_reduce<OpId::reduce_prod>},
                    {"ReduceL1", import_reduce<OpId::reduce_l1, OpId::abs>},
                    {"ReduceL2", import_reduce<OpId::reduce_l2, OpId::abs>},
                    {"ReduceSumSquare", import_reduce<OpId::reduce_sum_square, OpId::square>},
                    {"ReduceLogSum", import_log_sum},
                    {"ReduceLogSumExp", import_float_reduce<OpId::reduce_log_sum_exp>},
                    {"ArgMax", import_arg<OpId::arg_max>},
                    {"ArgMin", import_arg<OpId::arg_min>},
                    {"CumSum", import_scan<OpId::cum_sum>, 1, 2},
                    {"CumProd", import_scan<OpId::cum_prod>, 1, 2},
                    {"Hardmax", import_hardmax_1},
                    {"Hardmax", import_hardmax, 13}});
}

}  // namespace mote::frontends::onnx
