#include <algorithm>

#include "mote/compiler/frontends/onnx/loop.h"
#include "mote/compiler/frontends/onnx/sequences.h"
#include "mote/ops/fill/fill.h"

namespace mote::frontends::onnx {
namespace {

constexpr int64_t kMostUnrolled = 1024;

const ::onnx::GraphProto* body_of(NodeContext& c, const char* name) {
  const auto* a = c.attr(name);
  if (a != nullptr && a->has_g()) return &a->g();
  c.fail(std::string("has no graph '") + name + "'");
  return nullptr;
}

bool known_truth(const Value* v, bool* out) {
  std::vector<int64_t> known;
  if (v == nullptr || !ir::known_ints(*v, &known) || known.size() != 1) return false;
  *out = known[0] != 0;
  return true;
}

// A condition or count that the model gives as a vector of one.
Value* as_scalar(Decompose& d, Value* v) { return rank_of(v) == 0 || v == nullptr ? v : d.reshape(v, {}); }

bool all_tensors(NodeContext& c, const std::vector<Entity>& list) {
  for (const Entity& e : list) {
    if (e.is(Entity::Kind::kTensor) && !c.importer.texts().is_text(e.value)) continue;
    c.fail("a graph that is repeated when running gives a sequence, an optional or a string", "these must be known when compiling");
    return false;
  }
  return true;
}

// A branch that cannot be for the shapes at hand (a model for two sample rates, compiled for one): running into it is an error.
bool write_impossible(NodeContext& c, ir::Block& block, const std::vector<Value*>& like, const ir::Problem& why) {
  ir::Graph& g = c.b.graph();
  while (!block.nodes.empty()) g.erase(block.nodes.back().get());
  ir::NodeBuilder b(g, block, c.b.name());
  for (const Value* v : like) {
    const size_t width = dtype_bytes(v->type.dtype);
    Value* none = g.add_constant(v->type.dtype, {1}, ir::Bytes::own(std::vector<uint8_t>(width)));
    ops::fill::Attrs a;
    a.rank = v->type.rank();
    std::copy(v->type.dims.begin(), v->type.dims.end(), a.dims);
    // The index lies outside, which stops the run.
    Value* stop = b.op(OpId::gather, {none, g.scalar<int64_t>(1)});
    Value* result = b.ok() ? b.op(OpId::fill, a, {stop}) : nullptr;
    if (result == nullptr) return false;
    g.add_result(block, result);
  }
  g.evidence.emplace_back("left_out", c.b.name() + ": a branch does not fit the shapes (" + why.where + ": " + why.what + ")");
  return true;
}

struct Branch {
  const ::onnx::GraphProto* graph = nullptr;
  ir::Block* block = nullptr;
  std::vector<Entity> results;
  bool fine = false, misfit = false;
  size_t problems_before = 0;
};

void import_branch(NodeContext& c, Branch* b) {
  b->problems_before = c.importer.problem_count();
  const size_t hard = c.importer.hard_problem_count();
  b->fine = c.importer.import_body(c.scope, *b->graph, *b->block, {}, &b->results);
  b->misfit = !b->fine && c.importer.hard_problem_count() == hard && c.importer.problem_count() > b->problems_before;
}

void choose_running(NodeContext& c, Value* condition, const ::onnx::GraphProto& then_graph, const ::onnx::GraphProto& else_graph) {
  ir::Graph& g = c.b.graph();
  ir::Node* node = g.add_node(c.b.block(), ir::kIf, nullptr, 0, {condition}, 0, c.b.name());
  Branch a, b;
  a.graph = &then_graph;
  b.graph = &else_graph;
  for (Branch* branch : {&a, &b}) branch->block = &g.add_block(node);
  import_branch(c, &a);
  // Problems of the second branch come behind those of the first, so that a misfit of the first can be taken back.
  const bool first_misfit = a.misfit;
  const ir::Problem first_why = first_misfit ? c.importer.take_back(a.problems_before) : ir::Problem{};
  import_branch(c, &b);
  if (first_misfit && !b.fine) c.importer.problem(first_why.where, first_why.what, first_why.advice, false);
  if ((!a.fine && !a.misfit) || (!b.fine && !b.misfit) || (!a.fine && !b.fine)) return c.give_up();
  ir::NodeBuilder in_a(g, *a.block, c.b.name()), in_b(g, *b.block, c.b.name());
  if (a.fine && b.fine && !make_alike(c, {&a.results, &in_a}, {&b.results, &in_b})) return;
  const std::vector<Entity>& form = a.fine ? a.results : b.results;
  for (Branch* branch : {&a, &b})
    for (Value* v : tensors_of(branch->results))
      if (branch->fine) g.add_result(*branch->block, v);
  if (a.misfit && !write_impossible(c, *a.block, tensors_of(form), first_why)) return c.fail("its branches do not fit");
  if (b.misfit && !write_impossible(c, *b.block, tensors_of(form), c.importer.take_back(b.problems_before)))
    return c.fail("its branches do not fit");
  c.results = form;
  if (tensors_of(form).empty()) return g.erase(node);  // empty sequences alone
  g.add_outputs(node, tensors_of(form).size());
  std::string error;
  if (!ir::infer(*node, &error)) return c.fail(error);
  for (size_t i = 0; i < node->outputs.size(); ++i)
    if (c.importer.texts().is_text(tensors_of(form)[i])) c.importer.texts().mark(node->outputs[i]);
  c.results = of_tensors(form, node->outputs);
}

void import_if(NodeContext& c) {
  Decompose d(c);
  const auto *then_graph = body_of(c, "then_branch"), *else_graph = body_of(c, "else_branch");
  Value* condition = c.operands.empty() ? nullptr : c.operands[0].value;
  if (!c.b.ok()) return;
  if (condition == nullptr) return c.fail("the condition is missing");
  bool truth = false;
  if (known_truth(condition, &truth)) {
    if (!c.importer.import_body(c.scope, truth ? *then_graph : *else_graph, c.b.block(), {}, &c.results)) c.give_up();
    return;
  }
  if (then_graph->output_size() != else_graph->output_size() || then_graph->output_size() < c.proto.output_size())
    return c.fail("its branches give " + std::to_string(then_graph->output_size()) + " and " + std::to_string(else_graph->output_size()) +
                  " values");
  condition = as_scalar(d, condition);
  if (c.b.ok()) choose_running(c, condition, *then_graph, *else_graph);
}

// --- Loop ---

bool read_loop(NodeContext& c, LoopParts* p) {
  Decompose d(c);
  p->body = body_of(c, "body");
  if (p->body == nullptr) return false;
  const auto operand = [&](size_t i) { return i < c.operands.size() ? c.operands[i].value : nullptr; };
  p->trips = as_scalar(d, operand(0));
  p->condition = as_scalar(d, operand(1));
  for (size_t i = 2; i < c.operands.size(); ++i) p->carried.push_back(c.operands[i]);
  const size_t given = static_cast<size_t>(p->body->output_size()), taken = static_cast<size_t>(p->body->input_size());
  if (given < 1 + p->carried.size() || taken != 2 + p->carried.size()) {
    c.fail("the body has " + std::to_string(taken) + " inputs and " + std::to_string(given) + " outputs; expected " +
           std::to_string(2 + p->carried.size()) + " and at least " + std::to_string(1 + p->carried.size()));
    return false;
  }
  p->scanned = given - 1 - p->carried.size();
  return c.b.ok();
}

// The body written once for each trip: for sequences, and for values whose shape changes from trip to trip.
void unroll(NodeContext& c, const LoopParts& p, const std::string& why) {
  Decompose d(c);
  std::vector<int64_t> known;
  bool go_on = true;
  const bool counted = p.trips != nullptr && ir::known_ints(*p.trips, &known) && known.size() == 1;
  if ((p.trips != nullptr && !counted) || (p.condition != nullptr && !known_truth(p.condition, &go_on)) ||
      (!counted && p.condition == nullptr))
    return import_running_loop(c, p, why);
  std::vector<Entity> carried = p.carried;
  std::vector<std::vector<Value*>> rows(p.scanned);
  std::vector<int> elements(p.scanned);
  for (int64_t i = 0; go_on && (!counted || i < known[0]); ++i) {
    if (i >= kMostUnrolled) return c.fail(why + ", and it has more than " + std::to_string(kMostUnrolled) + " trips");
    std::vector<Entity> arguments{Entity::tensor(c.b.graph().scalar<int64_t>(i)), Entity::tensor(d.number(1, DType::boolean))}, results;
    arguments.insert(arguments.end(), carried.begin(), carried.end());
    if (!c.importer.import_body(c.scope, *p.body, c.b.block(), arguments, &results)) return c.give_up();
    if (!known_truth(results[0].value, &go_on)) return c.fail(why + ", and its condition is known only when running");
    carried.assign(results.begin() + 1, results.begin() + 1 + static_cast<std::ptrdiff_t>(carried.size()));
    for (size_t k = 0; k < p.scanned; ++k) {
      const Entity& e = results[1 + carried.size() + k];
      if (!e.is(Entity::Kind::kTensor)) return c.fail("a scanned output is no tensor");
      if (!rows[k].empty() && elements[k] != e.element) return c.fail("a scanned output changes its element type from trip to trip");
      elements[k] = e.element;
      rows[k].push_back(d.unsqueeze(e.value, {0}));
    }
  }
  c.results = carried;
  for (size_t k = 0; k < rows.size(); ++k) {
    if (rows[k].empty()) return c.fail(why + ", and it gives scanned outputs without a trip");
    Value* stacked = d.concat(rows[k], 0);
    if (stacked != nullptr) c.results.push_back(Entity::tensor(stacked, elements[k]));
  }
}

int64_t trip_bound(NodeContext& c, const LoopParts& p) {
  std::vector<int64_t> known;
  int64_t most = c.importer.options().max_trips;
  bool always = p.condition == nullptr;
  if (p.trips != nullptr && ir::known_ints(*p.trips, &known) && known.size() == 1) most = always ? known[0] : std::min(most, known[0]);
  for (size_t k = 0; k < p.scanned; ++k) {  // what the model declares of scanned outputs bounds them too
    const auto declared = c.declared(static_cast<int>(p.carried.size() + k));
    if (declared.has_value() && declared->rank() > 0 && declared->dims[0] >= 0) most = std::min<int64_t>(most, declared->dims[0]);
  }
  return std::max<int64_t>(most, 0);
}

void import_loop(NodeContext& c) {
  LoopParts p;
  if (!read_loop(c, &p)) return;
  p.most_trips = trip_bound(c, p);
  for (const Entity& e : p.carried)
    if (!e.is(Entity::Kind::kTensor)) return unroll(c, p, "it carries a sequence or an optional");
  std::vector<Value*> carried;
  std::vector<int> elements;  // of the outputs
  for (const Entity& e : p.carried) carried.push_back(e.value);
  const auto write_body = [&](LoopBody& body) {
    std::vector<Entity> arguments{Entity::tensor(body.trip), Entity::tensor(body.condition)}, results;
    for (size_t i = 0; i < body.carried.size(); ++i) arguments.push_back(Entity::tensor(body.carried[i], p.carried[i].element));
    if (!c.importer.import_body(c.scope, *p.body, body.builder.block(), arguments, &results)) {
      c.give_up();
      return false;
    }
    if (!all_tensors(c, results)) return false;
    Decompose d(c, body.builder);
    body.go_on = as_scalar(d, results[0].value);
    for (size_t i = 1; i < results.size(); ++i) {
      if (i <= carried.size() && results[i].element != p.carried[i - 1].element) {
        c.fail("carried value " + std::to_string(i - 1) + " changes its element type from trip to trip");
        return false;
      }
      (i <= carried.size() ? body.next : body.scanned).push_back(results[i].value);
      elements.push_back(results[i].element);
    }
    return true;
  };
  std::vector<Value*> out;
  const LoopOutcome outcome = build_loop(c, {p.trips, p.condition, carried, p.scanned, p.most_trips}, write_body, &out);
  if (outcome == LoopOutcome::kShapesChange) return unroll(c, p, "a carried value changes its shape from trip to trip");
  for (size_t i = 0; i < out.size(); ++i) c.out(static_cast<int>(i), out[i], elements[i]);
}

}  // namespace

void add_control_ops(OpTable& t);
void add_control_ops(OpTable& t) {
  t["If"] = {{"If", &import_if, 1, 0, true}};
  t["Loop"] = {{"Loop", &import_loop, 1, 0, true}};
}

}  // namespace mote::frontends::onnx
