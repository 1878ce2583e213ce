// Operator nodes: operands, inferred output types, sizes that are known only at run time.

#include "mote/compiler/ir/infer.h"
#include "mote/compiler/program/describe.h"
#include "mote/compiler/schedule/build.h"
#include "mote/compiler/schedule/op_query.h"
#include "mote/runtime/verify.h"

namespace mote::schedule {
namespace {

std::string text_of(const int32_t* dims, int rank) {
  std::string s = "(";
  for (int i = 0; i < rank; ++i) s += (i > 0 ? ", " : "") + (dims[i] == kDimUnknown ? "?" : std::to_string(dims[i]));
  return s + ")";
}

}  // namespace

bool StepBuilder::operation(const ir::Node& node) {
  const OpDef* def = ops_.find(node.op, node.op == ir::kCustom ? node.symbol.c_str() : nullptr);
  if (def == nullptr) return fail(node, "this build has no such operator");
  if (node.inputs.size() + node.outputs.size() > kMaxOperands || node.outputs.size() > kMaxOutputs)
    return fail(node, "has " + std::to_string(node.inputs.size()) + " inputs and " + std::to_string(node.outputs.size()) +
                          " outputs; at most " + std::to_string(kMaxOutputs) + " outputs and " + std::to_string(kMaxOperands) +
                          " operands are possible");
  Step s;
  s.op = node.op;
  s.attrs = node.attrs;
  s.name = node.name;
  s.symbol = node.symbol;
  for (const ir::Value* v : node.inputs) s.inputs.push_back(v == nullptr ? kNone : tensor_of(*v));
  bool any = false;
  for (size_t o = 0; o < node.outputs.size(); ++o) {
    const ir::Value* v = node.outputs[o];
    const bool may_miss = (def->optional_out & operand_bit(static_cast<uint32_t>(o))) != 0;
    const bool last_chance = !any && o + 1 == node.outputs.size();
    const bool leave_out = v == nullptr || (v->unused() && may_miss && !last_chance);
    s.outputs.push_back(leave_out ? kNone : output_of(*v));
    any = any || !leave_out;
  }
  if (!check_outputs(node, s)) return false;
  plan_.steps.push_back(std::move(s));
  return true;
}

// The output types that infer() gives; none when it rejects the upper bounds of sizes that may be smaller at run time.
bool StepBuilder::infer_outputs(const ir::Node& node, const Step& step, std::vector<TensorType>* types) {
  const OpQuery query(plan_, step, *definition(ops_, step));
  Diagnostic d;
  const Status status = query.infer(types, &d);
  if (status.ok()) return true;
  types->clear();
  if (query.dynamic() && status.code() == Status::kShape) return true;
  d.status = status;
  return fail(node, program::describe(d));
}

// Makes every output tensor of the type that infer() gives. A size that it knows only at run time becomes dynamic.
bool StepBuilder::check_outputs(const ir::Node& node, Step& step) {
  std::vector<TensorType> types;
  if (!infer_outputs(node, step, &types)) return false;
  const auto is_open = [&](size_t o) {
    const TensorDesc& d = plan_.tensor(step.outputs[o]).desc;
    for (int i = 0; i < types[o].rank && types[o].rank == d.rank; ++i)
      if (types[o].dims[i] == kDimUnknown && (d.dynamic >> i & 1) == 0) return true;
    return false;
  };
  bool open = false;
  for (size_t o = 0; o < types.size(); ++o) open |= step.outputs[o] >= 0 && is_open(o);
  if (open) {
    // Contents that shape arithmetic has determined serve as constants.
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ir::Value* v = node.inputs[i];
      const ir::Bytes* data = v == nullptr || v->is_constant() || v->type.dynamic != 0 ? nullptr : ir::known_data(*v);
      if (data != nullptr && v->type.count() <= 64)
        step.inputs[i] = add_constant(v->type.dtype, v->type.dims, *data, Layout::kPlain, v->name);
    }
    if (!infer_outputs(node, step, &types)) return false;
  }
  for (size_t o = 0; o < types.size(); ++o) {
    if (step.outputs[o] < 0) continue;
    TensorDesc& d = plan_.tensor(step.outputs[o]).desc;
    bool fits = types[o].dtype == d.dtype && types[o].rank == d.rank;
    for (int i = 0; fits && i < d.rank; ++i) {
      if (types[o].dims[i] == kDimUnknown) d.dynamic = static_cast<uint8_t>(d.dynamic | 1u << i);
      else fits = types[o].dims[i] == d.dims[i] || d.dynamic != 0;
    }
    if (!fits)
      return fail(node, "gives " + std::string(dtype_name(types[o].dtype)) + text_of(types[o].dims, types[o].rank) + "; the graph says " +
                            dtype_name(d.dtype) + text_of(d.dims, d.rank));
  }
  return true;
}

}  // namespace mote::schedule
