// Group norm as PyTorch exports it: (N, C, ...) reshaped to (N, groups, rest), instance norm, and back.

#include <algorithm>

#include "mote/compiler/passes/rewrite.h"
#include "mote/ops/group_norm/group_norm.h"
#include "mote/ops/instance_norm/instance_norm.h"

namespace mote::passes {
namespace {

// What a transpose that exchanges axes 1 and 2 of rank 3 reads; null when v is made otherwise.
Value* exchanged(const Value* v) {
  const Node* t = made_by(v, OpId::transpose);
  return t != nullptr && reads_no_state(*t) && permutation(*t) == Dims{0, 2, 1} ? t->inputs[0] : nullptr;
}

// A number for each group as one for each channel; nothing when all are `neutral`. False when they are not constant.
bool spread(Graph& graph, const Value* of_groups, int32_t groups, int32_t channels, double neutral, Value** out) {
  *out = nullptr;
  if (of_groups == nullptr) return true;
  const std::vector<double> c = constant_numbers(of_groups);
  if (c.size() != static_cast<size_t>(groups)) return false;
  if (std::all_of(c.begin(), c.end(), [&](double v) { return v == neutral; })) return true;
  std::vector<double> each;
  for (const double v : c) each.insert(each.end(), static_cast<size_t>(channels / groups), v);
  *out = float_constant(graph, of_groups->type.dtype, {channels}, each, of_groups->name);
  return true;
}

bool recognise_group_norm(Graph& graph, Node& n) {
  if (!n.is(OpId::reshape) || n.inputs.size() != 1) return false;
  const Node* norm = made_by(exchanged(n.inputs[0]), OpId::instance_norm);
  const Node* joined = norm == nullptr ? nullptr : made_by(exchanged(norm->inputs[0]), OpId::reshape);
  if (joined == nullptr || joined->inputs.size() != 1 || !reads_no_state(*norm)) return false;
  Value* x = joined->inputs[0];
  const Type &type = x->type, &grouped = joined->outputs[0]->type;
  const int rank = type.rank();
  // The batch must stay an axis of its own, known to be the same.
  const bool batch = rank >= 3 && type.dynamic == 0 && n.outputs[0]->type == type && grouped.rank() == 3 && grouped.dims[0] == type.dims[0];
  if (!batch || x->kind == ir::ValueKind::kState) return false;
  const int32_t groups = grouped.dims[1], channels = type.dims[1];
  Value *scale = nullptr, *bias = nullptr;
  if (groups < 1 || channels % groups != 0) return false;
  if (!spread(graph, norm->input(1), groups, channels, 1, &scale) || !spread(graph, norm->input(2), groups, channels, 0, &bias))
    return false;
  Dims last = {0};
  for (int i = 2; i < rank; ++i) last.push_back(i);
  last.push_back(1);
  ops::group_norm::Attrs a;
  a.groups = groups;
  a.epsilon = norm->attributes<ops::instance_norm::Attrs>().epsilon;
  NodeBuilder b(graph, *n.block, joined_name(joined_name(joined->name, norm->name), n.name), &n);
  std::vector<Value*> inputs = {b.transpose(x, last), scale, bias};
  while (inputs.back() == nullptr) inputs.pop_back();
  Value* y = b.op(OpId::group_norm, a, inputs);
  return replace_by(graph, n, y == nullptr ? nullptr : b.transpose(y, inverse(last)));
}

}  // namespace

bool group_norms(Graph& graph, const PassOptions& options) {
  return !options.exact && each_node(graph, [&](Node& n) { return recognise_group_norm(graph, n); });
}

}  // namespace mote::passes
