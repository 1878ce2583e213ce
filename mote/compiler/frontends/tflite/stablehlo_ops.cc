// StableHLO's operators that have one of Mote's for a counterpart, or nearly so.

#include <algorithm>

#include "mote/compiler/frontends/common/einsum.h"
#include "mote/compiler/frontends/tflite/quant.h"
#include "mote/compiler/frontends/tflite/stablehlo.h"
#include "mote/ops/cast/cast.h"
#include "mote/ops/slice/slice.h"

namespace mote::frontends::tflite {
namespace {

OpId counterpart(BuiltinOperator code) {
  switch (code) {
    case BuiltinOperator::STABLEHLO_ABS: return OpId::abs;
    case BuiltinOperator::STABLEHLO_COSINE: return OpId::cos;
    case BuiltinOperator::STABLEHLO_EXPONENTIAL: return OpId::exp;
    case BuiltinOperator::STABLEHLO_FLOOR: return OpId::floor;
    case BuiltinOperator::STABLEHLO_LOG: return OpId::log;
    case BuiltinOperator::STABLEHLO_LOGISTIC: return OpId::sigmoid;
    case BuiltinOperator::STABLEHLO_NEGATE: return OpId::neg;
    case BuiltinOperator::STABLEHLO_RSQRT: return OpId::rsqrt;
    case BuiltinOperator::STABLEHLO_TANH: return OpId::tanh;
    case BuiltinOperator::STABLEHLO_DIVIDE: return OpId::div;
    case BuiltinOperator::STABLEHLO_POWER: return OpId::pow;
    case BuiltinOperator::STABLEHLO_REMAINDER: return OpId::fmod;
    case BuiltinOperator::STABLEHLO_SUBTRACT: return OpId::sub;
    case BuiltinOperator::STABLEHLO_SELECT: return OpId::where;
    default: return OpId::kNone;
  }
}

// True when nothing is quantized: StableHLO's arithmetic on quantized tensors has no kernel to be held against.
bool is_plain(Op& op) {
  for (uint32_t i = 0; i < op.inputs(); ++i)
    if (op.has(i) && op.in(i).quant.present() && is_8_or_16_bits(op.type_in(i)))
      op.fail("quantized numbers are not supported here", "convert to TensorFlow Lite's own operators");
  return op.ok();
}

// The sizes the file states of the output.
bool stated(Op& op, Int64s* sizes) {
  const Tensor& y = op.out();
  sizes->assign(y.dims.begin(), y.dims.end());
  if (std::count_if(y.dims.begin(), y.dims.end(), [](int32_t d) { return d < 0; }) == 0) return true;
  op.fail("the output must have a known shape; found " + describe(y));
  return false;
}

}  // namespace

void import_stablehlo_function(Op& op) {
  std::vector<Value*> in;
  for (uint32_t i = 0; i < op.inputs(); ++i) in.push_back(op.value(i));
  if (is_plain(op)) op.set(op.b.op(counterpart(op.code()), in));
}

void import_stablehlo_cbrt(Op& op) {
  Words w(op.b);
  Value* x = op.value(0);
  if (is_plain(op)) op.set(w.mul(w.op(OpId::sign, {x}), w.pow(w.op(OpId::abs, {x}), 1.0 / 3)));
}

// inputs: the least, x, the most.
void import_stablehlo_clamp(Op& op) {
  Words w(op.b);
  if (is_plain(op)) op.set(w.op(OpId::minimum, {w.op(OpId::maximum, {op.value(1), op.value(0)}), op.value(2)}));
}

void import_stablehlo_compare(Op& op) {
  const auto* o = op.source.table->builtin_options2_as_StablehloCompareOptions();
  constexpr OpId kDirections[] = {OpId::equal, OpId::not_equal, OpId::greater_equal, OpId::greater, OpId::less_equal, OpId::less};
  const uint32_t direction = o == nullptr ? 6 : static_cast<uint32_t>(o->comparison_direction());
  if (direction > 5) return op.fail("the options are missing, or name no comparison");
  if (is_plain(op)) op.set(op.b.op(kDirections[direction], {op.value(0), op.value(1)}));
}

void import_stablehlo_convert(Op& op) {
  if (op.out().dtype == DType::kNone || op.out().dtype == DType::s4)
    return op.fail("conversion to " + describe(op.out()) + " is not supported");
  if (is_plain(op) && op.value(0) != nullptr) op.set(op.b.cast(op.value(0), op.out().dtype));
}

void import_stablehlo_reshape(Op& op) {
  Int64s sizes;
  if (stated(op, &sizes)) op.set(Words(op.b).reshape(op.value(0), sizes));
}

void import_stablehlo_transpose(Op& op) {
  const auto* o = op.source.table->builtin_options2_as_StablehloTransposeOptions();
  const Int64s axes = list_of(o == nullptr ? nullptr : o->permutation());
  Value* x = op.value(0);
  if (axes.size() != static_cast<size_t>(rank_of(x))) return op.fail("expected a permutation of the axes of " + describe(op.in(0)));
  if (are_axes(op, axes, rank_of(x), "the permutation")) op.set(Words(op.b).transpose(x, std::vector<int>(axes.begin(), axes.end())));
}

void import_stablehlo_concatenate(Op& op) {
  const auto* o = op.source.table->builtin_options2_as_StablehloConcatenateOptions();
  std::vector<Value*> in;
  for (uint32_t i = 0; i < op.inputs(); ++i) in.push_back(op.value(i));
  const int64_t axis = o == nullptr ? -1 : o->dimension();
  if (axis < 0 || axis >= rank_of(in[0])) return op.fail("expected an axis of " + describe(op.in(0)) + ", found " + std::to_string(axis));
  op.set(Words(op.b).concat(in, static_cast<int>(axis)));
}

void import_stablehlo_broadcast(Op& op) {
  const auto* o = op.source.table->builtin_options2_as_StablehloBroadcastInDimOptions();
  const Int64s axes = list_of(o == nullptr ? nullptr : o->broadcast_dimensions());
  Value* x = op.value(0);
  Int64s sizes;
  if (!stated(op, &sizes) || !are_axes(op, axes, static_cast<int>(sizes.size()), "broadcast_dimensions")) return;
  if (axes.size() != static_cast<size_t>(rank_of(x))) return op.fail("expected an axis of the output for each of " + describe(op.in(0)));
  // Axes in the output's order, with new ones between them.
  std::vector<int> order;
  Int64s spaced(sizes.size(), 1);
  for (size_t i = 0; i < axes.size(); ++i) {
    order.push_back(static_cast<int>(i));
    spaced[static_cast<size_t>(axes[i])] = is_fixed(x, static_cast<int>(i)) ? dims_of(x)[i] : -1;
  }
  std::sort(order.begin(), order.end(), [&](int a, int b) { return axes[static_cast<size_t>(a)] < axes[static_cast<size_t>(b)]; });
  Words w(op.b);
  op.set(w.expand(w.reshape(w.transpose(x, order), spaced), sizes));
}

void import_stablehlo_slice(Op& op) {
  const auto* o = op.source.table->builtin_options2_as_StablehloSliceOptions();
  if (o == nullptr) return op.fail("the options are missing");
  const Int64s begin = list_of(o->start_indices()), end = list_of(o->limit_indices()), step = list_of(o->strides());
  Value* x = op.value(0);
  const size_t rank = static_cast<size_t>(rank_of(x));
  if (begin.size() != rank || end.size() != rank || step.size() != rank)
    return op.fail("expected a range for each axis of " + describe(op.in(0)));
  Words w(op.b);
  for (size_t i = 0; i < rank; ++i) {
    if (begin[i] < 0 || end[i] < begin[i] || step[i] < 1 || step[i] > INT32_MAX)
      return op.fail("expected ranges from 0 up, and strides of at least 1");
    x = w.slice(x, static_cast<int>(i), begin[i], end[i], step[i]);
  }
  op.set(x);
}

void import_stablehlo_iota(Op& op) {
  const auto* o = op.source.table->builtin_options2_as_StablehloIotaOptions();
  Int64s sizes;
  if (o == nullptr || !stated(op, &sizes)) return op.fail("the options are missing");
  const int64_t axis = o->iota_dimension();
  if (axis < 0 || axis >= static_cast<int64_t>(sizes.size())) return op.fail("expected an axis of " + describe(op.out()));
  Words w(op.b);
  Int64s spaced(sizes.size(), 1);
  spaced[static_cast<size_t>(axis)] = sizes[static_cast<size_t>(axis)];
  const auto s64 = [&](int64_t v) { return op.b.graph().scalar<int64_t>(v); };
  Value* steps = w.op(OpId::range, {s64(0), s64(spaced[static_cast<size_t>(axis)]), s64(1)});
  op.set(w.expand(w.reshape(w.cast(steps, op.out().dtype), spaced), sizes));
}

namespace {

// One vector of the scalars that say where a slice begins.
Value* begins(Op& op, uint32_t first, int rank) {
  Words w(op.b);
  std::vector<Value*> all;
  for (uint32_t i = 0; i < static_cast<uint32_t>(rank) && op.need({first + i}); ++i)
    all.push_back(w.reshape(w.cast(op.value(first + i), DType::s64), {1}));
  return op.ok() && !all.empty() ? w.concat(all, 0) : nullptr;
}

}  // namespace

// inputs: x, then where the slice begins along each axis, moved so that it lies inside.
void import_stablehlo_dynamic_slice(Op& op) {
  const auto* o = op.source.table->builtin_options2_as_StablehloDynamicSliceOptions();
  const Int64s sizes = list_of(o == nullptr ? nullptr : o->slice_sizes());
  Value* x = op.value(0);
  const int rank = rank_of(x);
  if (sizes.size() != static_cast<size_t>(rank) || rank == 0) return op.fail("expected a size for each axis of " + describe(op.in(0)));
  Int64s most;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!is_fixed(x, static_cast<int>(i)) || sizes[i] < 0 || sizes[i] > dims_of(x)[i])
      return op.fail("the slice does not fit " + describe(op.in(0)));
    most.push_back(dims_of(x)[i] - sizes[i]);
  }
  Words w(op.b);
  Value* from = begins(op, 1, rank);
  from = w.op(OpId::minimum, {w.op(OpId::maximum, {from, w.number(0, DType::s64)}), w.ints(most)});
  Value* to = w.add(from, w.ints(sizes));
  if (!op.ok()) return;
  op.b.declare({ir::Type{x->type.dtype, ir::Dims(sizes.begin(), sizes.end()), 0}});
  Value* y = op.b.op(OpId::slice, ops::slice::Attrs{}, {x, from, to});
  op.b.declare({});
  op.set(y);
}

void import_stablehlo_dynamic_update_slice(Op& op) {
  Value *x = op.value(0), *update = op.value(1);
  Value* from = begins(op, 2, rank_of(x));
  if (op.ok()) op.set(op.b.op(OpId::update_slice, {x, update, from}));
}

// inputs: x, what each sum starts from.
void import_stablehlo_reduce(Op& op) {
  const auto* o = op.source.table->builtin_options2_as_StablehloReduceOptions();
  if (o == nullptr) return op.fail("the options are missing");
  if (op.inputs() != 2 || op.outputs() != 1) return op.fail("reductions of several tensors at once are not supported");
  const Combiner c = combiner_of(op, o->body_subgraph_index());
  const Int64s axes = list_of(o->dimensions());
  Value *x = op.value(0), *init = op.value(1);
  if (!is_plain(op) || !are_axes(op, axes, rank_of(x), "the dimensions")) return;
  const bool truth = dtype_of_value(x) == DType::boolean;
  OpId reduction = OpId::kNone;
  switch (c) {
    case Combiner::kAdd: reduction = OpId::reduce_sum; break;
    case Combiner::kMul: reduction = OpId::reduce_prod; break;
    case Combiner::kMin: reduction = OpId::reduce_min; break;
    case Combiner::kMax: reduction = OpId::reduce_max; break;
    case Combiner::kAnd: reduction = truth ? OpId::reduce_all : OpId::kNone; break;
    case Combiner::kOr: reduction = truth ? OpId::reduce_any : OpId::kNone; break;
    default: break;
  }
  if (reduction == OpId::kNone) return op.fail("the body must be one sum, product, minimum or maximum, or one of truth values");
  Words w(op.b);
  op.set(w.op(combiner_op(c, dtype_of_value(x)), {w.reshape(init, {}), w.reduce(reduction, x, axes, false)}));
}

// Batch dimensions, then the other axes of the first input, then those of the second: as an einsum.
void import_stablehlo_dot_general(Op& op) {
  const auto* o = op.source.table->builtin_options2_as_StablehloDotGeneralOptions();
  if (o == nullptr) return op.fail("the options are missing");
  const Int64s batch[2] = {list_of(o->lhs_batching_dimensions()), list_of(o->rhs_batching_dimensions())},
               sum[2] = {list_of(o->lhs_contracting_dimensions()), list_of(o->rhs_contracting_dimensions())};
  if (batch[0].size() != batch[1].size() || sum[0].size() != sum[1].size())
    return op.fail("expected as many batch and summed dimensions of both inputs");
  std::string labels[2], left[2], shared;
  char next = 'a';
  for (size_t i = 0; i < 2; ++i) {
    Int64s used = batch[i];
    used.insert(used.end(), sum[i].begin(), sum[i].end());
    const int rank = rank_of(op.value(static_cast<uint32_t>(i)));
    if (!is_plain(op) || !are_axes(op, used, rank, "batch and summed dimensions")) return;
    labels[i].assign(static_cast<size_t>(rank), ' ');
    for (size_t k = 0; k < used.size(); ++k) labels[i][static_cast<size_t>(used[k])] = static_cast<char>('A' + k);
    for (char& label : labels[i])
      if (label == ' ') left[i] += label = next++;
  }
  for (size_t k = 0; k < batch[0].size(); ++k) shared += static_cast<char>('A' + k);
  Words w(op.b);
  op.set(einsum(w, labels[0] + "," + labels[1] + "->" + shared + left[0] + left[1], {op.value(0), op.value(1)}));
}

}  // namespace mote::frontends::tflite
