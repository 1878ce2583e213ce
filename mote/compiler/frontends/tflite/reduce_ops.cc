// Reductions along axes, positions of extremes, running sums.

#include <algorithm>
#include <cmath>

#include "mote/compiler/frontends/common/words.h"
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

// Products of quantized numbers, one factor after the other, each product scaled as TensorFlow Lite scales 64-bit sums.
Value* quantized_product(Op& op, Dims axes, bool keep) {
  const Tensor &from = op.in(0), &to = op.out();
  Value* x = op.value(0);
  if (!need_scale(op, from) || !need_scale(op, to) || x == nullptr) return nullptr;
  std::sort(axes.begin(), axes.end());
  int64_t count = 1;
  std::vector<int> perm(axes.begin(), axes.end());
  std::vector<int64_t> sizes{1}, kept;
  for (int i = 0; i < x->type.rank(); ++i) {
    const int32_t size = dims_of(x)[static_cast<size_t>(i)];
    const bool reduced = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (reduced) count *= size;
    else perm.push_back(i), sizes.push_back(size);
    if (!reduced || keep) kept.push_back(reduced ? 1 : size);
  }
  const Multiplier m =
      quantize_multiplier(static_cast<double>(from.scale()) / std::pow(static_cast<double>(to.scale()), 1.0 / static_cast<double>(count)));
  if (!x->type.is_static() || count < 1 || count > 256 || m.shift > 14 || m.shift < -47) {
    op.fail("products of quantized numbers: expected a known shape, 1 to 256 factors and scales near each other");
    return nullptr;
  }
  Words w(op.b);
  const auto s64 = [&](int64_t v) { return op.b.graph().scalar<int64_t>(v); };
  const auto scaled = [&](Value* v) {
    const int64_t reduced = m.value < 0x7fff0000 ? (int64_t{m.value} + (1 << 15)) >> 16 : 0x7fff;
    Value* sum = w.add(w.mul(v, s64(reduced)), s64(int64_t{1} << (14 - m.shift)));
    return w.cast(w.op(OpId::shift_right, {sum, s64(15 - m.shift)}), DType::s32);
  };
  sizes[0] = count;
  Value* factors = w.sub(w.cast(w.reshape(w.transpose(x, perm), sizes), DType::s64), s64(from.zero()));
  Value* product = w.slice(factors, 0, 0, 1);
  for (int64_t k = 1; k < count && op.ok(); ++k) product = w.cast(scaled(w.mul(product, w.slice(factors, 0, k, k + 1))), DType::s64);
  const Range range = type_range(to.dtype);
  Value* y = w.add(scaled(product), static_cast<double>(to.zero()));
  y = w.op(OpId::minimum, {w.op(OpId::maximum, {y, w.number(range.lo, y)}), w.number(range.hi, y)});
  return w.reshape(w.cast(y, to.dtype), kept);
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
    case BuiltinOperator::REDUCE_PROD: return quantized_product(op, axes, keep);
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
