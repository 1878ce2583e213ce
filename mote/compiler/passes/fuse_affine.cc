// What scales or shifts the channels of a convolution or matrix product goes into its weights and bias: batch norm, multiplication and
// addition of constants.

#include <cmath>

#include "mote/compiler/passes/linear.h"
#include "mote/ops/batch_norm/batch_norm.h"
#include "mote/ops/matmul/matmul.h"

namespace mote::passes {
namespace {

// y * factors + offsets after a linear node becomes part of it.
bool absorb(Graph& graph, Node& n, Node& linear, const std::vector<double>& factors, const std::vector<double>& offsets) {
  std::vector<double> bias = bias_of(linear);
  const Value* y = linear.outputs[0];
  const size_t channels = static_cast<size_t>(channels_of(linear));
  if (activation_of(linear).kind != 0 || linear.input(kResidual) != nullptr || !reads_no_state(linear)) return false;
  if ((y->type.dynamic >> (y->type.rank() - 1) & 1) != 0) return false;  // one for each channel would fit the largest size alone
  if (bias.size() != channels || factors.size() != channels || offsets.size() != channels) return false;
  bool scales = false, shifts = linear.input(kBias) != nullptr;
  for (size_t i = 0; i < channels; ++i) {
    if (!std::isfinite(factors[i])) return false;
    scales |= factors[i] != 1;
    shifts |= offsets[i] != 0;
    bias[i] = bias[i] * factors[i] + offsets[i];
  }
  std::vector<Value*> inputs = linear.inputs;
  inputs.resize(std::max<size_t>(inputs.size(), kBias + 1));
  if (scales && (inputs[kWeights] = scaled_weights(graph, linear, factors)) == nullptr) return false;
  if (shifts) {
    const std::string name = linear.input(kBias) != nullptr ? linear.inputs[kBias]->name : "";
    inputs[kBias] = float_constant(graph, y->type.dtype, {static_cast<int32_t>(channels)}, bias, name);
  }
  Node* made = rebuilt(graph, linear, inputs, n);
  return made != nullptr && replace_by(graph, n, made->outputs[0]);
}

bool batch_norm(Graph& graph, Node& n) {
  Node* linear = n.is(OpId::batch_norm) ? linear_for(n.inputs[0], n) : nullptr;
  if (linear == nullptr) return false;
  const auto a = n.attributes<ops::batch_norm::Attrs>();
  const int rank = n.outputs[0]->type.rank();
  if (axis_of(a.axis, rank) != rank - 1) return false;
  std::vector<double> of[5];
  for (size_t i = 1; i < 5; ++i)
    if ((of[i] = constant_numbers(n.inputs[i])).empty()) return false;
  std::vector<double> factors(of[1].size()), offsets(of[1].size());
  for (size_t i = 0; i < factors.size(); ++i) {
    factors[i] = of[1][i] / std::sqrt(of[4][i] + static_cast<double>(a.epsilon));
    offsets[i] = of[2][i] - of[3][i] * factors[i];
  }
  return absorb(graph, n, *linear, factors, offsets);
}

// x * c, c * x, x / c, x + c, c + x, x - c.
bool constant_operand(Graph& graph, Node& n, const PassOptions& options) {
  const bool product = n.is(OpId::mul), quotient = n.is(OpId::div), sum = n.is(OpId::add), difference = n.is(OpId::sub);
  if (!product && !quotient && !sum && !difference) return false;
  for (size_t side = 0; side < (product || sum ? 2u : 1u); ++side) {
    Node* linear = linear_for(n.inputs[side], n);
    if (linear == nullptr || linear->outputs[0]->type != n.outputs[0]->type) continue;
    std::vector<double> c = per_channel(n.inputs[1 - side], n.outputs[0]->type);
    if (c.empty()) continue;
    if (options.exact && (product || quotient || linear->input(kBias) != nullptr)) return false;
    const size_t count = c.size();
    for (double& v : c) v = quotient ? 1 / v : difference ? -v : v;
    const bool scales = product || quotient;
    return absorb(graph, n, *linear, scales ? c : std::vector<double>(count, 1), scales ? std::vector<double>(count, 0) : c);
  }
  return false;
}

// A matrix product's bias may have any shape that broadcasts to the result.
bool matrix_bias(Graph& graph, Node& n) {
  if (!n.is(OpId::add)) return false;
  for (size_t side = 0; side < 2; ++side) {
    Node* linear = linear_for(n.inputs[side], n);
    Value* c = n.inputs[1 - side];
    if (linear == nullptr || !linear->is(OpId::matmul) || !c->is_constant() || linear->outputs[0]->type != n.outputs[0]->type) continue;
    if (linear->input(kBias) != nullptr || linear->input(kResidual) != nullptr || activation_of(*linear).kind != 0) continue;
    if (c->type.rank() > n.outputs[0]->type.rank() || !reads_no_state(*linear)) continue;
    std::vector<Value*> inputs = linear->inputs;
    inputs.resize(std::max<size_t>(inputs.size(), kBias + 1));
    inputs[kBias] = c;
    Node* made = rebuilt(graph, *linear, inputs, n);
    return made != nullptr && replace_by(graph, n, made->outputs[0]);
  }
  return false;
}

}  // namespace

bool fuse_batch_norm(Graph& graph, const PassOptions& options) {
  return !options.exact && each_node(graph, [&](Node& n) { return batch_norm(graph, n); });
}

bool fuse_bias(Graph& graph, const PassOptions& options) {
  return each_node(graph, [&](Node& n) { return constant_operand(graph, n, options) || matrix_bias(graph, n); });
}

}  // namespace mote::passes
