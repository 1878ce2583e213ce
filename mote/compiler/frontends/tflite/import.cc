#include "mote/compiler/frontends/tflite/import.h"

#include <algorithm>
#include <cstring>

#include "mote/compiler/frontends/tflite/sparse.h"

namespace mote::frontends::tflite {

std::string tensor_name(const SubGraph& g, int tensor) {
  const std::string_view name = g.tensors[static_cast<size_t>(tensor)].name;
  return name.empty() ? "tensor_" + std::to_string(tensor) : std::string(name);
}

namespace {

bool aligned(const ir::Bytes& b, DType t) {
  const size_t width = std::max<size_t>(1, dtype_bytes(t));
  return reinterpret_cast<uintptr_t>(b.data) % width == 0;
}

void unpack_s4(const ir::Bytes& from, std::vector<uint8_t>* to) {
  for (size_t i = 0; i < to->size(); ++i) {
    const uint8_t byte = from.data[i / 2], nibble = i % 2 != 0 ? byte >> 4 : byte & 15;
    (*to)[i] = static_cast<uint8_t>(nibble >= 8 ? nibble - 16 : nibble);
  }
}

}  // namespace

void Importer::problem(const std::string& where, const std::string& what, const std::string& advice) {
  problems_.push_back({where, what, advice});
}

bool Importer::take_bytes(uint64_t size, std::vector<uint8_t>* out, std::string* error) {
  if (size > bytes_left_) {
    *error = "the model's constants would take more memory than a file of this size can account for";
    return false;
  }
  bytes_left_ -= size;
  out->resize(static_cast<size_t>(size));
  return true;
}

Value* Importer::constant_of(const Tensor& t, bool packed, std::string* error) {
  const bool unpack = t.dtype == DType::s4 && !packed;
  Value*& v = constants_[{&t, unpack}];
  if (v != nullptr) return v;
  if (t.dtype == DType::kNone) {
    *error = "'" + std::string(t.name) + "' has element type " + fb::EnumNameTensorType(t.source_type) + ", which Mote has no tensors of";
    return nullptr;
  }
  const Dims& dims = t.default_dims;  // what is written as open has the size of its data
  const uint64_t count = static_cast<uint64_t>(ir::Type{t.dtype, dims, 0}.count());
  ir::Bytes data = t.data;
  std::vector<uint8_t> made;
  if (t.sparsity != nullptr) {
    if (!take_bytes(ir::Type{t.dtype, dims, 0}.byte_size(), &made, error) || !densify(t, dims, &made, error)) return nullptr;
    data = ir::Bytes::own(std::move(made));
  }
  if (unpack) {
    if (!take_bytes(count, &made, error)) return nullptr;
    unpack_s4(data, &made);
    data = ir::Bytes::own(std::move(made));
  }
  const bool odd_bools = t.dtype == DType::boolean && std::any_of(data.data, data.data + data.size, [](uint8_t x) { return x > 1; });
  if (odd_bools || (data.size > 0 && !aligned(data, t.dtype))) {
    if (!take_bytes(data.size, &made, error)) return nullptr;
    for (size_t i = 0; i < data.size; ++i) made[i] = t.dtype == DType::boolean ? data.data[i] != 0 : data.data[i];
    data = ir::Bytes::own(std::move(made));
  }
  v = graph_.add_constant(unpack ? DType::s8 : t.dtype, dims, data, std::string(t.name));
  return v;
}

Value* Importer::state_of(Scope& scope, const Tensor& t, std::string* error) {
  (void)scope;
  Value*& v = tensor_states_[&t];
  if (v != nullptr) return v;
  if (t.dtype == DType::kNone || std::any_of(t.dims.begin(), t.dims.end(), [](int32_t d) { return d < 0; })) {
    *error = "the state '" + std::string(t.name) + "' must have a plain type and a fixed shape; found " + describe(t);
    return nullptr;
  }
  // A quantized state begins with the value that stands for zero.
  ir::Bytes first;
  if (t.dtype == DType::s8 && t.zero() != 0) {
    std::vector<uint8_t> bytes;
    if (!take_bytes(ir::Type{t.dtype, t.dims, 0}.byte_size(), &bytes, error)) return nullptr;
    std::fill(bytes.begin(), bytes.end(), static_cast<uint8_t>(t.zero()));
    first = ir::Bytes::own(std::move(bytes));
  }
  return v = graph_.add_state(std::string(t.name), t.dtype, t.dims, first);
}

Value* Importer::variable(const std::string& name, const ir::Type* like) {
  const auto found = variables_.find(name);
  if (found != variables_.end()) return found->second;
  if (like == nullptr) return nullptr;
  return variables_[name] = graph_.add_state(name, like->dtype, like->dims);
}

Value* Importer::value_of(Scope& scope, int tensor, bool packed, std::string* error) {
  const size_t i = static_cast<size_t>(tensor);
  if (scope.values[i] != nullptr) return scope.values[i];
  const Tensor& t = scope.graph->tensors[i];
  if (t.is_constant()) return constant_of(t, packed, error);
  if (t.variable) return state_of(scope, t, error);
  if (std::find(t.dims.begin(), t.dims.end(), 0) != t.dims.end() && t.dtype != DType::kNone) return constant_of(t, packed, error);
  *error = "tensor '" + tensor_name(*scope.graph, tensor) + "' is used before anything computes it";
  return nullptr;
}

void Importer::report(const Op& op, const Scope& scope, uint32_t index, const std::string& more) {
  std::string where = op.b.name() + " (" + operator_name(op.source) + ", operator " + std::to_string(index);
  if (scope.index > 0) where += " of subgraph " + std::to_string(scope.index);
  std::string operands;
  for (uint32_t i = 0; i < std::min<uint32_t>(op.inputs(), 6); ++i)
    if (op.has(i)) operands += (operands.empty() ? "; inputs: " : ", ") + describe(op.in(i));
  problem(where + ")", op.b.error() + operands + more, op.advice());
}

bool Importer::import_operator(Scope& scope, uint32_t index) {
  const Operator& source = scope.graph->operators[index];
  const auto *ins = source.table->inputs(), *outs = source.table->outputs();
  const bool poisoned =
      ins != nullptr && std::any_of(ins->begin(), ins->end(), [&](int32_t t) { return t >= 0 && scope.failed[static_cast<size_t>(t)]; });
  int first = -1;
  for (uint32_t i = 0; i < source.outputs() && first < 0; ++i) first = outs->Get(i);
  const std::string name = first >= 0 ? tensor_name(*scope.graph, first) : operator_name(source) + "_" + std::to_string(index);
  Op op(*this, scope, source, *scope.block, name);
  const size_t made = scope.block->nodes.size();
  const OpImporter importer = find_importer(source);
  uint32_t given = 0;
  while (given < importer.inputs && op.has(given)) ++given;
  if (--operators_left_ < 0) op.fail("the subgraphs call each other too often: more than 400,000 operators in all");
  else if (importer.import == nullptr)
    op.fail(std::string("the operator is not supported: ") + why_refused(source.code).why, why_refused(source.code).advice);
  else if (given < importer.inputs) op.fail("input " + std::to_string(given) + " is missing");
  else if (!poisoned && op.has(0) && is_complex(op.in(0))) import_complex(op);
  else if (!poisoned) importer.import(op);
  for (uint32_t i = 0; i < source.outputs(); ++i) {
    const int32_t t = outs->Get(i);
    if (t < 0) continue;
    Value* v = op.results()[i];
    const Tensor& declared = scope.graph->tensors[static_cast<size_t>(t)];
    if (op.ok() && !poisoned && v == nullptr && scope.handles[static_cast<size_t>(t)].empty())
      op.fail("output " + std::to_string(i) + " ('" + tensor_name(*scope.graph, t) + "') is not supported");
    if (op.ok() && v != nullptr && declared.dtype != v->type.dtype && !(declared.dtype == DType::s4 && v->type.dtype == DType::s8) &&
        !(is_complex(declared) && v->type.dtype == DType::f32))
      op.fail("expected an output of type " + std::string(dtype_name(v->type.dtype)) + ", found " + describe(declared));
    if (op.ok()) scope.values[static_cast<size_t>(t)] = v;
  }
  std::string why;
  const bool left = !op.ok() && !poisoned && options_.partial && leave_to_user(op, scope, made, &why);
  const bool fine = left || (op.ok() && !poisoned);
  graph_.source_nodes.push_back({operator_name(source), name, !op.ok()});
  for (uint32_t i = 0; !fine && i < source.outputs(); ++i)
    if (outs->Get(i) >= 0) scope.failed[static_cast<size_t>(outs->Get(i))] = true;
  if (!op.ok() && !left) report(op, scope, index, why.empty() ? "" : "; --partial cannot leave it out: " + why);
  return fine;
}

bool Importer::import_subgraph(int index, ir::Block& block, const std::vector<Value*>& arguments, bool initializing,
                               const std::string& where, std::vector<Value*>* results) {
  if (index < 0 || static_cast<size_t>(index) >= model_.subgraphs.size()) {
    problem(where, "expected a subgraph below " + std::to_string(model_.subgraphs.size()) + ", found " + std::to_string(index));
    return false;
  }
  const SubGraph& g = model_.subgraphs[static_cast<size_t>(index)];
  if (g.inputs.size() != arguments.size()) {
    problem(where, "subgraph " + std::to_string(index) + " takes " + std::to_string(g.inputs.size()) + " inputs; found " +
                       std::to_string(arguments.size()));
    return false;
  }
  if (!entered_.insert(index).second) {
    problem(where, "subgraph " + std::to_string(index) + " calls itself", "write the recursion as a WHILE loop");
    return false;
  }
  Scope scope;
  scope.graph = &g;
  scope.index = index;
  scope.block = &block;
  scope.initializing = initializing;
  scope.values.resize(g.tensors.size(), nullptr);
  scope.failed.resize(g.tensors.size(), false);
  scope.handles.resize(g.tensors.size());
  for (size_t i = 0; i < arguments.size(); ++i) scope.values[static_cast<size_t>(g.inputs[i])] = arguments[i];
  bool fine = true;
  for (uint32_t i = 0; i < g.operators.size() && operators_left_ >= 0; ++i) fine &= import_operator(scope, i);
  for (const int t : g.outputs) {
    std::string error;
    Value* v = fine ? value_of(scope, t, false, &error) : nullptr;
    if (fine && v == nullptr) {
      problem(where, error);
      fine = false;
    }
    results->push_back(v);
  }
  entered_.erase(index);
  return fine;
}

}  // namespace mote::frontends::tflite
