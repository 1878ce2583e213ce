// Operators of 8-bit numbers whose operands are all one tensor or tables of it are a table of that tensor: x * sigmoid(x), tables of
// tables.

#include "mote/compiler/ir/infer.h"
#include "mote/compiler/passes/quantized.h"

namespace mote::passes {
namespace {

// The table operator that makes v, where its table is known.
const Node* lookup(const Value* v) {
  const Node* n = v != nullptr ? v->producer : nullptr;
  return n != nullptr && n->is(OpId::q_lut) && n->inputs[1]->is_constant() ? n : nullptr;
}
Value* source(Value* v) {
  const Node* n = lookup(v);
  return n != nullptr ? n->inputs[0] : v;
}

// Runs a copy of a node on constants.
Value* run_copy(Graph& g, ir::Block& block, const Node& n, const std::vector<Value*>& inputs) {
  Node* m = g.add_node(block, n.op, n.attrs.data(), n.attrs.size(), inputs, 1, "");
  std::string ignored;
  std::vector<ir::Bytes> data;
  if (!ir::infer(*m, &ignored) || !ir::evaluate(*m, &data)) return nullptr;
  return g.add_constant(m->outputs[0]->type.dtype, {256}, data[0]);
}

// The result of a node, whose operands are x or tables of it, for all 256 values of x.
Value* table_of(Graph& g, const Node& n, const Value* x) {
  ir::Block& block = *g.add_method("").block;
  std::vector<uint8_t> all(256);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint8_t>(i);
  Value* values = g.add_constant(x->type.dtype, {256}, ir::Bytes::own(std::move(all)));
  const auto copy = [&](const Value* v) { return g.add_constant(v->type.dtype, v->type.dims, v->data); };
  std::vector<Value*> inputs;
  for (const Value* v : n.inputs) {
    const Node* made_by = lookup(v);
    inputs.push_back(v == x               ? values
                     : v->is_constant()   ? copy(v)
                     : made_by != nullptr ? run_copy(g, block, *made_by, {values, copy(made_by->inputs[1])})
                                          : nullptr);
    if (inputs.back() == nullptr) return nullptr;
  }
  return run_copy(g, block, n, inputs);
}

bool join(Graph& graph, Node& n) {
  const bool two = n.is(OpId::q_mul) || n.is(OpId::q_add) || n.is(OpId::q_sub);
  if (!two && !(n.is(OpId::q_lut) && n.inputs[1]->is_constant() && lookup(n.inputs[0]) != nullptr)) return false;
  Value* x = source(n.inputs[0]);
  if (two && source(n.inputs[1]) != x) return false;
  if (!is_byte(x->type.dtype) || !is_byte(n.outputs[0]->type.dtype) || x->type.dims != n.outputs[0]->type.dims) return false;
  if (x->is_constant() || x->kind == ir::ValueKind::kState) return false;
  Graph own;
  const Value* table = table_of(own, n, x);
  if (table == nullptr || table->data.size != 256) return false;
  const Node* inner = lookup(n.inputs[two ? 1 : 0]);
  NodeBuilder build(graph, *n.block, inner != nullptr ? joined_name(inner->name, n.name) : n.name, &n);
  return replace_by(graph, n, build.op(OpId::q_lut, {x, graph.add_constant(table->type.dtype, {256}, table->data)}));
}

}  // namespace

bool quant_tables(Graph& graph, const PassOptions&) {
  return each_node(graph, [&](Node& n) { return join(graph, n); });
}

}  // namespace mote::passes
