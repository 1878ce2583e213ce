#include "mote/compiler/schedule/build.h"

#include <algorithm>

#include "mote/format/reader.h"
#include "mote/ops/op_docs.h"

namespace mote::schedule {

bool StepBuilder::fail(const ir::Node& node, const std::string& why) {
  const OpDoc* doc = find_op_doc(node.op);
  const std::string what = !node.symbol.empty() ? node.symbol : doc != nullptr ? "mote::" + doc->name : "control";
  error_ = "'" + node.name + "' (" + what + "): " + why;
  return false;
}

bool StepBuilder::run() {
  plan_.metadata = graph_.metadata;
  plan_.evidence = graph_.evidence;
  for (const ir::Value* s : graph_.states()) state_of(*s);
  const bool fine = std::all_of(graph_.methods.begin(), graph_.methods.end(), [&](const ir::Method& m) { return method(m); });
  if (!too_large_.empty()) error_ = too_large_;  // later failures may follow from it
  return fine && too_large_.empty();
}

TensorId StepBuilder::add_tensor(const ir::Type& type, Storage storage, const std::string& name) {
  Tensor t;
  if (!type.fits()) {
    if (too_large_.empty())
      too_large_ = "'" + name + "' would have " + std::to_string(type.rank()) + " dimensions and " + std::to_string(type.byte_size()) +
                   " bytes; at most 8 dimensions and 2 GiB are possible";
    return add_tensor({type.dtype, {}, 0}, storage, name);
  }
  t.name = name;
  t.desc.dtype = type.dtype;
  t.desc.rank = static_cast<uint8_t>(type.dims.size());
  t.desc.storage = storage;
  t.desc.dynamic = type.dynamic;
  std::copy(type.dims.begin(), type.dims.end(), t.desc.dims);
  set_dense_strides(t.desc);
  if (storage == Storage::kArena || storage == Storage::kState) {
    Buffer b;
    b.bytes = extent_bytes(t.desc);
    b.state = storage == Storage::kState;
    t.place = static_cast<int32_t>(plan_.buffers.size());
    plan_.buffers.push_back(b);
  }
  plan_.tensors.push_back(std::move(t));
  return static_cast<TensorId>(plan_.tensors.size() - 1);
}

TensorId StepBuilder::add_view(TensorId of, uint64_t at, DType dtype, const ir::Dims& dims) {
  Tensor t = plan_.tensor(of);
  t.desc = TensorDesc{};
  t.desc.dtype = dtype;
  t.desc.storage = Storage::kArena;
  t.desc.rank = static_cast<uint8_t>(dims.size());
  std::copy(dims.begin(), dims.end(), t.desc.dims);
  set_dense_strides(t.desc);
  t.at += at;
  plan_.tensors.push_back(std::move(t));
  return static_cast<TensorId>(plan_.tensors.size() - 1);
}

TensorId StepBuilder::add_constant(DType dtype, const ir::Dims& dims, const ir::Bytes& data, Layout layout, const std::string& name) {
  const TensorId id = add_tensor({dtype, dims, 0}, Storage::kConstant, name);
  Tensor& t = plan_.tensor(id);
  t.desc.layout = layout;
  if (layout != Layout::kPlain) std::fill(t.desc.strides, t.desc.strides + kMaxRank, 0);
  t.place = static_cast<int32_t>(plan_.constants.size());
  plan_.constants.push_back({data, name});
  return id;
}

TensorId StepBuilder::ints(const std::vector<int64_t>& values) {
  return add_constant(DType::s64, {static_cast<int32_t>(values.size())}, ir::Bytes::copy_of(values.data(), values.size() * 8),
                      Layout::kPlain, "");
}

TensorId StepBuilder::state_of(const ir::Value& value) {
  const auto found = tensors_.find(value.id);
  if (found != tensors_.end()) return found->second;
  const TensorId id = add_tensor(value.type, Storage::kState, value.name);
  State s{value.name, id, kNone};
  if (value.data.present()) s.init = add_constant(value.type.dtype, value.type.dims, value.data, Layout::kPlain, value.name);
  plan_.states.push_back(s);
  return tensors_[value.id] = id;
}

TensorId StepBuilder::tensor_of(const ir::Value& value) {
  const auto found = tensors_.find(value.id);
  if (found != tensors_.end()) return found->second;
  if (value.kind == ir::ValueKind::kState) return state_of(value);
  if (!value.is_constant()) return kNone;  // its node has not run at this point
  return tensors_[value.id] = add_constant(value.type.dtype, value.type.dims, value.data, value.layout, value.name);
}

TensorId StepBuilder::output_of(const ir::Value& value) {
  const auto place = requested_.find(value.id);
  const TensorId t = place != requested_.end() ? place->second : add_tensor(value.type, Storage::kArena, value.name);
  values_[t] = &value;
  return tensors_[value.id] = t;
}

bool StepBuilder::request_place(const ir::Value& value, const ir::Block& block, TensorId place) {
  if (value.kind != ir::ValueKind::kResult || value.producer->block != &block || requested_.count(value.id) > 0) return false;
  const TensorDesc& d = plan_.tensor(place).desc;
  const ir::Type held{d.dtype, ir::Dims(d.dims, d.dims + d.rank), d.dynamic};
  if (held != value.type) return false;
  requested_[value.id] = place;
  return true;
}

TensorId StepBuilder::add_io(const ir::Value& value, Storage storage, size_t index) {
  const TensorId t = add_tensor(value.type, io_in_arena_ ? Storage::kArena : storage, value.name);
  if (!io_in_arena_) plan_.tensor(t).place = static_cast<int32_t>(index);
  plan_.tensor(t).quant = value.quant;
  return t;
}

bool StepBuilder::method(const ir::Method& method) {
  const ir::Block& body = *method.block;
  Method m;
  m.name = method.name;
  m.first_step = static_cast<uint32_t>(plan_.steps.size());
  for (size_t i = 0; i < body.arguments.size(); ++i) {
    const ir::Value& v = *body.arguments[i];
    const TensorId t = add_io(v, Storage::kInput, i);
    values_[t] = &v;
    tensors_[v.id] = t;
    m.inputs.push_back({method.input_names[i], t});
  }
  std::vector<size_t> copied;
  for (size_t i = 0; i < body.results.size(); ++i) {
    const ir::Value& v = *body.results[i];
    const TensorId t = add_io(v, Storage::kOutput, i);
    m.outputs.push_back({method.output_names[i], t});
    if (!request_place(v, body, t)) copied.push_back(i);
    if (dtype_bits(v.type.dtype) < 8) {
      error_ = "output '" + method.output_names[i] + "' has a type of 4 bits, which no operator can write";
      return false;
    }
  }
  if (!block(body)) return false;
  for (size_t i : copied) copy(tensor_of(*body.results[i]), m.outputs[i].tensor, method.output_names[i]);
  m.step_count = static_cast<uint32_t>(plan_.steps.size()) - m.first_step;
  plan_.methods.push_back(std::move(m));
  return true;
}

bool StepBuilder::block(const ir::Block& block) {
  for (const ir::Node* n : order_(block))
    if (!node(*n)) return false;
  return true;
}

bool StepBuilder::node(const ir::Node& node) {
  for (const ir::Value* v : node.inputs)
    if (v != nullptr && tensor_of(*v) == kNone) return fail(node, "'" + v->name + "' is used before it is computed");
  switch (node.op) {
    case ir::kIf: return if_node(node);
    case ir::kLoop: return loop_node(node);
    case ir::kAssign: return assign_node(node);
    case static_cast<uint16_t>(ControlOp::kDelegate): return delegate_node(node);
    default: return operation(node);
  }
}

}  // namespace mote::schedule
