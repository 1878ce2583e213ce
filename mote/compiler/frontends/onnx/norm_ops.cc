#include <algorithm>

#include "mote/compiler/frontends/onnx/decompose.h"
#include "mote/ops/batch_norm/batch_norm.h"
#include "mote/ops/group_norm/group_norm.h"
#include "mote/ops/instance_norm/instance_norm.h"
#include "mote/ops/layer_norm/layer_norm.h"
#include "mote/ops/local_response_norm/local_response_norm.h"
#include "mote/ops/lp_norm/lp_norm.h"
#include "mote/ops/mean_variance_norm/mean_variance_norm.h"
#include "mote/ops/rms_norm/rms_norm.h"

namespace mote::frontends::onnx {
namespace {

// (x - mean) / sqrt(variance + epsilon) * scale + bias, all of them broadcasting.
Value* normalise(Decompose& d, Value* x, Value* mean, Value* variance, Value* scale, Value* bias, float epsilon) {
  Value* unit = d.div(d.sub(x, mean), d.sqrt(d.add(variance, static_cast<double>(epsilon))));
  return d.add(d.mul(unit, scale), bias);
}

// (C) so that it broadcasts to (N, C, spatial...).
Value* per_channel(Decompose& d, Value* v, int rank) {
  std::vector<int64_t> axes{0};
  for (int i = 2; i < rank; ++i) axes.push_back(i);
  return rank_of(v) == 1 && rank > 1 ? d.unsqueeze(v, axes) : v;
}

// Statistics come from the batch itself; the running ones are moved towards them.
void train_batch_norm(NodeContext& c, Value* x, const std::vector<Value*>& p, float epsilon) {
  Decompose d(c);
  const int rank = rank_of(x);
  std::vector<int64_t> axes;
  for (int i = 0; i < rank; ++i)
    if (i != 1) axes.push_back(i);
  Value* mean = d.reduce(OpId::reduce_mean, x, axes);
  Value* variance = d.reduce(OpId::reduce_mean, d.op(OpId::squared_difference, {x, mean}), axes);
  c.out(0, normalise(d, x, mean, variance, per_channel(d, p[0], rank), per_channel(d, p[1], rank), epsilon));
  const double momentum = static_cast<double>(c.attr_float("momentum", 0.9f));
  const auto blend = [&](Value* running, Value* current) {
    return d.add(d.mul(running, momentum), d.mul(d.squeeze(current, axes), 1 - momentum));
  };
  if (c.wants(1)) c.out(1, d.cast(blend(p[2], mean), dtype_of_value(c.in(3))));
  if (c.wants(2)) c.out(2, d.cast(blend(p[3], variance), dtype_of_value(c.in(4))));
  if (c.wants(3) || c.wants(4))
    c.fail("outputs saved_mean and saved_var, which serve training alone, are not supported", "export the model for inference");
}

void import_batch_norm(NodeContext& c) {
  Decompose d(c);
  Value* x = c.in(0);
  const int rank = rank_of(x);
  const float epsilon = c.attr_float("epsilon", 1e-5f);
  std::vector<Value*> p;
  for (int i = 1; i < 5; ++i) p.push_back(d.cast(c.in(i), dtype_of_value(x)));
  const bool training = c.opset >= 14
                            ? c.attr_int("training_mode", 0) != 0
                            : c.wants(1) || c.wants(2) || c.wants(3) || c.wants(4) || (c.opset < 7 && c.attr_int("is_test", 0) == 0);
  if (training) return train_batch_norm(c, x, p, epsilon);
  if (c.opset < 9 && c.attr_int("spatial", 1) == 0) return c.out(0, normalise(d, x, p[2], p[3], p[0], p[1], epsilon));
  ops::batch_norm::Attrs a;
  a.axis = rank > 1 ? -1 : 0;
  a.epsilon = epsilon;
  Value* last = d.channels_last(x);
  if (c.b.ok()) c.out(0, d.channels_first(c.b.op(OpId::batch_norm, a, {last, p[0], p[1], p[2], p[3]})));
}

void import_instance_norm(NodeContext& c) {
  Decompose d(c);
  ops::instance_norm::Attrs a;
  a.epsilon = c.attr_float("epsilon", 1e-5f);
  Value* x = d.channels_last(c.in(0));
  if (c.b.ok()) c.out(0, d.channels_first(c.b.op(OpId::instance_norm, a, {x, c.in(1), c.in(2)})));
}

// Before opset 21 scale and bias are per group: each group's is repeated for its channels.
Value* group_to_channels(Decompose& d, Value* v, int64_t groups, int64_t channels) {
  if (dims_of(v) != ir::Dims{static_cast<int32_t>(groups)} || groups == channels || groups < 1) return v;
  return d.reshape(d.expand(d.unsqueeze(v, {1}), {groups, channels / groups}), {channels});
}

void import_group_norm(NodeContext& c) {
  Decompose d(c);
  const int64_t groups = c.attr_int("num_groups", 1);
  if (rank_of(c.in(0)) < 2) return c.fail("expected an input of rank 2 or more, found " + std::to_string(rank_of(c.in(0))));
  const int64_t channels = dims_of(c.in(0))[1];
  ops::group_norm::Attrs a;
  a.groups = static_cast<int32_t>(std::clamp<int64_t>(groups, 0, INT32_MAX));
  a.epsilon = c.attr_float("epsilon", 1e-5f);
  Value *scale = c.in(1), *bias = c.in(2);
  if (c.opset < 21) {
    scale = group_to_channels(d, scale, groups, channels);
    bias = group_to_channels(d, bias, groups, channels);
  }
  Value* x = d.channels_last(c.in(0));
  if (c.b.ok()) c.out(0, d.channels_first(c.b.op(OpId::group_norm, a, {x, scale, bias})));
}

void import_layer_norm(NodeContext& c) {
  ops::layer_norm::Attrs a;
  a.axis = axis_of(c, c.attr_int("axis", -1), rank_of(c.in(0)));
  a.epsilon = c.attr_float("epsilon", 1e-5f);
  if (!c.b.ok()) return;
  const size_t outputs = c.wants(2) ? 3 : c.wants(1) ? 2 : 1;
  const std::vector<Value*> in{c.in(0), c.in(1), c.in(2)};
  const std::vector<Value*> y = c.b.ops(OpId::layer_norm, a, {in.begin(), in.end() - (c.in(2) == nullptr ? 1 : 0)}, outputs);
  for (size_t i = 0; i < y.size(); ++i) c.out(static_cast<int>(i), y[i]);
}

void import_rms_norm(NodeContext& c) {
  Decompose d(c);
  ops::rms_norm::Attrs a;
  a.axis = axis_of(c, c.attr_int("axis", -1), rank_of(c.in(0)));
  a.epsilon = c.attr_float("epsilon", 1e-5f);
  Value* scale = d.cast(c.in(1), dtype_of_value(c.in(0)));
  if (c.b.ok()) c.out(0, c.b.op(OpId::rms_norm, a, {c.in(0), scale}));
}

void import_lrn(NodeContext& c) {
  Decompose d(c);
  ops::local_response_norm::Attrs a;
  a.size = static_cast<int32_t>(std::clamp<int64_t>(c.attr_int("size", 1), 0, INT32_MAX));
  a.alpha = c.attr_float("alpha", 1e-4f);
  a.beta = c.attr_float("beta", 0.75f);
  a.bias = c.attr_float("bias", 1);
  Value* x = d.channels_last(c.in(0));
  if (c.b.ok()) c.out(0, d.channels_first(c.b.op(OpId::local_response_norm, a, {x})));
}

void import_lp_norm(NodeContext& c) {
  ops::lp_norm::Attrs a;
  a.axis = axis_of(c, c.attr_int("axis", -1), rank_of(c.in(0)));
  a.p = static_cast<float>(c.attr_int("p", 2));
  if (c.b.ok()) c.out(0, c.b.op(OpId::lp_norm, a, {c.in(0)}));
}

void import_mvn(NodeContext& c) {
  const std::vector<int64_t> axes = c.attr_ints("axes", {0, 2, 3});
  ops::mean_variance_norm::Attrs a;
  if (axes.size() > 8) return c.fail("axes: expected at most 8, found " + std::to_string(axes.size()));
  a.axis_count = static_cast<int32_t>(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) a.axes[i] = axis_of(c, axes[i], rank_of(c.in(0)));
  if (c.b.ok()) c.out(0, c.b.op(OpId::mean_variance_norm, a, {c.in(0)}));
}

// Before opset 9, over images.
void import_old_mvn(NodeContext& c) {
  const bool across = c.attr_int("across_channels", 0) != 0;
  const std::vector<int64_t> axes = across ? std::vector<int64_t>{0, 1, 2, 3} : std::vector<int64_t>{0, 2, 3};
  if (rank_of(c.in(0)) != 4) return c.fail("expected an input of rank 4 (N, C, H, W), found rank " + std::to_string(rank_of(c.in(0))));
  Decompose d(c);
  if (c.attr_int("normalize_variance", 1) == 0) return c.out(0, d.sub(c.in(0), d.reduce(OpId::reduce_mean, c.in(0), axes)));
  ops::mean_variance_norm::Attrs a;
  for (const int64_t axis : axes) a.axes[a.axis_count++] = static_cast<int32_t>(axis);
  c.out(0, c.b.op(OpId::mean_variance_norm, a, {c.in(0)}));
}

}  // namespace

void add_norm_ops(OpTable& t);
void add_norm_ops(OpTable& t) {
  t["BatchNormalization"] = {{"BatchNormalization", &import_batch_norm, 1, 5}};
  t["InstanceNormalization"] = {{"InstanceNormalization", &import_instance_norm, 1, 3}};
  t["GroupNormalization"] = {{"GroupNormalization", &import_group_norm, 18, 3}};
  t["LayerNormalization"] = {{"LayerNormalization", &import_layer_norm, 1, 2}};  // exporters wrote it before opset 17 too
  t["RMSNormalization"] = {{"RMSNormalization", &import_rms_norm, 23, 2}};
  t["LRN"] = {{"LRN", &import_lrn}};
  t["LpNormalization"] = {{"LpNormalization", &import_lp_norm}};
  t["MeanVarianceNormalization"] = {{"MeanVarianceNormalization", &import_old_mvn}, {"MeanVarianceNormalization", &import_mvn, 9}};
}

}  // namespace mote::frontends::onnx
