// Control flow, whose regions become blocks, and variables, which become states.

#include <algorithm>

#include "mote/compiler/frontends/common/while_loop.h"
#include "mote/compiler/frontends/tosa/import.h"

namespace mote::frontends::tosa {
namespace {

std::string where(const Op& op) { return op.b.name() + " (" + operator_name(op.code()) + ")"; }

std::vector<Value*> arguments(Op& op, size_t first) {
  std::vector<Value*> all;
  for (size_t i = first; i < op.inputs(); ++i) all.push_back(op.value(i));
  return all;
}

int region(Op& op, const flatbuffers::String* name, const char* what) {
  const int found = op.importer.model().region(text_of(name));
  if (found < 0) op.fail(std::string(what) + " '" + std::string(text_of(name).substr(0, 200)) + "' is not among the regions");
  return found;
}

void set_all(Op& op, ir::Node* n) {
  std::string error;
  if (!ir::infer(*n, &error)) return op.fail(error);
  for (size_t i = 0; i < op.outputs(); ++i) op.set(i, n->outputs[i]);
}

// The first tensor among inputs and outputs that names a variable.
const Tensor* variable_of(const Op& op) {
  for (size_t i = 0; i < op.inputs(); ++i)
    if (!op.in(i).variable.empty()) return &op.in(i);
  for (size_t i = 0; i < op.outputs(); ++i)
    if (!op.out(i).variable.empty()) return &op.out(i);
  return nullptr;
}

Value* state_of(Op& op) {
  const Tensor* t = variable_of(op);
  std::string error = "none of its tensors names a variable";
  Value* state = t == nullptr ? nullptr : op.importer.variable(*t, &error);
  if (state == nullptr) op.fail(error);
  return state;
}

}  // namespace

void import_cond_if(Op& op) {
  const auto& a = op.attributes<fb::CondIfAttribute>();
  Value* condition = as_scalar(op.b, op.value(0));
  const std::vector<Value*> in = arguments(op, 1);
  const int branches[] = {region(op, a.then_graph(), "the branch"), region(op, a.else_graph(), "the branch")};
  if (!op.ok()) return;
  ir::Graph& g = op.b.graph();
  ir::Node* n = g.add_node(op.b.block(), ir::kIf, nullptr, 0, {condition}, op.outputs(), op.b.name());
  for (const int branch : branches) {
    ir::Block& block = g.add_block(n);
    std::vector<Value*> out;
    if (!op.importer.import_region(branch, block, in, where(op), &out)) return op.fail("a branch is not supported");
    if (out.size() != op.outputs())
      return op.fail("a branch gives " + std::to_string(out.size()) + " results; expected " + std::to_string(op.outputs()));
    for (Value* v : out) g.add_result(block, v);
  }
  set_all(op, n);
}

void import_while_loop(Op& op) {
  const auto& a = op.attributes<fb::WhileLoopAttribute>();
  const std::vector<Value*> start = arguments(op, 0);
  const int condition = region(op, a.cond_graph(), "the condition"), body = region(op, a.body_graph(), "the body");
  if (!op.ok()) return;
  if (op.outputs() != start.size())
    return op.fail("a loop has as many outputs as inputs; found " + std::to_string(op.outputs()) + " and " + std::to_string(start.size()));
  const auto import = [&op](int index) {
    return [&op, index](ir::Block& block, const std::vector<Value*>& in, std::vector<Value*>* out) {
      return op.importer.import_region(index, block, in, where(op), out);
    };
  };
  std::string error;
  const ir::Node* n = add_while(op.b, start, op.importer.options().max_trips, import(condition), import(body), &error);
  if (n == nullptr) return op.fail(error);
  for (size_t i = 0; i < op.outputs(); ++i) op.set(i, n->outputs[i]);
}

void import_variable(Op& op) {
  if (op.outputs() == 1) state_of(op);
  else op.fail("expected one output, found " + std::to_string(op.outputs()));
}

// The contents as they are now: a later write does not change what was read.
void import_variable_read(Op& op) {
  Value* state = state_of(op);
  if (op.ok()) op.set(op.op(OpId::copy, {state}));
}

// The variable is an operand beside the value, or the output.
void import_variable_write(Op& op) {
  const size_t value = op.inputs() > 1 && !op.in(0).variable.empty() ? 1 : 0;
  Value *state = state_of(op), *v = op.value(value);
  if (!op.ok()) return;
  if (state->type != v->type) return op.fail("expected what the variable '" + state->name + "' holds, found " + describe(op.in(value)));
  ir::Node* n = op.b.graph().add_node(op.b.block(), ir::kAssign, nullptr, 0, {state, v}, 0, op.b.name());
  std::string error;
  if (!ir::infer(*n, &error)) op.fail(error);
}

}  // namespace mote::frontends::tosa
