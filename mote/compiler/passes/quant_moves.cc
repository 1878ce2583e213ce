// Integers are moved instead of real numbers: dequantize goes behind what only moves or picks elements, and a quantize that undoes a
// dequantize goes with it.

#include <algorithm>

#include "mote/compiler/ir/infer.h"
#include "mote/compiler/passes/quantized.h"
#include "mote/ops/common/quant.h"
#include "mote/ops/max_pool/max_pool.h"
#include "mote/ops/pad/pad.h"
#include "mote/ops/resize/resize.h"

namespace mote::passes {

size_t moved_operands(const Node& n) {
  switch (static_cast<OpId>(n.op)) {
    case OpId::reshape:
    case OpId::transpose:
    case OpId::slice:
    case OpId::gather:
    case OpId::gather_elements:
    case OpId::gather_nd:
    case OpId::tile:
    case OpId::expand:
    case OpId::reverse:
    case OpId::depth_to_space:
    case OpId::space_to_depth:
    case OpId::split: return 1;
    case OpId::concat: return n.inputs.size();
    case OpId::max_pool: return n.outputs.size() == 1 ? 1 : 0;
    case OpId::pad: return n.input(1) == nullptr ? 1 : 0;
    case OpId::resize: {
      const auto a = n.attributes<ops::resize::Attrs>();
      return a.mode == ops::resize::kNearest && a.coordinates != ops::resize::kCropAndResize ? 1 : 0;
    }
    default: return 0;
  }
}

namespace {

bool move(Graph& graph, Node& n) {
  const size_t moved = n.is_operator() ? moved_operands(n) : 0;
  if (moved == 0) return false;
  std::vector<Value*> inputs = n.inputs;
  std::optional<Quant> q;
  const Node* first = nullptr;
  for (size_t i = 0; i < moved; ++i) {
    const Node* d = dequantized(n.inputs[i]);
    const std::optional<Quant> own = d == nullptr ? std::nullopt : quant_of(*d);
    if (!own || (q && !(*q == *own)) || dtype_bytes(own->type) == 0 || own->type == DType::u16 || d->inputs[0]->is_constant()) return false;
    q = own;
    if (first == nullptr) first = d;
    inputs[i] = d->inputs[0];
  }
  std::vector<uint8_t> attrs = n.attrs;
  if (n.is(OpId::pad)) {
    auto a = n.attributes<ops::pad::Attrs>();
    if (a.mode == ops::pad::kConstant && a.value != 0) return false;
    a.value = static_cast<float>(q->zero);
    const auto* bytes = reinterpret_cast<const uint8_t*>(&a);
    attrs.assign(bytes, bytes + sizeof a);
  }
  Node* made = graph.add_node(*n.block, n.op, attrs.data(), attrs.size(), inputs, n.outputs.size(), n.name, &n);
  for (size_t o = 0; o < n.outputs.size(); ++o) {
    if (n.outputs[o] != nullptr) continue;
    made->outputs[o]->producer = nullptr;
    made->outputs[o] = nullptr;
  }
  std::string ignored;
  if (!ir::infer(*made, &ignored)) {
    graph.erase(made);
    return false;
  }
  for (size_t o = 0; o < n.outputs.size(); ++o) {
    Value* y = n.outputs[o];
    if (y == nullptr) continue;
    std::vector<Value*> operands = first->inputs;
    operands[0] = made->outputs[o];
    Node* d = graph.add_node(*n.block, first->op, first->attrs.data(), first->attrs.size(), operands, 1, first->name, &n);
    if (!ir::infer(*d, &ignored) || d->outputs[0]->type != y->type) return false;  // dce takes what was made
    d->outputs[0]->name = y->name;
    graph.replace_uses(y, d->outputs[0]);
  }
  erase_unused(graph, &n);
  return true;
}

// quantize(dequantize(x)) with the same numbers is x.
bool undo(Graph& graph, Node& n) {
  const Node* d = n.is(OpId::quantize) ? dequantized(n.inputs[0]) : nullptr;
  const std::optional<Quant> q = d != nullptr ? quant_of(n) : std::nullopt;
  return q && *q == *quant_of(*d) && replace(graph, &n, d->inputs[0]);
}

// quantize(reshape(x)) as reshape(quantize(x)): what makes x may then give integers. The same for transpose.
bool lift_move(Graph& graph, Node& n) {
  if (!n.is(OpId::quantize) || !quant_of(n)) return false;
  Node* m = absorbable(n.inputs[0], OpId::reshape, n);
  if (m == nullptr) m = absorbable(n.inputs[0], OpId::transpose, n);
  if (m == nullptr || !reads_no_state(*m) || m->inputs[0]->producer == nullptr || dequantized(m->inputs[0]) != nullptr) return false;
  std::vector<Value*> inputs = n.inputs;
  inputs[0] = m->inputs[0];
  std::string ignored;
  Node* q = graph.add_node(*n.block, n.op, n.attrs.data(), n.attrs.size(), inputs, 1, n.name, &n);
  if (!ir::infer(*q, &ignored)) {
    graph.erase(q);
    return false;
  }
  inputs = m->inputs;
  inputs[0] = q->outputs[0];
  Node* moved = graph.add_node(*n.block, m->op, m->attrs.data(), m->attrs.size(), inputs, 1, m->name, &n);
  if (ir::infer(*moved, &ignored)) return replace_by(graph, n, moved->outputs[0]);
  erase_unused(graph, moved);
  return false;
}

}  // namespace

bool quant_moves(Graph& graph, const PassOptions&) {
  return each_node(graph, [&](Node& n) { return undo(graph, n) || lift_move(graph, n) || move(graph, n); });
}

}  // namespace mote::passes
