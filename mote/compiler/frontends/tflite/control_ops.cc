// Control flow and variables.

#include <algorithm>
#include <functional>

#include "mote/compiler/frontends/common/while_loop.h"
#include "mote/compiler/frontends/common/words.h"
#include "mote/compiler/frontends/tflite/import.h"

namespace mote::frontends::tflite {
namespace {

std::vector<Value*> arguments(Op& op, uint32_t first) {
  std::vector<Value*> out;
  for (uint32_t i = first; i < op.inputs(); ++i) {
    out.push_back(op.value(i));
    if (out.back() == nullptr) op.fail("input " + std::to_string(i) + " is missing");
  }
  return out;
}

std::string where(const Op& op) { return op.b.name() + " (" + operator_name(op.source) + ")"; }

void set_all(Op& op, const std::vector<Value*>& results) {
  if (results.size() < op.outputs())
    return op.fail("expected " + std::to_string(op.outputs()) + " results, found " + std::to_string(results.size()));
  for (uint32_t i = 0; i < op.outputs(); ++i) op.set(i, results[i]);
}

// Runs a subgraph in place.
void call(Op& op, int64_t subgraph) {
  const std::vector<Value*> in = arguments(op, 0);
  std::vector<Value*> out;
  if (!op.ok()) return;
  if (!op.importer.import_subgraph(static_cast<int>(std::min<int64_t>(subgraph, INT32_MAX)), op.b.block(), in, op.scope.initializing,
                                   where(op), &out))
    return op.fail("the called subgraph is not supported");
  set_all(op, out);
}

bool infer_control(Op& op, ir::Node* n) {
  std::string error;
  if (ir::infer(*n, &error)) return true;
  op.fail(error);
  return false;
}

}  // namespace

void import_call(Op& op) { call(op, op.options<fb::CallOptions>().subgraph()); }

// A named group of operators; what it is made of is in a subgraph.
void import_composite(Op& op) {
  const auto* o = op.source.table->builtin_options2_as_StableHLOCompositeOptions();
  if (o == nullptr) return op.fail("the options are missing");
  call(op, o->decomposition_subgraph_index());
}

namespace {

// Writes a branch into a block, and gives its results.
using Branch = std::function<bool(ir::Block&, std::vector<Value*>*)>;

// An If at the end of a block; empty after fail().
std::vector<Value*> choose(Op& op, ir::Block& where_to, Value* condition, const Branch& then, const Branch& otherwise) {
  ir::Graph& g = op.b.graph();
  if (!op.ok() || condition == nullptr) return {};
  ir::Node* n = g.add_node(where_to, ir::kIf, nullptr, 0, {condition}, op.outputs(), op.b.name());
  for (const Branch* branch : {&then, &otherwise}) {
    ir::Block& block = g.add_block(n);
    std::vector<Value*> out;
    if (!(*branch)(block, &out)) op.fail("a branch is not supported");
    else if (out.size() < op.outputs())
      op.fail("a branch gives " + std::to_string(out.size()) + " results; expected " + std::to_string(op.outputs()));
    if (!op.ok()) return {};
    for (uint32_t i = 0; i < op.outputs(); ++i) g.add_result(block, out[i]);
  }
  return infer_control(op, n) ? n->outputs : std::vector<Value*>{};
}

Branch subgraph(Op& op, int32_t index, const std::vector<Value*>& in) {
  return [&op, index, in](ir::Block& block, std::vector<Value*>* out) {
    return op.importer.import_subgraph(index, block, in, false, where(op), out);
  };
}

}  // namespace

void import_if(Op& op) {
  const auto& o = op.options<fb::IfOptions>();
  Value* condition = as_scalar(op.b, op.value(0));
  const std::vector<Value*> in = arguments(op, 1);
  const std::vector<Value*> out =
      choose(op, op.b.block(), condition, subgraph(op, o.then_subgraph_index(), in), subgraph(op, o.else_subgraph_index(), in));
  if (op.ok()) set_all(op, out);
}

// One of several subgraphs, by number; the last one also for numbers that name none.
void import_case(Op& op) {
  const auto* o = op.source.table->builtin_options2_as_StablehloCaseOptions();
  const auto* all = o == nullptr ? nullptr : o->branch_subgraph_indices();
  Value* index = as_scalar(op.b, op.value(0));
  const std::vector<Value*> in = arguments(op, 1);
  if (all == nullptr || all->size() < 1 || all->size() > 64) return op.fail("expected 1 to 64 branches");
  const int32_t last = static_cast<int32_t>(all->size()) - 1;
  Words w(op.b);
  Value* outside = w.op(OpId::less, {index, w.number(0, DType::s32)});
  index = w.op(OpId::minimum, {w.op(OpId::where, {outside, w.number(last, DType::s32), index}), w.number(last, DType::s32)});
  // Halves of halves: programs nest a few times only.
  const std::function<Branch(int32_t, int32_t)> from = [&](int32_t first, int32_t end) -> Branch {
    if (first + 1 == end) return subgraph(op, all->Get(static_cast<uint32_t>(first)), in);
    const int32_t middle = first + (end - first) / 2;
    return [&, first, middle, end](ir::Block& block, std::vector<Value*>* out) {
      ir::NodeBuilder b(op.b.graph(), block, op.b.name());
      Value* below = b.op(OpId::less, {index, op.b.graph().scalar<int32_t>(middle)});
      if (below == nullptr) op.fail(b.error());
      *out = choose(op, block, below, from(first, middle), from(middle, end));
      return op.ok();
    };
  };
  std::vector<Value*> out;
  if (op.ok() && from(0, last + 1)(op.b.block(), &out)) set_all(op, out);
}

void import_while(Op& op) {
  const auto* o2 = op.source.table->builtin_options2_as_StablehloWhileOptions();
  const auto& o = op.options<fb::WhileOptions>();
  const std::vector<Value*> start = arguments(op, 0);
  if (!op.ok()) return;
  if (op.outputs() != start.size())
    return op.fail("a loop has as many outputs as inputs; found " + std::to_string(op.outputs()) + " and " + std::to_string(start.size()));
  const auto import = [&op](int32_t index) {
    return [&op, index](ir::Block& block, const std::vector<Value*>& in, std::vector<Value*>* out) {
      return op.importer.import_subgraph(index, block, in, false, where(op), out);
    };
  };
  std::string error;
  const ir::Node* n =
      add_while(op.b, start, op.importer.options().max_trips, import(o2 != nullptr ? o2->cond_subgraph_index() : o.cond_subgraph_index()),
                import(o2 != nullptr ? o2->body_subgraph_index() : o.body_subgraph_index()), &error);
  if (n == nullptr) return op.fail(error);
  set_all(op, n->outputs);
}

// --- variables ---

void import_var_handle(Op& op) {
  const auto& o = op.options<fb::VarHandleOptions>();
  std::string name = std::string(text_of(o.shared_name()));
  if (o.container() != nullptr && o.container()->size() > 0) name = std::string(text_of(o.container())) + "/" + name;
  if (op.outputs() < 1 || op.source.table->outputs()->Get(0) < 0) return op.fail("the output is missing");
  op.scope.handles[static_cast<size_t>(op.source.table->outputs()->Get(0))] = name.empty() ? "variable" : name;
}

namespace {

const std::string& handle(Op& op) {
  const std::string& name = op.scope.handles[static_cast<size_t>(op.source.table->inputs()->Get(0))];
  if (name.empty()) op.fail("input 0 must be a variable that VAR_HANDLE names in the same subgraph");
  return name;
}

// True when something reads what operator `index` gives after a later operator may have changed the variable.
bool needs_copy(const Op& op) {
  const std::vector<Operator>& all = op.scope.graph->operators;
  const size_t here = static_cast<size_t>(&op.source - all.data());
  const int32_t read = op.source.table->outputs()->Get(0);
  const auto changes = [](const Operator& o) {
    return o.code == BuiltinOperator::ASSIGN_VARIABLE || o.code == BuiltinOperator::CALL || o.code == BuiltinOperator::IF ||
           o.code == BuiltinOperator::WHILE || o.code == BuiltinOperator::STABLEHLO_COMPOSITE ||
           o.code == BuiltinOperator::STABLEHLO_CASE || o.code == BuiltinOperator::STABLEHLO_WHILE;
  };
  bool changed = false;
  for (size_t i = here + 1; i < all.size(); ++i) {
    const auto* in = all[i].table->inputs();
    if (changed && in != nullptr && std::find(in->begin(), in->end(), read) != in->end()) return true;
    if (!changes(all[i])) continue;
    // Assignments to other variables do not matter.
    const bool other =
        all[i].code == BuiltinOperator::ASSIGN_VARIABLE && in != nullptr && in->size() > 0 && in->Get(0) >= 0 &&
        op.scope.handles[static_cast<size_t>(in->Get(0))] != op.scope.handles[static_cast<size_t>(op.source.table->inputs()->Get(0))] &&
        !op.scope.handles[static_cast<size_t>(in->Get(0))].empty();
    changed |= !other;
  }
  const auto& results = op.scope.graph->outputs;
  return changed && std::find(results.begin(), results.end(), read) != results.end();
}

}  // namespace

void import_read_variable(Op& op) {
  const std::string& name = handle(op);
  if (!op.ok() || op.outputs() < 1) return;
  const Tensor& t = op.out();
  const bool open = t.dtype == DType::kNone || std::any_of(t.dims.begin(), t.dims.end(), [](int32_t d) { return d < 0; });
  const ir::Type type{t.dtype, t.dims, 0};
  Value* state = op.importer.variable(name, open ? nullptr : &type);
  if (state == nullptr) return op.fail("the variable '" + name + "' must have a plain type and a fixed shape; found " + describe(t));
  op.set(needs_copy(op) ? op.b.op(OpId::copy, {state}) : state);
}

void import_assign_variable(Op& op) {
  const std::string& name = handle(op);
  Value* v = op.value(1);
  if (!op.ok()) return;
  if (v->type.dynamic != 0) return op.fail("the variable '" + name + "' must have a fixed shape");
  Value* state = op.importer.variable(name, &v->type);
  if (state->type != v->type) return op.fail("the variable '" + name + "' changes its type or shape, which must stay the same");
  if (op.scope.initializing) {
    ir::Bytes data = v->data;
    if (!v->is_constant()) {
      const ir::Bytes* known = ir::known_data(*v);
      if (known == nullptr) return op.fail("the first contents of '" + name + "' must be known when compiling");
      data = *known;
    }
    state->data = data;
    return;
  }
  if (v == state) return;
  // Another variable's contents are copied now: it may change later.
  if (v->kind == ir::ValueKind::kState) v = op.b.op(OpId::copy, {v});
  ir::Node* n = op.b.graph().add_node(op.b.block(), ir::kAssign, nullptr, 0, {state, v}, 0, op.b.name());
  infer_control(op, n);
}

// Gives variables their first contents: nothing of it is left in the program.
void import_call_once(Op& op) {
  ir::Graph& g = op.b.graph();
  ir::Block scratch;
  scratch.graph = &g;
  std::vector<Value*> out;
  if (!op.importer.import_subgraph(op.options<fb::CallOnceOptions>().init_subgraph_index(), scratch, {}, true, where(op), &out))
    op.fail("the initialisation is not supported");
  while (!scratch.nodes.empty()) g.erase(scratch.nodes.back().get());
}

}  // namespace mote::frontends::tflite
