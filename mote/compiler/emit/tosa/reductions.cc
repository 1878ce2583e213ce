// Reductions, softmax and norms.

#include <algorithm>

#include "mote/compiler/emit/tosa/floats.h"
#include "mote/compiler/ir/infer.h"
#include "mote/ops/common/arg_reduce.h"
#include "mote/ops/common/reduce.h"
#include "mote/ops/instance_norm/instance_norm.h"
#include "mote/ops/layer_norm/layer_norm.h"
#include "mote/ops/lp_norm/lp_norm.h"
#include "mote/ops/reduce_var/reduce_var.h"
#include "mote/ops/rms_norm/rms_norm.h"
#include "mote/ops/softmax/softmax.h"

namespace mote::emit::tosa {

Operand reduce(Writer& w, const Operand& x, OpId id, int axis) {
  if (x.dims.empty()) return x;  // a scalar is the reduction of itself
  Dims dims = x.dims;
  dims[static_cast<size_t>(axis)] = 1;
  const auto propagate = fb::NanPropagationMode::PROPAGATE;
  const auto one = [&](fb::Op code, fb::Attribute kind, flatbuffers::Offset<void> a) { return w.op(code, kind, a, {x}, x.type, dims); };
  switch (id) {
    case OpId::reduce_sum:
      return one(fb::Op::REDUCE_SUM, fb::Attribute::ReduceSumAttribute, fb::CreateReduceSumAttribute(w.b, axis).Union());
    case OpId::reduce_prod:
      return one(fb::Op::REDUCE_PRODUCT, fb::Attribute::ReduceProductAttribute, fb::CreateReduceProductAttribute(w.b, axis).Union());
    case OpId::reduce_max:
      return one(fb::Op::REDUCE_MAX, fb::Attribute::ReduceMaxAttribute, fb::CreateReduceMaxAttribute(w.b, axis, propagate).Union());
    case OpId::reduce_min:
      return one(fb::Op::REDUCE_MIN, fb::Attribute::ReduceMinAttribute, fb::CreateReduceMinAttribute(w.b, axis, propagate).Union());
    case OpId::reduce_all:
      return one(fb::Op::REDUCE_ALL, fb::Attribute::ReduceAllAttribute, fb::CreateReduceAllAttribute(w.b, axis).Union());
    default: return one(fb::Op::REDUCE_ANY, fb::Attribute::ReduceAnyAttribute, fb::CreateReduceAnyAttribute(w.b, axis).Union());
  }
}

namespace {

// What is done to the elements before they are summed, or to the sum: reductions that TOSA does not have.
enum class Kind { kPlain, kMean, kL1, kL2, kSquares, kLogSum, kVariance };
bool kind_of(const Node& n, OpId* id, Kind* kind) {
  *id = OpId::reduce_sum;
  switch (static_cast<OpId>(n.op)) {
    case OpId::reduce_sum:
    case OpId::reduce_prod:
    case OpId::reduce_max:
    case OpId::reduce_min:
    case OpId::reduce_all:
    case OpId::reduce_any: *id = static_cast<OpId>(n.op), *kind = Kind::kPlain; return true;
    case OpId::reduce_mean: *kind = Kind::kMean; return true;
    case OpId::reduce_l1: *kind = Kind::kL1; return true;
    case OpId::reduce_l2: *kind = Kind::kL2; return true;
    case OpId::reduce_sum_square: *kind = Kind::kSquares; return true;
    case OpId::reduce_log_sum_exp: *kind = Kind::kLogSum; return true;
    case OpId::reduce_var: *kind = Kind::kVariance; return true;
    default: return false;
  }
}

// The axes of a reduction, from 0 up; all when none is named.
std::vector<int> axes_of(Writer& w, const Node& n, const ops::ReduceAttrs& a) {
  const int rank = n.inputs[0]->type.rank();
  std::vector<int64_t> given(a.axes, a.axes + std::clamp(a.axis_count, 0, 8));
  if (n.input(1) != nullptr && !ir::known_ints(*n.inputs[1], &given)) w.fail("axes must be known when compiling");
  std::vector<int> axes;
  for (int i = 0; given.empty() && i < rank; ++i) axes.push_back(i);
  for (const int64_t axis : given) {
    axes.push_back(static_cast<int>(axis < 0 ? axis + rank : axis));
    if (axes.back() < 0 || axes.back() >= rank) w.fail("axis " + std::to_string(axis) + " is outside of the tensor");
  }
  return axes;
}

Operand along(Writer& w, Operand x, OpId id, const std::vector<int>& axes) {
  for (const int axis : axes) x = reduce(w, x, id, axis);
  return x;
}

double count_of(const Dims& d, const std::vector<int>& axes) {
  double count = 1;
  for (const int axis : axes) count *= d[static_cast<size_t>(axis)];
  return count;
}

Operand reduction(Writer& w, const Node& n, OpId id, Kind kind) {
  const auto a = n.attributes<ops::ReduceAttrs>();
  Operand x = w.of(n.inputs[0]);
  const bool logical = id == OpId::reduce_all || id == OpId::reduce_any;
  const std::vector<int> axes = axes_of(w, n, a);
  if (x.type == fb::DType::INT48 || is_unsigned(n.inputs[0]->type.dtype) || (id == OpId::reduce_sum && narrow(x.type)) ||
      ((id == OpId::reduce_prod || kind != Kind::kPlain) && !is_float(x.type)) || logical != (x.type == fb::DType::BOOL))
    w.fail("TOSA has no such reduction of this type");
  if (!w.ok()) return {};
  Floats f(w, x);
  const double count = count_of(x.dims, axes);
  const Dims& out = n.outputs[0]->type.dims;
  switch (kind) {
    case Kind::kPlain: return w.reshape(along(w, x, id, axes), out);
    case Kind::kMean: return w.reshape(f.mul(along(w, x, id, axes), 1 / count), out);
    case Kind::kL1: return w.reshape(along(w, f.abs(x), id, axes), out);
    case Kind::kSquares: return w.reshape(along(w, f.mul(x, x), id, axes), out);
    case Kind::kL2: return w.reshape(f.sqrt(along(w, f.mul(x, x), id, axes)), out);
    case Kind::kLogSum: {
      const Operand most = along(w, x, OpId::reduce_max, axes);
      return w.reshape(f.add(f.log(along(w, f.exp(f.sub(x, most)), id, axes)), most), out);
    }
    case Kind::kVariance: break;
  }
  const auto variance = n.attributes<ops::reduce_var::Attrs>();
  const double divisor = count - static_cast<double>(variance.correction);
  if (divisor <= 0) w.fail("a variance of so few elements is no number");
  x = f.sub(x, f.mul(along(w, x, id, axes), 1 / count));
  x = f.mul(along(w, f.mul(x, x), id, axes), 1 / divisor);
  return w.reshape(variance.root != 0 ? f.sqrt(x) : x, out);
}

Operand arg_max(Writer& w, const Node& n) {
  const auto a = n.attributes<ops::ArgAttrs>();
  const Operand x = w.signed_of(n.inputs[0]);
  const int rank = n.inputs[0]->type.rank(), axis = a.axis < 0 ? a.axis + rank : a.axis;
  if (a.select_last != 0 || a.flat != 0 || axis < 0 || axis >= rank) w.fail("TOSA takes the first of the largest elements along an axis");
  if (x.type == fb::DType::INT32 || x.type == fb::DType::INT48 || x.type == fb::DType::BOOL)
    w.fail("TOSA has ARGMAX of floats, INT8 and INT16");
  if (!w.ok()) return {};
  Dims dims = x.dims;
  dims.erase(dims.begin() + axis);
  const auto kind = fb::CreateArgMaxAttribute(w.b, axis, fb::NanPropagationMode::PROPAGATE).Union();
  const Operand y = w.op(fb::Op::ARGMAX, fb::Attribute::ArgMaxAttribute, kind, {x}, fb::DType::INT32, dims);
  return w.reshape(y, n.outputs[0]->type.dims);
}

// Of softmax and log_softmax.
Operand softmax(Writer& w, const Node& n) {
  const Operand x = w.of(n.inputs[0]);
  const int rank = n.inputs[0]->type.rank(), given = n.attributes<ops::softmax::Attrs>().axis, axis = given < 0 ? given + rank : given;
  if (!w.ok()) return {};
  Floats f(w, x);
  const Operand less = f.sub(x, reduce(w, x, OpId::reduce_max, axis)), e = f.exp(less), sum = reduce(w, e, OpId::reduce_sum, axis);
  return n.is(OpId::log_softmax) ? f.sub(less, f.log(sum)) : f.mul(e, f.reciprocal(sum));
}

// (x - mean) / deviation * scale + bias over some axes; without `centre` the mean is taken as 0.
Operand normalize(Writer& w, const Node& n, const std::vector<int>& axes, bool centre, double epsilon) {
  Operand x = w.of(n.inputs[0]);
  for (size_t i = 1; i < n.outputs.size(); ++i)
    if (n.outputs[i] != nullptr && !n.outputs[i]->unused()) w.fail("the statistics of a norm are no results in TOSA");
  if (!w.ok()) return {};
  const Operand given = x;
  x = w.cast(x, fb::DType::FP32);
  Floats f(w, x);
  const double count = count_of(x.dims, axes);
  if (centre) x = f.sub(x, f.mul(along(w, x, OpId::reduce_sum, axes), 1 / count));
  const Operand variance = f.mul(along(w, f.mul(x, x), OpId::reduce_sum, axes), 1 / count);
  x = f.mul(x, f.one(fb::Op::RSQRT, f.add(variance, epsilon)));
  const auto operand = [&](size_t i) { return w.cast(w.of(n.inputs[i], f.rank), fb::DType::FP32); };
  if (n.input(1) != nullptr) x = f.mul(x, operand(1));
  if (n.input(2) != nullptr) x = f.add(x, operand(2));
  return w.cast(x, given.type);
}

std::vector<int> from_axis(int axis, int rank) {
  std::vector<int> axes;
  for (int i = std::max(0, axis < 0 ? axis + rank : axis); i < rank; ++i) axes.push_back(i);
  return axes;
}

Operand norm(Writer& w, const Node& n) {
  const int rank = n.inputs[0]->type.rank();
  if (n.is(OpId::layer_norm)) {
    const auto a = n.attributes<ops::layer_norm::Attrs>();
    return normalize(w, n, from_axis(a.axis, rank), true, static_cast<double>(a.epsilon));
  }
  if (n.is(OpId::rms_norm)) {
    const auto a = n.attributes<ops::rms_norm::Attrs>();
    return normalize(w, n, from_axis(a.axis, rank), false, static_cast<double>(a.epsilon));
  }
  std::vector<int> spatial = from_axis(1, rank);
  if (!spatial.empty()) spatial.pop_back();
  return normalize(w, n, spatial, true, static_cast<double>(n.attributes<ops::instance_norm::Attrs>().epsilon));
}

Operand lp_norm(Writer& w, const Node& n) {
  const auto a = n.attributes<ops::lp_norm::Attrs>();
  const Operand x = w.of(n.inputs[0]);
  if (a.p != 1.0f && a.p != 2.0f) w.fail("norms of this power have no form in TOSA");
  if (!w.ok()) return {};
  Floats f(w, x);
  const double epsilon = static_cast<double>(a.epsilon);
  const int axis = a.axis < 0 ? a.axis + f.rank : a.axis;
  Operand sum = reduce(w, a.p == 1.0f ? f.abs(x) : f.mul(x, x), OpId::reduce_sum, axis);
  if (a.epsilon_mode == 1) sum = f.most(sum, epsilon);
  if (a.epsilon_mode == 2) sum = f.add(sum, epsilon);
  if (a.p == 2.0f) sum = f.sqrt(sum);
  if (a.epsilon_mode == 0 && epsilon > 0) sum = f.most(sum, epsilon);
  return f.mul(x, f.reciprocal(sum));
}

}  // namespace

bool lower_reductions(Writer& w, const Node& n) {
  Operand y;
  OpId id;
  Kind kind;
  if (kind_of(n, &id, &kind)) y = reduction(w, n, id, kind);
  else if (n.is(OpId::arg_max)) y = arg_max(w, n);
  else if (n.is(OpId::softmax) || n.is(OpId::log_softmax)) y = softmax(w, n);
  else if (n.is(OpId::layer_norm) || n.is(OpId::rms_norm) || n.is(OpId::instance_norm)) y = norm(w, n);
  else if (n.is(OpId::lp_norm)) y = lp_norm(w, n);
  else return false;
  if (w.ok()) w.bind(n.outputs[0], y);
  return true;
}

}  // namespace mote::emit::tosa
