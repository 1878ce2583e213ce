// Reductions along axes, positions of extremes, running sums.

#include <algorithm>

#include "mote/compiler/frontends/tflite/moves.h"
#include "mote/compiler/frontends/tflite/quant.h"
#include "mote/ops/common/arg_reduce.h"
#include "mote/ops/common/reduce.h"
#include "mote/ops/common/scan.h"
#include "mote/ops/q_reduce/q_reduce.h"

namespace mote::frontends::tflite {
namespace {

// Axes without repetition, from 0 up. No axes reduce nothing.
bool axes_of(Op& op, int rank, Dims* out) {
  std::vector<int64_t> axes;
  if (!op.need_ints(1, "the axes", &axes)) return false;
  for (const int64_t a : axes) {
    const int64_t axis = a < 0 ? a + rank : a;
    if (axis < 0 || axis >= std::max(rank, 1)) {
      op.fail("axis " + std::to_string(a) + " does not exist in an input of " + std::to_string(rank) + " dimensions");
      return false;
    }
    if (std::find(out->begin(), out->end(), static_cast<int32_t>(axis)) == out->end()) out->push_back(static_cast<int32_t>(axis));
  }
  return true;
}

template <class A>
A reduce_attrs(const Dims& axes, bool keep) {
  A a;
  a.axis_count = static_cast<int32_t>(axes.size());
  a.keep_dims = keep ? 1 : 0;
  std::copy(axes.begin(), axes.end(), a.axes);
  return a;
}

OpId plain_reduction(BuiltinOperator code, bool truth) {
  switch (code) {
    case BuiltinOperator::MEAN: return OpId::reduce_mean;
    case BuiltinOperator::SUM: return truth ? OpId::reduce_any : OpId::reduce_sum;
    case BuiltinOperator::REDUCE_MAX: return OpId::reduce_max;
    case BuiltinOperator::REDUCE_MIN: return OpId::reduce_min;
    case BuiltinOperator::REDUCE_PROD: return truth ? OpId::reduce_all : OpId::reduce_prod;
    case BuiltinOperator::REDUCE_ANY: return OpId::reduce_any;
    default: return OpId::reduce_all;
  }
}

Value* quantized_reduction(Op& op, const Dims& axes, bool keep) {
  using ops::q_reduce::Kind;
  const Tensor &x = op.in(0), &y = op.out();
  ops::q_reduce::Attrs a = reduce_attrs<ops::q_reduce::Attrs>(axes, keep);
  switch (op.code()) {
    case BuiltinOperator::MEAN: a.kind = static_cast<uint32_t>(Kind::kMean); break;
    case BuiltinOperator::SUM: a.kind = static_cast<uint32_t>(Kind::kSum); break;
    case BuiltinOperator::REDUCE_MAX: a.kind = static_cast<uint32_t>(Kind::kMax); break;
    case BuiltinOperator::REDUCE_MIN: a.kind = static_cast<uint32_t>(Kind::kMin); break;
    default: op.fail("the operator is not supported on quantized numbers", "keep this operator in float when quantizing"); return nullptr;
  }
  if (!need_scale(op, x) || !need_scale(op, y)) return nullptr;
  const Multiplier m = quantize_multiplier(static_cast<double>(x.scale()) / static_cast<double>(y.scale()));
  a.multiplier = m.value;
  a.shift = m.shift;
  a.input_zero = x.zero();
  a.output_zero = y.zero();
  return op.b.op(OpId::q_reduce, a, {op.value(0)});
}

}  // namespace

void import_reduce(Op& op) {
  const bool keep = op.options<fb::ReducerOptions>().keep_dims();
  Value* x = op.value(0);
  Dims axes;
  if (x == nullptr || !axes_of(op, x->type.rank(), &axes)) return;
  const DType t = x->type.dtype;
  const bool quantized = op.in(0).quant.present() && (t == DType::s8 || t == DType::u8 || t == DType::s16);
  if (quantized) return op.set(quantized_reduction(op, axes, keep));
  if (axes.empty()) return op.set(x);
  op.set(op.b.op(plain_reduction(op.code(), op.type_in(0) == DType::boolean), reduce_attrs<ops::ReduceAttrs>(axes, keep), {x}));
}

void import_arg_extreme(Op& op) {
  std::vector<int64_t> axis;
  if (!op.need_ints(1, "the axis", &axis) || axis.size() != 1) return op.fail("expected one axis");
  const Dims a = to_dims(op, axis);
  ops::ArgAttrs attrs;
  attrs.axis = a[0];
  attrs.keep_dims = 0;
  attrs.index_type = op.out().dtype == DType::s64 ? 0 : 1;
  op.set(op.b.op(op.code() == BuiltinOperator::ARG_MAX ? OpId::arg_max : OpId::arg_min, attrs, {op.value(0)}));
}

void import_cumsum(Op& op) {
  const auto& o = op.options<fb::CumsumOptions>();
  std::vector<int64_t> axis;
  if (!op.need_ints(1, "the axis", &axis) || axis.size() != 1) return op.fail("expected one axis");
  const Dims a = to_dims(op, axis);
  op.set(op.b.op(OpId::cum_sum, ops::ScanAttrs{a[0], o.exclusive() ? 1 : 0, o.reverse() ? 1 : 0}, {op.value(0)}));
}

}  // namespace mote::frontends::tflite
