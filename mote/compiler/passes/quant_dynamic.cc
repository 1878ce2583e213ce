// Products of tensors quantized while running: the s32 sums of q_matmul or q_conv, cast to f32 and scaled, become its f32 result.

#include <cmath>

#include "mote/compiler/ir/infer.h"
#include "mote/compiler/passes/rewrite.h"
#include "mote/ops/common/quant_epilogue.h"
#include "mote/ops/q_conv/q_conv.h"
#include "mote/ops/q_matmul/q_matmul.h"

namespace mote::passes {
namespace {

// A factor of scales: constant numbers (one, or one for each channel) and at most one that is known only when running.
struct Factors {
  std::vector<double> known = {1};
  Value* open = nullptr;
};

bool read_factors(Value* v, int32_t channels, int depth, Factors* f) {
  if (v->is_constant()) {
    const std::vector<double> c = constant_numbers(v, 1 << 20);
    const bool fits = c.size() == 1 || (static_cast<int32_t>(c.size()) == channels && v->type.dims.back() == channels);
    if (!fits || v->type.dtype != DType::f32) return false;
    if (f->known.size() < c.size()) f->known.resize(c.size(), f->known[0]);
    for (size_t i = 0; i < f->known.size(); ++i)
      f->known[i] = static_cast<double>(static_cast<float>(f->known[i] * c[c.size() == 1 ? 0 : i]));
    return true;
  }
  if (const Node* m = made_by(v, OpId::mul); m != nullptr && depth > 0 && reads_no_state(*m))
    return read_factors(m->inputs[0], channels, depth - 1, f) && read_factors(m->inputs[1], channels, depth - 1, f);
  if (f->open != nullptr || !is_scalar(*v) || v->type.rank() > 1 || v->kind == ir::ValueKind::kState) return false;
  f->open = v;
  return true;
}

template <class A>
Value* rebuilt_quantized(Graph& graph, Node& at, const Node& product, const std::string& name, const std::vector<Value*>& inputs) {
  auto a = product.attributes<A>();
  a.to = static_cast<uint32_t>(DType::f32);
  NodeBuilder b(graph, *at.block, name, &at);
  return b.op(static_cast<OpId>(product.op), a, inputs);
}
Value* rebuilt_quantized(Graph& graph, Node& at, const Node& product, const std::string& name, const std::vector<Value*>& inputs) {
  if (product.is(OpId::q_matmul)) return rebuilt_quantized<ops::q_matmul::Attrs>(graph, at, product, name, inputs);
  return rebuilt_quantized<ops::q_conv::Attrs>(graph, at, product, name, inputs);
}

Node* product_for(const Value* v, const Node& user, DType type) {
  Node* n = absorbable(v, OpId::q_matmul, user);
  if (n == nullptr) n = absorbable(v, OpId::q_conv, user);
  return n != nullptr && v->type.dtype == type && reads_no_state(*n) ? n : nullptr;
}

// mul(cast(product), scales).
bool scale(Graph& graph, Node& n) {
  if (!n.is(OpId::mul) || n.outputs[0]->type.dtype != DType::f32) return false;
  for (size_t side = 0; side < 2; ++side) {
    const Node* cast = absorbable(n.inputs[side], OpId::cast, n);
    Node* product = cast == nullptr ? nullptr : product_for(cast->inputs[0], *cast, DType::s32);
    if (product == nullptr || product->input(ops::kEpilogueBias) != nullptr || product->input(ops::kEpilogueMultiplier) != nullptr)
      continue;
    Factors f;
    if (!read_factors(n.inputs[1 - side], product->outputs[0]->type.dims.back(), 3, &f)) continue;
    std::vector<Value*> inputs = product->inputs;
    inputs.resize(8, nullptr);
    inputs[ops::kEpilogueMultiplier] = float_constant(graph, DType::f32, {static_cast<int32_t>(f.known.size())}, f.known);
    inputs[ops::kEpilogueXScale] = f.open;
    while (inputs.back() == nullptr) inputs.pop_back();
    const std::string name = joined_name(joined_name(product->name, cast->name), n.name);
    if (replace_by(graph, n, rebuilt_quantized(graph, n, *product, name, inputs))) return true;
  }
  return false;
}

// add(product in f32, bias).
bool bias(Graph& graph, Node& n) {
  if (!n.is(OpId::add) || n.outputs[0]->type.dtype != DType::f32) return false;
  for (size_t side = 0; side < 2; ++side) {
    Node* product = product_for(n.inputs[side], n, DType::f32);
    const Value* c = n.inputs[1 - side];
    if (product == nullptr || product->input(ops::kEpilogueBias) != nullptr || !c->is_constant()) continue;
    const int32_t channels = product->outputs[0]->type.dims.back();
    if (c->type.count() != channels || c->type.rank() == 0 || c->type.dims.back() != channels) continue;
    std::vector<Value*> inputs = product->inputs;
    inputs[ops::kEpilogueBias] = float_constant(graph, DType::f32, {channels}, constant_numbers(c), c->name);
    if (replace_by(graph, n, rebuilt_quantized(graph, n, *product, joined_name(product->name, n.name), inputs))) return true;
  }
  return false;
}

}  // namespace

bool quant_dynamic(Graph& graph, const PassOptions&) {
  return each_node(graph, [&](Node& n) { return scale(graph, n) || bias(graph, n); });
}

}  // namespace mote::passes
