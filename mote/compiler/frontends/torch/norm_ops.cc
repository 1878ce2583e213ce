#include <algorithm>
#include <limits>

#include "mote/compiler/frontends/torch/op.h"
#include "mote/ops/batch_norm/batch_norm.h"
#include "mote/ops/group_norm/group_norm.h"
#include "mote/ops/layer_norm/layer_norm.h"
#include "mote/ops/rms_norm/rms_norm.h"

namespace mote::frontends::torch {
namespace {

float epsilon_of(Op& o, const char* name = "eps", double otherwise = 1e-5) { return static_cast<float>(o.real(name, otherwise)); }

// (C) so that it broadcasts to (N, C, spatial...).
Value* per_channel(Op& o, Value* v, int rank) {
  std::vector<int64_t> axes{0};
  for (int i = 2; i < rank; ++i) axes.push_back(i);
  return v == nullptr || rank < 2 ? v : o.unsqueeze(v, axes);
}

Value* channels(Op& o, Value* given, Value* x, double otherwise) {
  if (given != nullptr) return o.cast(given, dtype_of_value(x));
  return o.op(OpId::fill, {o.number(otherwise, dtype_of_value(x)), o.size_of(x, 1)});
}

Value* affine(Op& o, Value* unit, Value* weight, Value* bias, int rank) {
  if (weight != nullptr) unit = o.mul(unit, o.cast(per_channel(o, weight, rank), dtype_of_value(unit)));
  return bias == nullptr ? unit : o.add(unit, o.cast(per_channel(o, bias, rank), dtype_of_value(unit)));
}

void set_statistics(Op& o, Value* mean, Value* inverse) {
  if (o.wants(1)) o.out(1, o.cast(mean, o.out_type(1)));
  if (o.wants(2)) o.out(2, o.cast(inverse, o.out_type(2)));
}

// (x - mean) / sqrt(variance + epsilon) over some axes, in at least 32 bits, with what it divides by.
struct Normalised {
  Value *unit, *mean, *inverse, *variance;
};
Normalised normalise(Op& o, Value* x, const std::vector<int64_t>& axes, float epsilon) {
  const DType t = dtype_of_value(x);
  Value* wide = o.cast(x, t == DType::f64 ? t : DType::f32);
  Value* mean = o.reduce(OpId::reduce_mean, wide, axes);
  Value* variance = o.reduce(OpId::reduce_mean, o.op(OpId::squared_difference, {wide, mean}), axes);
  Value* inverse = o.op(OpId::rsqrt, {o.add(variance, static_cast<double>(epsilon))});
  return {o.mul(o.sub(wide, mean), inverse), mean, inverse, variance};
}

// The running statistics move towards those of the batch; the variance of n elements as that of a sample.
void set_running(Op& o, Value* x, Value* mean, Value* variance) {
  const double momentum = o.real("momentum", 0.1);
  Value* elements = o.div(o.cast(o.reduce(OpId::reduce_prod, o.shape_of(x), {0}, false), dtype_of_value(mean)),
                          o.cast(o.reshape(o.size_of(x, 1), {}), dtype_of_value(mean)));
  Value* sample = o.mul(variance, o.div(elements, o.add(elements, -1)));
  const auto blend = [&](size_t output, const char* running, Value* now) {
    Value* old = o.cast(o.in(running), dtype_of_value(now));
    if (o.wants(output)) o.out(output, o.cast(o.add(o.mul(old, 1 - momentum), o.mul(now, momentum)), o.out_type(output)));
  };
  blend(3, "running_mean", mean);
  blend(4, "running_var", sample);
}

// By the statistics of the batch itself.
void by_batch(Op& o, Value* x, Value* weight, Value* bias, float epsilon) {
  const int rank = rank_of(x);
  std::vector<int64_t> axes;
  for (int i = 0; i < rank; ++i)
    if (i != 1) axes.push_back(i);
  const Normalised n = normalise(o, x, axes, epsilon);
  o.out(0, o.cast(affine(o, n.unit, weight, bias, rank), dtype_of_value(x)));
  set_statistics(o, o.squeeze(n.mean, axes), o.squeeze(n.inverse, axes));
  if (o.wants(3) || o.wants(4)) set_running(o, x, o.squeeze(n.mean, axes), o.squeeze(n.variance, axes));
}

void import_batch_norm(Op& o) {
  Value *x = o.in("input"), *weight = o.tensor("weight"), *bias = o.tensor("bias");
  Value *mean = o.tensor("running_mean"), *variance = o.tensor("running_var");
  const float epsilon = epsilon_of(o);
  if (o.b.ok() && rank_of(x) == 1 && x->type.is_static() && x->type.count() == 0) return o.out(0, x);
  if (!o.b.ok() || rank_of(x) < 2) return o.refuse("expected a tensor (N, C, ...)");
  if (mean == nullptr || variance == nullptr || o.flag("training", false)) {
    const bool functional = o.node.target.find("functional") != std::string::npos;
    if (mean != nullptr && o.flag("training", false) && !functional)
      return o.refuse("batch norm in training mode changes its statistics", "export the model in evaluation mode: model.eval()");
    return by_batch(o, x, weight, bias, epsilon);
  }
  ops::batch_norm::Attrs a;
  a.axis = 1;
  a.epsilon = epsilon;
  Value *s = channels(o, weight, x, 1), *c = channels(o, bias, x, 0), *m = channels(o, mean, x, 0), *v = channels(o, variance, x, 1);
  if (o.b.ok()) o.out(0, o.b.op(OpId::batch_norm, a, {x, s, c, m, v}));
  // Outside of training torch gives these without elements.
  for (size_t i = 1; i < 3; ++i)
    if (o.wants(i)) o.out(i, o.fill(0, o.out_type(i), o.ints({0})));
  if (o.wants(3)) o.out(3, o.cast(mean, o.out_type(3)));
  if (o.wants(4)) o.out(4, o.cast(variance, o.out_type(4)));
}

void import_instance_norm(Op& o) {
  Value *x = o.in("input"), *weight = o.tensor("weight"), *bias = o.tensor("bias");
  const float epsilon = epsilon_of(o);
  if (!o.flag("use_input_stats", true)) return import_batch_norm(o);
  const int rank = rank_of(x);
  std::vector<int64_t> axes;
  for (int i = 2; i < rank; ++i) axes.push_back(i);
  o.out(o.cast(affine(o, normalise(o, x, axes, epsilon).unit, weight, bias, rank), dtype_of_value(x)));
}

void import_layer_norm(Op& o) {
  Value *x = o.in("input"), *weight = o.tensor("weight"), *bias = o.tensor("bias");
  const int count = o.node.find("normalized_shape") == nullptr ? 0 : static_cast<int>(o.node.find("normalized_shape")->items.size());
  ops::layer_norm::Attrs a;
  a.axis = rank_of(x) - count;
  a.epsilon = epsilon_of(o);
  const DType t = dtype_of_value(x);
  weight = weight == nullptr ? nullptr : o.cast(weight, t);
  bias = bias == nullptr ? nullptr : o.cast(bias, t);
  if (bias != nullptr && weight == nullptr) weight = o.fill(1, t, o.shape_of(bias));
  std::vector<Value*> in{x};
  if (weight != nullptr) in.push_back(weight);
  if (bias != nullptr) in.push_back(bias);
  const bool statistics = o.wants(1) || o.wants(2);
  if (!o.b.ok()) return;
  if (a.epsilon < 0) {  // which the operator does not take
    std::vector<int64_t> axes;
    for (int i = a.axis; i < rank_of(x); ++i) axes.push_back(i);
    const Normalised n = normalise(o, x, axes, a.epsilon);
    Value* y = weight == nullptr ? n.unit : o.mul(n.unit, o.cast(weight, dtype_of_value(n.unit)));
    if (bias != nullptr) y = o.add(y, o.cast(bias, dtype_of_value(n.unit)));
    set_statistics(o, n.mean, n.inverse);
    return o.out(0, o.cast(y, t));
  }
  const std::vector<Value*> y = o.b.ops(OpId::layer_norm, a, in, statistics ? 3 : 1);
  if (!y.empty()) o.out(0, y[0]);
  if (y.size() == 3) set_statistics(o, y[1], y[2]);
}

void import_rms_norm(Op& o) {
  Value *x = o.in("input"), *weight = o.tensor("weight");
  const int count = o.node.find("normalized_shape") == nullptr ? 0 : static_cast<int>(o.node.find("normalized_shape")->items.size());
  const DType t = dtype_of_value(x);
  ops::rms_norm::Attrs a;
  a.axis = rank_of(x) - count;
  const double smallest = t == DType::f64    ? std::numeric_limits<double>::epsilon()
                          : t == DType::f32  ? static_cast<double>(std::numeric_limits<float>::epsilon())
                          : t == DType::bf16 ? 0.0078125
                                             : 0.0009765625;
  a.epsilon = epsilon_of(o, "eps", smallest);
  if (!o.b.ok()) return;
  if (a.epsilon < 0 || o.wants(1)) {  // the operator takes none below 0, and does not tell what it divides by
    std::vector<int64_t> axes;
    for (int i = a.axis; i < rank_of(x); ++i) axes.push_back(i);
    Value* wide = o.cast(x, t == DType::f64 ? t : DType::f32);
    Value* square = o.reduce(OpId::reduce_mean, o.mul(wide, wide), axes);
    Value* inverse = o.op(OpId::rsqrt, {o.add(square, static_cast<double>(a.epsilon))});
    Value* y = o.mul(wide, inverse);
    if (weight != nullptr) y = o.mul(y, o.cast(weight, dtype_of_value(y)));
    if (o.wants(1)) o.out(1, o.cast(inverse, o.out_type(1)));
    return o.out(0, o.cast(y, t));
  }
  o.out(weight == nullptr ? o.b.op(OpId::rms_norm, a, {x}) : o.b.op(OpId::rms_norm, a, {x, o.cast(weight, t)}));
}

// Group by group, (N, groups, the rest), where the operator does not serve: it gives no statistics and takes no epsilon below 0.
Value* by_group(Op& o, Value* x, int64_t groups, float epsilon) {
  const std::vector<Size> sizes = o.sizes_of(x);
  const Normalised n = normalise(o, o.reshape_to(x, {sizes[0], Size{groups, nullptr}, Size{-1, nullptr}}), {2}, epsilon);
  set_statistics(o, o.squeeze(n.mean, {2}), o.squeeze(n.inverse, {2}));
  return o.reshape_to(n.unit, sizes);
}

void import_group_norm(Op& o) {
  Value *x = o.in("input"), *weight = o.tensor("weight"), *bias = o.tensor("bias");
  ops::group_norm::Attrs a;
  const int64_t groups = o.integer(o.has("group") ? "group" : "num_groups", 1);
  a.groups = static_cast<int32_t>(std::clamp<int64_t>(groups, 0, INT32_MAX));
  a.epsilon = epsilon_of(o);
  if (!o.b.ok() || rank_of(x) < 2) return o.refuse("expected a tensor (N, C, ...)");
  if (o.wants(1) || o.wants(2) || a.epsilon < 0) {
    Value* unit = by_group(o, x, groups, a.epsilon);
    return o.out(0, o.cast(affine(o, unit, weight, bias, rank_of(x)), dtype_of_value(x)));
  }
  Value *s = channels(o, weight, x, 1), *c = channels(o, bias, x, 0), *last = o.channels_last(x);
  if (o.b.ok()) o.out(0, o.channels_first(o.b.op(OpId::group_norm, a, {last, s, c})));
}

}  // namespace

void add_norm_ops(OpTable& t);
void add_norm_ops(OpTable& t) {
  add_lines(t, {
                   {"aten.batch_norm", "default", &import_batch_norm, kFloat},
                   {"aten.native_batch_norm", "default", &import_batch_norm, kFloat},
                   {"aten._native_batch_norm_legit", "default no_stats", &import_batch_norm, kFloat, "statistics are not changed"},
                   {"aten._native_batch_norm_legit_functional", "default", &import_batch_norm, kFloat},
                   {"aten._native_batch_norm_legit_no_training", "default", &import_batch_norm, kFloat},
                   {"aten._batch_norm_no_update", "default", &import_batch_norm, kFloat},
                   {"aten.instance_norm", "default", &import_instance_norm, kFloat},
                   {"aten.layer_norm", "default", &import_layer_norm, kFloat},
                   {"aten.native_layer_norm", "default", &import_layer_norm, kFloat},
                   {"aten.rms_norm", "default", &import_rms_norm, kFloat},
                   {"aten._fused_rms_norm", "default", &import_rms_norm, kFloat},
                   {"aten.group_norm", "default", &import_group_norm, kFloat},
                   {"aten.native_group_norm", "default", &import_group_norm, kFloat},
               });
}

}  // namespace mote::frontends::torch
