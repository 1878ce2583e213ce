#include "mote/compiler/frontends/tflite/op.h"

#include "mote/compiler/frontends/common/bound_advice.h"
#include "mote/compiler/frontends/tflite/import.h"

namespace mote::frontends::tflite {
namespace {

const Tensor& tensor_at(const Scope& scope, const Vector<int32_t>* list, uint32_t i) {
  static const Tensor kAbsent;
  if (list == nullptr || i >= list->size() || list->Get(i) < 0) return kAbsent;
  return scope.graph->tensors[static_cast<size_t>(list->Get(i))];
}

}  // namespace

Op::Op(Importer& importer_, Scope& scope_, const Operator& source_, ir::Block& block, const std::string& name)
    : importer(importer_), scope(scope_), source(source_), b(importer_.graph(), block, name) {
  results_.resize(outputs(), nullptr);
}

const Tensor& Op::in(uint32_t i) const { return tensor_at(scope, source.table->inputs(), i); }
const Tensor& Op::out(uint32_t i) const { return tensor_at(scope, source.table->outputs(), i); }
const Tensor* Op::intermediate(uint32_t i) const {
  const auto* list = source.table->intermediates();
  return list == nullptr || i >= list->size() || list->Get(i) < 0 ? nullptr : &tensor_at(scope, list, i);
}

Value* Op::value(uint32_t i, bool packed) {
  if (!ok() || !has(i)) return nullptr;
  std::string error;
  Value* v = importer.value_of(scope, source.table->inputs()->Get(i), packed, &error);
  if (v == nullptr) fail(error);
  return v;
}

bool Op::ints(uint32_t i, std::vector<int64_t>* out) {
  const Value* v = value(i);
  return v != nullptr && ir::known_ints(*v, out);
}

bool Op::need_ints(uint32_t i, const char* what, std::vector<int64_t>* out) {
  if (ints(i, out)) return true;
  if (ok())
    fail(has(i) ? std::string(what) + " (input " + std::to_string(i) + ") must be known when compiling; found a value computed at run time"
                : std::string(what) + " (input " + std::to_string(i) + ") is missing");
  return false;
}

bool Op::need(const std::vector<uint32_t>& list) {
  for (const uint32_t i : list)
    if (!has(i)) fail("input " + std::to_string(i) + " is missing");
  return ok();
}

void Op::set(uint32_t i, Value* v) {
  if (!ok() || v == nullptr || i >= results_.size()) return;
  results_[i] = v;
  if (v->kind == ir::ValueKind::kResult && v->name.empty()) v->name = std::string(out(i).name);
}

void Op::fail(const std::string& what, const std::string& advice) {
  if (!ok()) return;
  b.fail(what);
  advice_ = advice;
}

std::string describe(const Tensor& t) {
  if (t.dtype == DType::kNone) return fb::EnumNameTensorType(t.source_type);
  std::string s = std::string(dtype_name(t.dtype)) + " (";
  for (size_t i = 0; i < t.dims.size(); ++i) s += (i > 0 ? ", " : "") + (t.dims[i] < 0 ? std::string("?") : std::to_string(t.dims[i]));
  return s + ")";
}

std::string fix_advice(const Op& op, const Value& x) {
  const std::string words = fixed_words(x, op.importer.graph());
  return words.empty() ? "fix the shapes of the inputs with --shape, or convert the model with fixed ones"
                       : "fix the size, for instance" + words;
}

}  // namespace mote::frontends::tflite
