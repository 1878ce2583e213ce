#include "mote/compiler/passes/linear.h"

#include <algorithm>
#include <cstring>

#include "mote/compiler/ir/infer.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/conv_transpose/conv_transpose.h"
#include "mote/ops/matmul/matmul.h"

namespace mote::passes {
namespace {

// Calls f with the attributes, and keeps what it changes.
template <class N, class F>
void with_attributes(N& n, const F& f) {
  const auto apply = [&](auto a) {
    f(a);
    if constexpr (!std::is_const_v<N>) n.set_attributes(a);
  };
  if (n.is(OpId::conv)) apply(n.template attributes<ops::conv::Attrs>());
  else if (n.is(OpId::conv_transpose)) apply(n.template attributes<ops::conv_transpose::Attrs>());
  else if (n.is(OpId::matmul)) apply(n.template attributes<ops::matmul::Attrs>());
}

// Element i of the weights belongs to channel (i / inner) % count.
struct ChannelStep {
  int64_t inner = 1, count = 1;
};
ChannelStep channel_step(const Node& n) {
  const Type& w = n.inputs[kWeights]->type;
  const bool rows_first = !n.is(OpId::matmul) || n.attributes<ops::matmul::Attrs>().transpose_b == 1;
  if (!n.is(OpId::matmul)) return {w.count() / std::max<int64_t>(1, w.dims[0]), w.dims[0]};
  const int32_t k = w.dims[static_cast<size_t>(w.rank() - 1)];
  return rows_first ? ChannelStep{k, w.dims[static_cast<size_t>(w.rank() - 2)]} : ChannelStep{1, k};
}

template <class T>
ir::Bytes scale(const ir::Bytes& data, const std::vector<double>& factors, const ChannelStep& step) {
  std::vector<uint8_t> out(data.size);
  for (size_t i = 0; i < data.size / sizeof(T); ++i) {
    T v;
    std::memcpy(&v, data.data + i * sizeof(T), sizeof v);
    v = static_cast<T>(static_cast<double>(v) * factors[i / static_cast<size_t>(step.inner) % static_cast<size_t>(step.count)]);
    std::memcpy(out.data() + i * sizeof(T), &v, sizeof v);
  }
  return ir::Bytes::own(std::move(out));
}

}  // namespace

Node* linear_for(const Value* v, const Node& user) {
  for (const OpId id : {OpId::conv, OpId::conv_transpose, OpId::matmul})
    if (Node* n = absorbable(v, id, user)) return is_float(*v) ? n : nullptr;
  return nullptr;
}

Activation activation_of(const Node& linear) {
  Activation out;
  with_attributes(linear, [&](const auto& a) { out = {a.activation, a.act_a, a.act_b}; });
  return out;
}

void set_activation(Node& linear, const Activation& activation) {
  with_attributes(linear, [&](auto& a) {
    a.activation = activation.kind;
    a.act_a = activation.a;
    a.act_b = activation.b;
  });
}

int32_t channels_of(const Node& n) { return static_cast<int32_t>(channel_step(n).count); }

std::vector<double> per_channel(const Value* constant, const Type& type) {
  if (constant == nullptr || type.rank() == 0) return {};
  const int32_t channels = type.dims.back();
  const Type& c = constant->type;
  if (c.count() != 1 && (c.rank() > type.rank() || c.count() != channels || c.dims.back() != channels)) return {};
  if (c.rank() > type.rank()) return {};
  std::vector<double> numbers = constant_numbers(constant);
  if (numbers.size() == 1) numbers.assign(static_cast<size_t>(channels), numbers[0]);
  return numbers;
}

Value* scaled_weights(Graph& graph, const Node& linear, const std::vector<double>& factors) {
  const Value* w = linear.input(kWeights);
  if (w == nullptr || !w->is_constant() || w->layout != Layout::kPlain || linear.input(kScales) != nullptr) return nullptr;
  // Weights that many share stay one.
  if (w->users.size() > 4 && w->data.size > 4096) return nullptr;
  const ChannelStep step = channel_step(linear);
  if (static_cast<int64_t>(factors.size()) != step.count) return nullptr;
  ir::Bytes data;
  switch (w->type.dtype) {
    case DType::f32: data = scale<float>(w->data, factors, step); break;
    case DType::f64: data = scale<double>(w->data, factors, step); break;
    case DType::f16: data = scale<f16>(w->data, factors, step); break;
    case DType::bf16: data = scale<bf16>(w->data, factors, step); break;
    default: return nullptr;
  }
  return graph.add_constant(w->type.dtype, w->type.dims, data, w->name);
}

std::vector<double> bias_of(const Node& linear) {
  const Value* b = linear.input(kBias);
  if (b == nullptr) return std::vector<double>(static_cast<size_t>(channels_of(linear)), 0.0);
  return per_channel(b, linear.outputs[0]->type);
}

Node* rebuilt(Graph& graph, const Node& linear, std::vector<Value*> inputs, Node& before) {
  while (!inputs.empty() && inputs.back() == nullptr) inputs.pop_back();
  Node* n = graph.add_node(*before.block, linear.op, linear.attrs.data(), linear.attrs.size(), inputs, 1,
                           joined_name(linear.name, before.name), &before);
  std::string ignored;
  if (ir::infer(*n, &ignored) && n->outputs[0]->type == linear.outputs[0]->type) return n;
  graph.erase(n);
  return nullptr;
}

}  // namespace mote::passes
