// What instructions read and write: numbers, constants, states, views of planned memory.

#include <algorithm>

#include "mote/compiler/frontends/executorch/plan.h"

namespace mote::frontends::executorch {
namespace {

const fb::ExtraTensorInfo& extra_of(const fb::Tensor& t) {
  static const flatbuffers::FlatBufferBuilder* const empty = [] {
    auto* b = new flatbuffers::FlatBufferBuilder;
    b->Finish(fb::CreateExtraTensorInfo(*b));
    return b;
  }();
  return t.extra_tensor_info() != nullptr ? *t.extra_tensor_info() : *flatbuffers::GetRoot<fb::ExtraTensorInfo>(empty->GetBufferPointer());
}

}  // namespace

// The serialized numbers count from 1, but bf16 and the wide unsigned integers stand elsewhere.
int scalar_type_of(int8_t t) {
  if (t == 15) return 13;                // bf16
  if (t == 28 || t == 29) return t + 6;  // u32, u64
  if (t >= 23 && t <= 26) return 29;     // the 8-bit floats
  if (t >= 12 && t <= 22) return 0;      // quantized and packed bits
  return t < 0 || t > 27 ? 0 : t + 1;
}

torch::TensorMeta Plan::meta_of(const fb::Tensor& t) const {
  torch::TensorMeta meta;
  meta.scalar_type = scalar_type_of(t.scalar_type());
  meta.dtype = torch::to_dtype(meta.scalar_type);
  for (uint32_t k = 0; t.sizes() != nullptr && k < t.sizes()->size(); ++k) {
    torch::SymNumber size;
    size.value = t.sizes()->Get(k);
    if (t.shape_dynamism() == fb::TensorShapeDynamism::DYNAMIC_BOUND) size.expression = "Integer(" + std::to_string(size.value) + ")";
    if (t.shape_dynamism() == fb::TensorShapeDynamism::DYNAMIC_UNBOUND) size.expression = "Symbol('unbounded')";
    meta.sizes.push_back(size);
  }
  return meta;
}

void Plan::declare(const std::string& name, const fb::Tensor& t) { graph_->tensors[name] = meta_of(t); }

bool Plan::place_of(const fb::Tensor& t, Place* out) {
  const fb::AllocationDetails* a = t.allocation_info();
  if (a == nullptr) return false;
  *out = {a->memory_id(), static_cast<uint64_t>(a->memory_offset_high()) << 32 | a->memory_offset_low()};
  return true;
}

uint64_t Plan::bytes_of(const fb::Tensor& t) {
  ir::Type type{torch::to_dtype(scalar_type_of(t.scalar_type())), {}, 0};
  for (uint32_t k = 0; t.sizes() != nullptr && k < t.sizes()->size(); ++k) type.dims.push_back(t.sizes()->Get(k));
  return type.dtype == DType::kNone ? 0 : static_cast<uint64_t>(type.byte_size());
}

// Inside a branch every change is undone when the branch ends.
void Plan::hold(const fb::Tensor& t, Holder holder) {
  Place place;
  if (!place_of(t, &place)) return;
  if (undo_ != nullptr) {
    const auto it = holders_.find(place);
    const bool there = it != holders_.end();
    const Holder before = there ? it->second : Holder{};
    undo_->push_back({[this, place, there, before] {
      if (there) holders_[place] = before;
      else holders_.erase(place);
    }});
  }
  holders_[place] = std::move(holder);
}

void Plan::rename(int64_t index, const std::string& name) {
  Value& v = values_[static_cast<size_t>(index)];
  if (undo_ != nullptr) undo_->push_back({[this, index, before = v.name] { values_[static_cast<size_t>(index)].name = before; }});
  v.name = name;
}

torch::Item Plan::define(int64_t index) {
  Item item;
  const fb::EValue* e = value_at(index);
  if (e == nullptr) return item;
  Value& v = values_[static_cast<size_t>(index)];
  const fb::Tensor* t = e->val_as_Tensor();
  item.kind = t != nullptr ? Item::Kind::kTensor : Item::Kind::kSymbol;
  item.text = "v" + std::to_string(index) + (v.writes == 0 ? "" : "." + std::to_string(v.writes));
  ++v.writes;
  if (t != nullptr) declare(item.text, *t);
  if (v.placeholder) return item;  // written back by a copy
  rename(index, item.text);
  if (written_ != nullptr) (*written_)[index] = item.text;
  if (t != nullptr) hold(*t, {index, item.text});
  return item;
}

size_t Plan::place_tensor(const std::string& key, const fb::Tensor& t, const std::optional<ir::Bytes>& bytes) {
  const auto it = shared_.tensors.find(key);
  if (it != shared_.tensors.end()) return it->second;
  torch::TensorData data;
  data.dtype = torch::to_dtype(scalar_type_of(t.scalar_type()));
  const uint32_t rank = t.sizes() == nullptr ? 0 : t.sizes()->size();
  for (uint32_t k = 0; k < rank; ++k) data.shape.push_back(t.sizes()->Get(k));
  if (t.dim_order() != nullptr && t.dim_order()->size() == rank && rank > 0) {
    data.strides.assign(rank, 1);
    int64_t stride = 1;
    for (uint32_t k = rank; k-- > 0;) {
      const uint8_t axis = t.dim_order()->Get(k);
      data.strides[axis] = stride;
      stride *= std::max<int64_t>(data.shape[axis], 1);
    }
  }
  if (bytes) data.bytes = *bytes;
  shared_.model.tensors.push_back(std::move(data));
  return shared_.tensors[key] = shared_.model.tensors.size() - 1;
}

// What tells two tensors over the same bytes apart.
static std::string shape_key(const fb::Tensor& t) {
  std::string key = " " + std::to_string(t.scalar_type());
  for (uint32_t k = 0; t.sizes() != nullptr && k < t.sizes()->size(); ++k) key += "," + std::to_string(t.sizes()->Get(k));
  for (uint32_t k = 0; t.dim_order() != nullptr && k < t.dim_order()->size(); ++k) key += "." + std::to_string(t.dim_order()->Get(k));
  return key;
}

std::string Plan::add_constant(int64_t index, const fb::Tensor& t) {
  const fb::ExtraTensorInfo& extra = extra_of(t);
  const bool external = extra.location() == fb::TensorDataLocation::EXTERNAL;
  const std::string fqn = text_of(extra.fully_qualified_name());
  const std::optional<ir::Bytes> bytes = external ? shared_.program.named(fqn) : shared_.program.constant(t.data_buffer_idx(), bytes_of(t));
  if (!bytes || bytes->size < bytes_of(t)) {
    wrong("value " + std::to_string(index),
          external
              ? "its data '" + fqn + "' (" + std::to_string(bytes_of(t)) + " bytes) is not in the program and in no .ptd file beside it"
              : "its " + std::to_string(bytes_of(t)) + " bytes of data do not lie in the file",
          external ? "put the .ptd file that was exported with the program into its folder" : "export the program again");
    return "";
  }
  torch::InputSpec spec;
  spec.kind = torch::InputSpec::Kind::kParameter;
  spec.name = "c" + std::to_string(index);
  spec.target = fqn.empty() ? "constant_" + std::to_string(index) : fqn;
  while (out_->tensors.count(spec.target) != 0) spec.target += "'";
  const ir::Bytes exact{bytes->owner, bytes->data, static_cast<size_t>(bytes_of(t))};
  const std::string where = external ? "named " + fqn : "constant " + std::to_string(t.data_buffer_idx());
  out_->tensors[spec.target] = place_tensor(where + shape_key(t), t, exact);
  program_->inputs.push_back(spec);
  program_->graph.tensors[spec.name] = meta_of(t);
  return values_[static_cast<size_t>(index)].name = spec.name;  // also inside a branch: it is there from the beginning
}

// A tensor in planned memory that is read before anything wrote there: a buffer that keeps its content between runs.
std::string Plan::add_state(int64_t index, const fb::Tensor& t) {
  const fb::ExtraTensorInfo& extra = extra_of(t);
  std::optional<ir::Bytes> first;
  if (t.data_buffer_idx() != 0) {
    first = shared_.program.initial(extra.mutable_data_segments_idx(), t.data_buffer_idx(), bytes_of(t));
    if (!first) {
      wrong("value " + std::to_string(index), "its initial data does not lie in the file", "export the program again");
      return "";
    }
  }
  const std::string fqn = text_of(extra.fully_qualified_name());
  torch::InputSpec spec;
  spec.kind = torch::InputSpec::Kind::kBuffer;
  spec.name = "b" + std::to_string(index);
  spec.target = fqn.empty() ? "buffer_" + std::to_string(index) : fqn;
  Place place;
  place_of(t, &place);
  // Memory of the first arena belongs to one method; buffers that methods share were planned into another one.
  const bool own = place.first < 2 && shared_.program.table().execution_plan()->size() > 1;
  if (own) spec.target = name_ + "." + spec.target;
  while (out_->tensors.count(spec.target) != 0) spec.target += "'";
  const std::string key = (own ? "method " + name_ : std::string("shared")) + " " + std::to_string(place.first) + ":" +
                          std::to_string(place.second) + shape_key(t);
  out_->tensors[spec.target] = place_tensor(key, t, first);
  program_->inputs.push_back(spec);
  program_->graph.tensors[spec.name] = meta_of(t);
  Value& v = values_[static_cast<size_t>(index)];
  v.placeholder = true;
  holders_[place] = {index, spec.name};
  return v.name = spec.name;
}

// The exporter leaves out instructions that only give memory another shape.
std::string Plan::view_of(int64_t index, const fb::Tensor& t, const Holder& holder) {
  const fb::Tensor* base = tensor_at(holder.value);
  if (base == nullptr || base->scalar_type() != t.scalar_type() || bytes_of(*base) != bytes_of(t) ||
      t.shape_dynamism() != fb::TensorShapeDynamism::STATIC) {
    wrong("value " + std::to_string(index), "is read before anything writes it; its memory holds value " + std::to_string(holder.value));
    return "";
  }
  torch::NodeDef node;
  node.target = "aten.view.default";
  torch::Arg sizes;
  sizes.kind = torch::Arg::Kind::kList;
  for (uint32_t k = 0; t.sizes() != nullptr && k < t.sizes()->size(); ++k) {
    Item size;
    size.kind = Item::Kind::kInt;
    size.i = t.sizes()->Get(k);
    sizes.items.push_back(size);
  }
  node.inputs = {{"self", argument_of(tensor_item(holder.name))}, {"size", sizes}};
  Item out = tensor_item("v" + std::to_string(index) + ".view" + std::to_string(values_[static_cast<size_t>(index)].writes++));
  node.name = name_ + "/" + out.text;
  node.outputs = {out};
  declare(out.text, t);
  rename(index, out.text);
  graph_->nodes.push_back(std::move(node));
  return out.text;
}

std::string Plan::use_tensor(int64_t index) {
  const Value& v = values_[static_cast<size_t>(index)];
  if (!v.name.empty()) return v.name;
  const fb::Tensor& t = *tensor_at(index);
  if (extra_of(t).location() == fb::TensorDataLocation::EXTERNAL || (t.data_buffer_idx() != 0 && t.allocation_info() == nullptr))
    return add_constant(index, t);
  Place place;
  if (place_of(t, &place)) {
    const auto it = holders_.find(place);
    return it == holders_.end() ? add_state(index, t) : view_of(index, t, it->second);
  }
  wrong("value " + std::to_string(index), "is read before anything writes it");
  return "";
}

template <class List>
bool Plan::read_list(const List* items, torch::Arg* out) {
  out->kind = torch::Arg::Kind::kList;
  const uint32_t n = items == nullptr ? 0 : items->size();
  if (n > shared_.items_left) return wrong("", "its instructions list more arguments than a file of this size can hold");
  shared_.items_left -= n;
  for (uint32_t i = 0; i < n; ++i) {
    Item item;
    const auto index = static_cast<int64_t>(wide_at(*items, i));
    if (index != -1 && !read_item(index, false, &item)) return false;
    out->items.push_back(item);
  }
  return true;
}

bool Plan::read_item(int64_t index, bool is_type, Item* out) {
  const fb::EValue* e = value_at(index);
  if (e == nullptr) return wrong("", "there is no value " + std::to_string(index));
  if (e->val() == nullptr) return true;  // the verifier lets a kind without a table pass
  const std::string& name = values_[static_cast<size_t>(index)].name;
  if (e->val_type() == fb::KernelTypes::Tensor) {
    const fb::Tensor& t = *e->val_as_Tensor();
    // What stands for no tensor at all.
    if (name.empty() && bytes_of(t) == 0 && t.allocation_info() == nullptr && t.data_buffer_idx() == 0) return true;
    *out = tensor_item(use_tensor(index));
    return !out->text.empty();
  }
  if (!name.empty()) {
    out->kind = Item::Kind::kSymbol;
    out->text = name;
    return true;
  }
  switch (e->val_type()) {
    case fb::KernelTypes::NONE:
    case fb::KernelTypes::Null: return true;
    case fb::KernelTypes::Int:
      out->kind = is_type ? Item::Kind::kDType : Item::Kind::kInt;
      out->i = e->val_as_Int()->int_val();
      if (!is_type) return true;
      out->i = static_cast<int64_t>(torch::to_dtype(out->i < 0 || out->i > 127 ? 0 : scalar_type_of(static_cast<int8_t>(out->i))));
      return out->i != static_cast<int64_t>(DType::kNone) ||
             wrong("value " + std::to_string(index),
                   "asks for element type " + torch::scalar_type_name(scalar_type_of(static_cast<int8_t>(e->val_as_Int()->int_val()))) +
                       ", which Mote does not have");
    case fb::KernelTypes::Bool:
      out->kind = Item::Kind::kBool;
      out->i = e->val_as_Bool()->bool_val() ? 1 : 0;
      return true;
    case fb::KernelTypes::Double:
      out->kind = Item::Kind::kFloat;
      out->f = e->val_as_Double()->double_val();
      return true;
    case fb::KernelTypes::String:
      out->kind = Item::Kind::kString;
      out->text = text_of(e->val_as_String()->string_val());
      return true;
    default: return wrong("value " + std::to_string(index), "is a list inside a list");
  }
}

bool Plan::read_arg(int64_t index, bool is_type, torch::Arg* out) {
  const fb::EValue* e = value_at(index);
  if (e == nullptr) return wrong("", "there is no value " + std::to_string(index));
  if (e->val() == nullptr) return true;
  switch (e->val_type()) {
    case fb::KernelTypes::IntList: return read_list(e->val_as_IntList()->items(), out);
    case fb::KernelTypes::TensorList: return read_list(e->val_as_TensorList()->items(), out);
    case fb::KernelTypes::OptionalTensorList: return read_list(e->val_as_OptionalTensorList()->items(), out);
    case fb::KernelTypes::DoubleList:
    case fb::KernelTypes::BoolList: break;
    default: {
      Item item;
      if (!read_item(index, is_type, &item)) return false;
      *out = argument_of(item);
      return true;
    }
  }
  out->kind = torch::Arg::Kind::kList;
  const auto* doubles = e->val_as_DoubleList() == nullptr ? nullptr : e->val_as_DoubleList()->items();
  const auto* bools = e->val_as_BoolList() == nullptr ? nullptr : e->val_as_BoolList()->items();
  const uint32_t n = doubles != nullptr ? doubles->size() : bools != nullptr ? bools->size() : 0;
  if (n > shared_.items_left) return wrong("", "its instructions list more arguments than a file of this size can hold");
  shared_.items_left -= n;
  for (uint32_t i = 0; i < n; ++i) {
    Item item;
    item.kind = doubles != nullptr ? Item::Kind::kFloat : Item::Kind::kBool;
    if (doubles != nullptr) item.f = wide_at(*doubles, i);
    else item.i = bools->Get(i) != 0 ? 1 : 0;
    out->items.push_back(item);
  }
  return true;
}

}  // namespace mote::frontends::executorch
