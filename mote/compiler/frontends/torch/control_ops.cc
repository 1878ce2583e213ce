// Control flow: higher order operators, whose arguments are graphs.

#include <algorithm>

#include "mote/compiler/frontends/torch/import.h"

namespace mote::frontends::torch {
namespace {

// Arguments of higher order operators have no names.
const Arg* argument(Op& o, size_t i, Arg::Kind kind, const char* what) {
  if (i < o.node.inputs.size() && o.node.inputs[i].arg.kind == kind) return &o.node.inputs[i].arg;
  o.refuse("argument " + std::to_string(i) + ": expected " + what);
  return nullptr;
}

Value* value_of(Op& o, const Item& i) {
  using Kind = Item::Kind;
  switch (i.kind) {
    case Kind::kTensor:
    case Kind::kSymbol: return o.scope.find(i.text);
    case Kind::kInt: return o.b.graph().scalar<int64_t>(i.i);
    case Kind::kFloat: return o.b.graph().scalar<double>(i.f);
    case Kind::kBool: return o.number(static_cast<double>(i.i), DType::boolean);
    default: return nullptr;
  }
}

std::vector<Value*> values_of(Op& o, size_t i) {
  std::vector<Value*> out;
  if (i >= o.node.inputs.size()) return out;
  for (const Item& item : o.node.inputs[i].arg.items) {
    out.push_back(value_of(o, item));
    if (out.back() == nullptr) o.refuse("argument " + std::to_string(i) + ": expected tensors or numbers");
  }
  return out;
}

// Writes a graph into a block. False when that cannot be done or it does not give `count` values; somebody has said so then.
bool write_body(Op& o, const GraphDef& body, ir::Block& block, const std::vector<Value*>& arguments, size_t count,
                std::vector<Value*>* results) {
  if (!o.importer.import_body(o.scope, body, block, arguments, results)) {
    o.given_up = true;
    return false;
  }
  if (results->size() != count)
    o.refuse("expected a graph that gives " + std::to_string(count) + " values, found one of " + std::to_string(results->size()));
  return results->size() == count;
}

void import_cond(Op& o) {
  const std::vector<Value*> condition = values_of(o, 0);
  const Arg *yes = argument(o, 1, Arg::Kind::kGraph, "a graph"), *no = argument(o, 2, Arg::Kind::kGraph, "a graph");
  const std::vector<Value*> operands = values_of(o, 3);
  if (!o.b.ok()) return;
  if (condition.size() != 1 || condition[0] == nullptr) return o.refuse("expected a condition");
  std::vector<int64_t> known;
  if (ir::known_ints(*condition[0], &known) && known.size() == 1) {
    o.given_up = !o.importer.import_body(o.scope, known[0] != 0 ? *yes->graph : *no->graph, o.b.block(), operands, &o.outputs);
    return;
  }
  Value* chosen = o.reshape(o.cast(condition[0], DType::boolean), {});
  if (!o.b.ok()) return;
  ir::Graph& g = o.b.graph();
  ir::Node* node = g.add_node(o.b.block(), ir::kIf, nullptr, 0, {chosen}, o.node.outputs.size(), o.b.name());
  for (const Arg* branch : {yes, no}) {
    ir::Block& block = g.add_block(node);
    std::vector<Value*> results;
    if (!write_body(o, *branch->graph, block, operands, node->outputs.size(), &results)) continue;
    for (Value* v : results) g.add_result(block, v);
  }
  std::string error;
  if (o.given_up || !o.b.ok()) return;
  if (!ir::infer(*node, &error)) return o.refuse(error);
  for (size_t i = 0; i < node->outputs.size(); ++i) o.out(i, node->outputs[i]);
}

// The body is written where the operator stands: what it changes (gradients, autocast) means nothing here.
void import_wrapped(Op& o) {
  const auto it =
      std::find_if(o.node.inputs.begin(), o.node.inputs.end(), [](const NamedArg& a) { return a.arg.kind == Arg::Kind::kGraph; });
  if (it == o.node.inputs.end()) return o.refuse("expected a graph");
  std::vector<Value*> operands;
  for (size_t i = static_cast<size_t>(it - o.node.inputs.begin()) + 1; i < o.node.inputs.size(); ++i)
    for (Value* v : values_of(o, i)) operands.push_back(v);
  if (!o.b.ok()) return;
  o.given_up = !o.importer.import_body(o.scope, *it->arg.graph, o.b.block(), operands, &o.outputs);
}

// Tests the condition once before, then at the end of each trip.
void import_while(Op& o) {
  const Arg *test = argument(o, 0, Arg::Kind::kGraph, "a graph"), *body = argument(o, 1, Arg::Kind::kGraph, "a graph");
  const std::vector<Value*> carried = values_of(o, 2), around = values_of(o, 3);
  if (!o.b.ok()) return;
  const auto with_around = [&](std::vector<Value*> v) {
    v.insert(v.end(), around.begin(), around.end());
    return v;
  };
  ir::Graph& g = o.b.graph();
  std::vector<Value*> first;
  if (!write_body(o, *test->graph, o.b.block(), with_around(carried), 1, &first)) return;
  std::vector<Value*> inputs{nullptr, o.reshape(o.cast(first[0], DType::boolean), {})};
  inputs.insert(inputs.end(), carried.begin(), carried.end());
  if (!o.b.ok()) return;
  ir::Node* node = g.add_node(o.b.block(), ir::kLoop, nullptr, 0, inputs, carried.size(), o.b.name());
  node->max_trips = o.importer.max_trips();
  ir::Block& block = g.add_block(node);
  g.add_argument(block, "", {DType::s64, {}, 0});
  g.add_argument(block, "", {DType::boolean, {}, 0});
  std::vector<Value*> arguments, next, again;
  for (const Value* v : carried) arguments.push_back(g.add_argument(block, "", v->type, v->facts));
  if (!write_body(o, *body->graph, block, with_around(arguments), carried.size(), &next) ||
      !write_body(o, *test->graph, block, with_around(next), 1, &again))
    return;
  ir::NodeBuilder inner(g, block, o.b.name());
  Value* go_on = inner.reshape(inner.cast(again[0], DType::boolean), {});
  if (!inner.ok()) return o.refuse(inner.error());
  for (size_t i = 0; i < next.size(); ++i)
    if (next[i]->type.dtype != arguments[i]->type.dtype || next[i]->type.dims != arguments[i]->type.dims)
      return o.refuse("carried value " + std::to_string(i) + " changes its type or shape in the body");
  g.add_result(block, go_on);
  for (Value* v : next) g.add_result(block, v);
  std::string error;
  if (!ir::infer(*node, &error)) return o.refuse(error);
  for (size_t i = 0; i < node->outputs.size(); ++i) o.out(i, node->outputs[i]);
}

// One trip for each slice of xs along their first axis: the body takes (carried, slices, around) and gives (carried, rows to stack).
void run_over(Op& o, const GraphDef& body, const std::vector<Value*>& init, const std::vector<Value*>& xs,
              const std::vector<Value*>& around) {
  if (!o.b.ok()) return;
  if (xs.empty() || rank_of(xs[0]) == 0) return o.refuse("expected tensors to go over");
  ir::Graph& g = o.b.graph();
  std::vector<Value*> inputs{o.as_scalar(o.size_at(xs[0], 0)), nullptr};
  inputs.insert(inputs.end(), init.begin(), init.end());
  if (!o.b.ok() || o.node.outputs.size() < init.size()) return o.refuse("expected as many outputs as carried values");
  ir::Node* node = g.add_node(o.b.block(), ir::kLoop, nullptr, 0, inputs, o.node.outputs.size(), o.b.name());
  node->max_trips = o.importer.max_trips();
  ir::Block& block = g.add_block(node);
  Value* trip = g.add_argument(block, "", {DType::s64, {}, 0});
  Value* go_on = g.add_argument(block, "", {DType::boolean, {}, 0});
  std::vector<Value*> arguments, results;
  for (const Value* v : init) arguments.push_back(g.add_argument(block, "", v->type, v->facts));
  ir::NodeBuilder inner(g, block, o.b.name());
  Words words(inner);
  for (Value* x : xs) arguments.push_back(words.gather(x, trip, 0));
  if (!inner.ok()) return o.refuse(inner.error());
  arguments.insert(arguments.end(), around.begin(), around.end());
  if (!write_body(o, body, block, arguments, node->outputs.size(), &results)) return;
  g.add_result(block, go_on);
  for (Value* v : results) g.add_result(block, v);
  std::string error;
  if (!ir::infer(*node, &error)) return o.refuse(error);
  for (size_t i = 0; i < node->outputs.size(); ++i) o.out(i, node->outputs[i]);
}

void import_scan(Op& o) {
  const Arg* body = argument(o, 0, Arg::Kind::kGraph, "a graph");
  const std::vector<Value*> init = values_of(o, 1), xs = values_of(o, 2), around = values_of(o, 3);
  if (body != nullptr) run_over(o, *body->graph, init, xs, around);
}

void import_map(Op& o) {
  const Arg* body = argument(o, 0, Arg::Kind::kGraph, "a graph");
  const std::vector<Value*> xs = values_of(o, 1), around = values_of(o, 2);
  if (body != nullptr) run_over(o, *body->graph, {}, xs, around);
}

}  // namespace

void add_control_ops(OpTable& t);
void add_control_ops(OpTable& t) {
  add_lines(t, {
                   {"higher_order.cond", "", &import_cond},
                   {"higher_order.while_loop", "", &import_while},
                   {"higher_order.scan", "", &import_scan},
                   {"higher_order.map_impl", "", &import_map},
                   {"higher_order.wrap_with_set_grad_enabled", "", &import_wrapped},
                   {"higher_order.wrap_with_autocast", "", &import_wrapped},
                   {"higher_order.invoke_subgraph", "", &import_wrapped},
               });
}

}  // namespace mote::frontends::torch
