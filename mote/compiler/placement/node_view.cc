#include "mote/compiler/placement/node_view.h"

#include <algorithm>

#include "mote/ops/op_docs.h"

namespace mote::placement {
namespace {

mote_backend_operand operand_of(const ir::Value* v) {
  mote_backend_operand o{};
  if (v == nullptr) return o;
  o.present = 1;
  o.dims = v->type.dims.data();
  o.data = v->is_constant() ? v->data.data : nullptr;
  o.dtype = static_cast<uint8_t>(v->type.dtype);
  o.rank = static_cast<uint8_t>(v->type.rank());
  o.layout = static_cast<uint8_t>(v->layout);
  o.dynamic = v->type.dynamic;
  return o;
}

}  // namespace

TensorDesc desc_of(const ir::Value& value) {
  TensorDesc d{};
  d.dtype = value.type.dtype;
  d.rank = static_cast<uint8_t>(value.type.rank());
  std::copy(value.type.dims.begin(), value.type.dims.end(), d.dims);
  d.dynamic = value.type.dynamic;
  d.layout = value.layout;
  if (d.layout == Layout::kPlain) set_dense_strides(d);
  d.storage = value.is_constant() ? Storage::kConstant : Storage::kArena;
  return d;
}

NodeView::NodeView(const ir::Node& node) : attrs_(node.attrs) {
  // Attributes that are left out at the end are zero.
  if (const OpDoc* doc = find_op_doc(node.op)) attrs_.resize(std::max<size_t>(attrs_.size(), doc->attrs_size));
  program::ProgramRecords records;
  std::vector<int32_t> operands;
  const auto add = [&](const ir::Value* v, std::vector<mote_backend_operand>& list) {
    list.push_back(operand_of(v));
    operands.push_back(v == nullptr ? -1 : static_cast<int32_t>(records.tensors.size()));
    if (v != nullptr) records.tensors.push_back(desc_of(*v));
  };
  for (const ir::Value* v : node.inputs) add(v, inputs_);
  for (const ir::Value* v : node.outputs) add(v == nullptr || v->unused() ? nullptr : v, outputs_);
  records.operands = operands;
  records.attrs = attrs_;
  const Instruction n{node.op, static_cast<uint16_t>(attrs_.size()),      0,
                      0,       static_cast<uint16_t>(node.inputs.size()), static_cast<uint16_t>(node.outputs.size())};
  if (node.is_operator()) cost_ = program::cost_of(program::CostSource(records), n);
  op_.op = node.op;
  op_.attrs = attrs_.data();
  op_.attrs_size = static_cast<uint16_t>(attrs_.size());
  op_.input_count = static_cast<uint32_t>(inputs_.size());
  op_.output_count = static_cast<uint32_t>(outputs_.size());
  op_.inputs = inputs_.data();
  op_.outputs = outputs_.data();
  op_.macs = cost_.macs;
  op_.bytes = cost_.bytes();
}

}  // namespace mote::placement
