// Reductions along one axis, which stays with size 1, and ARGMAX.

#include <cmath>

#include "mote/compiler/frontends/tosa/op.h"
#include "mote/ops/common/arg_reduce.h"

namespace mote::frontends::tosa {
namespace {

Value* reduced(Op& op, OpId id, int32_t axis) {
  Value* x = op.value(0);
  return op.ok() ? op.reduce(id, x, {op.axis(axis, rank_of(x))}) : nullptr;
}

// Where NaN is ignored, it takes part as the least (greatest) number; a line of nothing else gives NaN.
void extreme(Op& op, OpId id, int32_t axis, fb::NanPropagationMode mode) {
  Value* x = op.value(0);
  if (!op.ok()) return;
  if (!is_float(x->type.dtype) || mode != fb::NanPropagationMode::IGNORE) return op.set(reduced(op, id, axis));
  Value* nan = op.is_nan(x);
  Value* y = op.reduce(id, op.where(nan, op.number(id == OpId::reduce_max ? -INFINITY : INFINITY, x), x), {op.axis(axis, rank_of(x))});
  op.set(op.where(op.reduce(OpId::reduce_all, nan, {axis}), op.number(NAN, x), y));
}

}  // namespace

void import_reduce_all(Op& op) { op.set(reduced(op, OpId::reduce_all, op.attributes<fb::ReduceAllAttribute>().axis())); }
void import_reduce_any(Op& op) { op.set(reduced(op, OpId::reduce_any, op.attributes<fb::ReduceAnyAttribute>().axis())); }
void import_reduce_product(Op& op) { op.set(reduced(op, OpId::reduce_prod, op.attributes<fb::ReduceProductAttribute>().axis())); }
void import_reduce_sum(Op& op) { op.set(reduced(op, OpId::reduce_sum, op.attributes<fb::ReduceSumAttribute>().axis())); }

void import_reduce_max(Op& op) {
  const auto& a = op.attributes<fb::ReduceMaxAttribute>();
  extreme(op, OpId::reduce_max, a.axis(), a.nan_mode());
}

void import_reduce_min(Op& op) {
  const auto& a = op.attributes<fb::ReduceMinAttribute>();
  extreme(op, OpId::reduce_min, a.axis(), a.nan_mode());
}

void import_argmax(Op& op) {
  const auto& o = op.attributes<fb::ArgMaxAttribute>();
  Value* x = op.value(0);
  if (!op.ok()) return;
  if (is_float(x->type.dtype) && o.nan_mode() == fb::NanPropagationMode::IGNORE) x = op.where(op.is_nan(x), op.number(-INFINITY, x), x);
  ops::ArgAttrs a;
  a.axis = op.axis(o.axis(), rank_of(x));
  a.keep_dims = 0;
  if (op.ok()) op.set(op.cast(op.b.op(OpId::arg_max, a, {x}), DType::s32));
}

}  // namespace mote::frontends::tosa
