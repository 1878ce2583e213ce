#include "mote/compiler/schedule/op_query.h"

#include <algorithm>
#include <cstring>

namespace mote::schedule {

const OpDef* definition(const OpRegistry& ops, const Step& step) {
  if (step.is_control()) return nullptr;
  return ops.find(step.op, step.op == ir::kCustom ? step.symbol.c_str() : nullptr);
}

OpQuery::OpQuery(const Plan& plan, const Step& step, const OpDef& def)
    : def_(def), attrs_(std::max<size_t>(step.attrs.size(), def.attrs_size) / 4 + 1), dynamic_((def.flags & kDataDependent) != 0) {
  for (const auto* list : {&step.inputs, &step.outputs}) {
    for (const TensorId id : *list) {
      operands_.push_back(id < 0 ? -1 : static_cast<int32_t>(tensors_.size()));
      tensors_.emplace_back();
      if (id < 0) continue;
      const Tensor& t = plan.tensor(id);
      tensors_.back().desc = &t.desc;
      dynamic_ |= t.desc.dynamic != 0;
      if (t.desc.storage == Storage::kConstant)
        tensors_.back().data = const_cast<uint8_t*>(plan.constants[static_cast<size_t>(t.place)].data.data + t.at);
    }
  }
  if (!step.attrs.empty()) std::memcpy(attrs_.data(), step.attrs.data(), step.attrs.size());
  context_.tensors = tensors_.data();
  context_.operands = operands_.data();
  context_.attr_bytes = attrs_.data();
  context_.input_count = static_cast<uint16_t>(step.inputs.size());
  context_.output_count = static_cast<uint16_t>(step.outputs.size());
}

Status OpQuery::infer(std::vector<TensorType>* types, Diagnostic* diagnostic) const {
  types->assign(context_.output_count, TensorType{});
  return def_.infer(InferContext(context_, types->data(), diagnostic));
}

}  // namespace mote::schedule
