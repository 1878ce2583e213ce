#include "mote/compiler/frontends/onnx/importer.h"

#include "mote/compiler/frontends/onnx/import.h"
#include "mote/compiler/frontends/onnx/narrow_words.h"
#include "mote/compiler/frontends/onnx/tensor.h"

namespace mote::frontends::onnx {

Entity Entity::sequence(std::vector<Entity> items, Value* length) {
  return {Kind::kSequence, nullptr, std::make_shared<const std::vector<Entity>>(std::move(items)), length};
}

bool NodeContext::wants(int i) const {
  return i >= 0 && i < proto.output_size() && !proto.output(i).empty() && scope.used->count(proto.output(i)) != 0;
}

void NodeContext::out(int i, Value* value, int element) {
  if (i < 0 || value == nullptr) return;
  const size_t at = static_cast<size_t>(i);
  if (outputs.size() <= at) outputs.resize(at + 1);
  elements.resize(outputs.size());
  outputs[at] = value;
  elements[at] = element;
}

std::optional<ir::Type> NodeContext::declared(int i) const {
  if (i < 0 || i >= proto.output_size()) return std::nullopt;
  return importer.declared_type(scope, proto.output(i));
}

const ::onnx::AttributeProto* NodeContext::attr(const char* name) const {
  for (const auto& a : proto.attribute())
    if (a.name() == name) return scope.resolve(a);
  return nullptr;
}

int64_t NodeContext::attr_int(const char* name, int64_t otherwise) const {
  const auto* a = attr(name);
  return a != nullptr && a->has_i() ? a->i() : otherwise;
}

float NodeContext::attr_float(const char* name, float otherwise) const {
  const auto* a = attr(name);
  return a != nullptr && a->has_f() ? a->f() : otherwise;
}

std::string NodeContext::attr_string(const char* name, const std::string& otherwise) const {
  const auto* a = attr(name);
  return a != nullptr && a->has_s() ? a->s() : otherwise;
}

std::vector<int64_t> NodeContext::attr_ints(const char* name, const std::vector<int64_t>& otherwise) const {
  const auto* a = attr(name);
  if (a == nullptr) return otherwise;
  return {a->ints().begin(), a->ints().end()};
}

std::vector<float> NodeContext::attr_floats(const char* name) const {
  const auto* a = attr(name);
  if (a == nullptr) return {};
  return {a->floats().begin(), a->floats().end()};
}

bool NodeContext::ints(int input, const char* attribute, std::vector<int64_t>* out) const {
  out->clear();
  if (const Value* v = in(input); v != nullptr) return ir::known_ints(*v, out);
  if (attribute != nullptr) *out = attr_ints(attribute);
  return true;
}

Value* NodeContext::constant(const ::onnx::TensorProto& tensor) {
  std::string error;
  Value* v = importer.make_constant(tensor, "", &error);
  if (v == nullptr) fail(error);
  const NarrowType* narrow = narrow_type(tensor.data_type());
  if (v == nullptr || narrow == nullptr || has_packed_kernels(*narrow)) return v;
  Words words(b);
  return spread_codes(words, v, *narrow);
}

void NodeContext::fail(const std::string& what, const std::string& with_advice) {
  if (b.ok()) {
    advice = with_advice;
    refused = true;
  }
  b.fail(what);
}

}  // namespace mote::frontends::onnx
