// A number that scales or shifts the input of a convolution or matrix product goes into its weights and bias. Shifts only where nothing is
// padded: padding stays zero.

#include <algorithm>
#include <cmath>

#include "mote/compiler/passes/expression.h"
#include "mote/compiler/passes/linear.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/matmul/matmul.h"

namespace mote::passes {
namespace {

bool pads(const Node& n) {
  if (!n.is(OpId::conv)) return n.is(OpId::conv_transpose);
  const auto a = n.attributes<ops::conv::Attrs>();
  return std::any_of(a.pads_begin, a.pads_begin + 3, [](int32_t p) { return p != 0; }) ||
         std::any_of(a.pads_end, a.pads_end + 3, [](int32_t p) { return p != 0; });
}

// The sum of each output channel's weights; empty when they are not plain constants with the channels first or last.
std::vector<double> channel_sums(const Node& n) {
  const std::vector<double> w = constant_numbers(n.inputs[kWeights]);
  const size_t channels = static_cast<size_t>(channels_of(n));
  if (w.empty() || (n.is(OpId::matmul) && n.inputs[kWeights]->type.rank() != 2)) return {};
  const bool last = n.is(OpId::matmul) && n.attributes<ops::matmul::Attrs>().transpose_b == 0;
  std::vector<double> sums(channels, 0.0);
  for (size_t i = 0; i < w.size(); ++i) sums[last ? i % channels : i / (w.size() / channels)] += w[i];
  return sums;
}

bool scaled_input(Graph& graph, Node& n, Node& at, double c, Value* x) {
  std::vector<Value*> inputs = n.inputs;
  inputs[0] = x;
  inputs[kWeights] = scaled_weights(graph, n, std::vector<double>(static_cast<size_t>(channels_of(n)), c));
  Node* made = inputs[kWeights] == nullptr ? nullptr : rebuilt(graph, n, inputs, n);
  if (made == nullptr) return false;
  made->name = joined_name(at.name, n.name);
  return replace_by(graph, n, made->outputs[0]);
}

bool shifted_input(Graph& graph, Node& n, Node& at, double c, Value* x) {
  std::vector<double> bias = bias_of(n);
  const std::vector<double> sums = pads(n) ? std::vector<double>{} : channel_sums(n);
  if (bias.empty() || sums.size() != bias.size()) return false;
  const double alpha = n.is(OpId::matmul) ? static_cast<double>(n.attributes<ops::matmul::Attrs>().alpha) : 1;
  for (size_t i = 0; i < bias.size(); ++i) bias[i] += alpha * c * sums[i];
  std::vector<Value*> inputs = n.inputs;
  inputs.resize(std::max<size_t>(inputs.size(), kBias + 1));
  inputs[0] = x;
  inputs[kBias] = float_constant(graph, x->type.dtype, {static_cast<int32_t>(bias.size())}, bias);
  Node* made = rebuilt(graph, n, inputs, n);
  if (made == nullptr) return false;
  made->name = joined_name(at.name, n.name);
  return replace_by(graph, n, made->outputs[0]);
}

bool absorb(Graph& graph, Node& n) {
  if (!is_linear(n) || !is_float(*n.outputs[0]) || n.input(kScales) != nullptr || !reads_no_state(n)) return false;
  Value* v = n.inputs[0];
  Node* at = v->producer;
  const Value* w = n.inputs[kWeights];
  if (at == nullptr || at->block != n.block || !v->has_one_use() || !w->is_constant() || w->users.size() != 1) return false;
  if (at->is(OpId::add) || at->is(OpId::sub)) {
    const std::optional<Shifted> s = shifted(v);
    return s && std::isfinite(s->c) && s->x->kind != ir::ValueKind::kState && shifted_input(graph, n, *at, s->c, s->x);
  }
  if (!at->is(OpId::mul) && !at->is(OpId::div)) return false;
  for (size_t side = 0; side < (at->is(OpId::mul) ? 2u : 1u); ++side) {
    const Value* c = at->inputs[1 - side];
    Value* x = at->inputs[side];
    const std::optional<double> number = c->is_constant() && is_scalar(*c) ? splat(c) : std::nullopt;
    if (!number || *number == 0 || !std::isfinite(*number) || x->type != v->type || x->kind == ir::ValueKind::kState) continue;
    return scaled_input(graph, n, *at, at->is(OpId::mul) ? *number : 1 / *number, x);
  }
  return false;
}

}  // namespace

bool fuse_input_affine(Graph& graph, const PassOptions& options) {
  return !options.exact && each_node(graph, [&](Node& n) { return absorb(graph, n); });
}

}  // namespace mote::passes
