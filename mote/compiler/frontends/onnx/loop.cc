#include "mote/compiler/frontends/onnx/loop.h"

namespace mote::frontends::onnx {
namespace {

bool keeps_type(const Value* argument, const Value* result) {
  return argument->type.dtype == result->type.dtype && argument->type.dims == result->type.dims &&
         argument->type.dynamic == result->type.dynamic;
}

}  // namespace

LoopOutcome build_loop(NodeContext& c, const LoopSpec& spec, const std::function<bool(LoopBody&)>& write, std::vector<Value*>* out) {
  if (!c.b.ok()) return LoopOutcome::kFailed;
  ir::Graph& g = c.b.graph();
  std::vector<Value*> inputs{spec.trips, spec.condition};
  inputs.insert(inputs.end(), spec.carried.begin(), spec.carried.end());
  ir::Node* node = g.add_node(c.b.block(), ir::kLoop, nullptr, 0, inputs, spec.carried.size(), c.b.name());
  node->max_trips = spec.max_trips;
  ir::Block& block = g.add_block(node);
  LoopBody body{ir::NodeBuilder(g, block, c.b.name()),
                g.add_argument(block, "", {DType::s64, {}, 0}),
                g.add_argument(block, "", {DType::boolean, {}, 0}),
                {},
                nullptr,
                {},
                {},
                false};
  for (const Value* v : spec.carried) body.carried.push_back(g.add_argument(block, "", v->type, v->facts));
  const bool written = write(body);
  if (body.given_up) {
    g.erase(node);
    return LoopOutcome::kShapesChange;
  }
  if (!body.builder.ok()) c.fail(body.builder.error());
  if (!written || !c.b.ok()) return LoopOutcome::kFailed;
  if (body.next.size() != spec.carried.size() || (spec.scanned != kAnyScanned && body.scanned.size() != spec.scanned)) {
    c.fail("the body gives " + std::to_string(body.next.size() + body.scanned.size()) + " values");
    return LoopOutcome::kFailed;
  }
  for (size_t i = 0; i < body.next.size(); ++i) {
    if (keeps_type(body.carried[i], body.next[i])) continue;
    g.erase(node);
    return LoopOutcome::kShapesChange;
  }
  g.add_result(block, body.go_on != nullptr ? body.go_on : body.condition);
  for (Value* v : body.next) g.add_result(block, v);
  for (Value* v : body.scanned) g.add_result(block, v);
  g.add_outputs(node, body.scanned.size());
  std::string error;
  if (!ir::infer(*node, &error)) {
    c.fail(error);
    return LoopOutcome::kFailed;
  }
  *out = node->outputs;
  return LoopOutcome::kDone;
}

}  // namespace mote::frontends::onnx
