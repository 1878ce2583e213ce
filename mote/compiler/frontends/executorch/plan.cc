#include "mote/compiler/frontends/executorch/plan.h"

#include <algorithm>

namespace mote::frontends::executorch {

bool Plan::wrong(const std::string& where, const std::string& what, const std::string& advice) {
  shared_.problems.push_back({"method '" + name_ + "'" + (where.empty() ? "" : ", " + where), what, advice});
  return false;
}

const fb::EValue* Plan::value_at(int64_t index) const {
  return index < 0 || index >= static_cast<int64_t>(value_count()) ? nullptr : table_.values()->Get(static_cast<uint32_t>(index));
}

const fb::Tensor* Plan::tensor_at(int64_t index) const {
  const fb::EValue* v = value_at(index);
  return v == nullptr ? nullptr : v->val_as_Tensor();
}

bool Plan::read(torch::ExportedMethod* out) {
  out_ = out;
  name_ = out->name = text_of(table_.name());
  program_ = std::make_shared<torch::ProgramDef>();
  graph_ = &program_->graph;
  values_.resize(value_count());
  const size_t before = shared_.problems.size();
  if (!check_table()) return false;
  add_inputs();
  const auto* chains = table_.chains();
  const auto* instructions = chains == nullptr || chains->size() == 0 ? nullptr : chains->Get(0)->instructions();
  read_instructions(0, instructions == nullptr ? 0 : instructions->size(), 0);
  add_outputs();
  name_outputs();
  out->program = program_;
  return shared_.problems.size() == before;
}

bool Plan::check_table() {
  if (table_.chains() != nullptr && table_.chains()->size() > 1)
    return wrong("", "expected one chain of instructions, found " + std::to_string(table_.chains()->size()));
  for (uint32_t i = 0; i < value_count(); ++i) {
    const fb::Tensor* t = tensor_at(i);
    if (t == nullptr) continue;
    const std::string place = "value " + std::to_string(i);
    const uint32_t rank = t->sizes() == nullptr ? 0 : t->sizes()->size();
    if (rank > static_cast<uint32_t>(kMaxRank))
      return wrong(place, "expected at most " + std::to_string(kMaxRank) + " dimensions, found " + std::to_string(rank));
    if (t->storage_offset() != 0) return wrong(place, "expected storage offset 0, found " + std::to_string(t->storage_offset()));
    ir::Type type{torch::to_dtype(scalar_type_of(t->scalar_type())), {}, 0};
    uint32_t seen = 0;
    for (uint32_t k = 0; k < rank; ++k) {
      if (t->sizes()->Get(k) < 0) return wrong(place, "expected sizes of at least 0, found " + std::to_string(t->sizes()->Get(k)));
      type.dims.push_back(t->sizes()->Get(k));
      const auto* order = t->dim_order();
      if (order != nullptr && order->size() == rank && order->Get(k) < rank) seen |= 1u << order->Get(k);
    }
    if (t->dim_order() != nullptr && t->dim_order()->size() != 0 && seen != (1u << rank) - 1)
      return wrong(place, "its dim_order is no order of its " + std::to_string(rank) + " dimensions");
    if (type.dtype != DType::kNone && t->shape_dynamism() != fb::TensorShapeDynamism::DYNAMIC_UNBOUND && !type.fits())
      return wrong(place, "the tensor is larger than 2 GB");
  }
  return true;
}

void Plan::add_inputs() {
  for (uint32_t n = 0; table_.inputs() != nullptr && n < table_.inputs()->size(); ++n) {
    const int64_t index = table_.inputs()->Get(n);
    const fb::Tensor* t = tensor_at(index);
    torch::InputSpec spec;
    spec.name = "input_" + std::to_string(n);
    if (value_at(index) == nullptr) {
      wrong(spec.name, "there is no value " + std::to_string(index));
      continue;
    }
    if (t == nullptr) continue;  // a number or text: the program was made for this one value
    Value& v = values_[static_cast<size_t>(index)];
    if (!v.name.empty()) {
      wrong(spec.name, "is the same value as another input");
      continue;
    }
    torch::TensorMeta meta = meta_of(*t);
    for (size_t axis = 0; axis < meta.sizes.size(); ++axis) {
      torch::SymNumber& size = meta.sizes[axis];
      const auto open = open_.find({n, axis});
      if (open == open_.end() || t->shape_dynamism() == fb::TensorShapeDynamism::STATIC) {
        size.expression = "";
        continue;
      }
      size.expression = "Symbol('" + open->second + "')";
      torch::Range& range = program_->ranges[open->second];
      range.max = range.bounded ? std::min(range.max, size.value) : size.value;
      range.min = std::min<int64_t>(1, range.max);
      range.bounded = true;
    }
    program_->graph.tensors[spec.name] = meta;
    v.name = spec.name;
    v.placeholder = true;
    hold(*t, {index, spec.name});
    program_->inputs.push_back(spec);
  }
}

void Plan::add_outputs() {
  for (uint32_t n = 0; table_.outputs() != nullptr && n < table_.outputs()->size(); ++n) {
    const int64_t index = table_.outputs()->Get(n);
    torch::OutputSpec spec;
    if (!read_item(index, false, &spec.value)) continue;
    program_->outputs.push_back(spec);
  }
}

// What nodes compute and the method gives back is called output_N.
void Plan::name_outputs() {
  std::unordered_set<std::string> computed;
  for (const torch::NodeDef& n : program_->graph.nodes)
    for (const Item& o : n.outputs) computed.insert(o.text);
  std::unordered_map<std::string, std::string> names;
  for (size_t i = 0; i < program_->outputs.size(); ++i) {
    const std::string& name = program_->outputs[i].value.text;
    if (computed.count(name) != 0) names.emplace(name, "output_" + std::to_string(i));
  }
  const auto apply = [&](Item& item) {
    if (const auto it = names.find(item.text); it != names.end() && item.kind != Item::Kind::kString) item.text = it->second;
  };
  // Graphs of branches have these names among their operands too, and are shared: what they call an operand stays as it is.
  for (torch::NodeDef& n : program_->graph.nodes) {
    for (Item& o : n.outputs) apply(o);
    for (torch::NamedArg& a : n.inputs)
      for (Item& i : a.arg.items) apply(i);
  }
  for (torch::OutputSpec& o : program_->outputs) apply(o.value);
  for (const auto& [from, to] : names) {
    const auto it = program_->graph.tensors.find(from);
    if (it != program_->graph.tensors.end()) program_->graph.tensors[to] = it->second;
  }
}

}  // namespace mote::frontends::executorch
