#include "mote/compiler/frontends/tosa/import.h"

#include <algorithm>

#include "mote/compiler/frontends/common/open_dims.h"

namespace mote::frontends::tosa {
namespace {

bool aligned(const ir::Bytes& b, DType t) { return reinterpret_cast<uintptr_t>(b.data) % std::max<size_t>(1, dtype_bytes(t)) == 0; }

std::vector<uint8_t> unpack_int4(const ir::Bytes& from, size_t count) {
  std::vector<uint8_t> to(count);
  for (size_t i = 0; i < count; ++i) {
    const uint8_t byte = from.data[i / 2], nibble = i % 2 != 0 ? byte >> 4 : byte & 15;
    to[i] = static_cast<uint8_t>(nibble >= 8 ? nibble - 16 : nibble);
  }
  return to;
}

std::vector<uint8_t> unpack_int48(const ir::Bytes& from, size_t count) {
  std::vector<uint8_t> to(count * 8);
  for (size_t i = 0; i < count; ++i) {
    std::copy_n(from.data + i * 6, 6, to.data() + i * 8);
    to[i * 8 + 6] = to[i * 8 + 7] = (from.data[i * 6 + 5] & 0x80) != 0 ? 0xff : 0;
  }
  return to;
}

}  // namespace

void Importer::problem(const std::string& where, const std::string& what, const std::string& advice) {
  problems_.push_back({where, what, advice});
}

bool Importer::take_bytes(uint64_t size, std::string* error) {
  if (size > bytes_left_) {
    *error = "the model's constants would take more memory than a file of this size can account for";
    return false;
  }
  bytes_left_ -= size;
  return true;
}

Value* Importer::constant_of(const Tensor& t, std::string* error) {
  Value*& v = constants_[&t];
  if (v != nullptr) return v;
  if (t.dtype == DType::kNone) {
    *error = "'" + std::string(t.name) + "' has element type " + describe(t) + ", which Mote has no tensors of";
    return nullptr;
  }
  const size_t count = static_cast<size_t>(ir::Type{t.dtype, t.dims, 0}.count());
  ir::Bytes data = t.data;
  const bool packed = t.source_type == fb::DType::INT4 || t.source_type == fb::DType::INT48;
  const bool odd_bools = t.dtype == DType::boolean && std::any_of(data.data, data.data + data.size, [](uint8_t x) { return x > 1; });
  if (packed || odd_bools || (data.size > 0 && !aligned(data, t.dtype))) {
    if (!take_bytes(count * dtype_bytes(t.dtype), error)) return nullptr;
    std::vector<uint8_t> made;
    if (t.source_type == fb::DType::INT4) made = unpack_int4(data, count);
    else if (t.source_type == fb::DType::INT48) made = unpack_int48(data, count);
    else made.assign(data.data, data.data + data.size);
    for (uint8_t& x : made) x = odd_bools ? x != 0 : x;
    data = ir::Bytes::own(std::move(made));
  }
  v = graph_.add_constant(t.dtype, t.dims, data, std::string(t.name));
  return v;
}

Value* Importer::variable(const Tensor& t, std::string* error) {
  const std::string_view name = t.variable.empty() ? t.name : t.variable;
  const auto found = variables_.find(name);
  if (found != variables_.end()) return found->second;
  // The contents that it begins with stand where it is declared.
  const Tensor* declared = &t;
  for (const Region& r : model_.regions)
    for (const Operator& o : r.operators)
      for (const std::string_view out : o.outputs) {
        const Tensor* other = o.code == fb::Op::VARIABLE ? r.tensor(out) : nullptr;
        if (other != nullptr && (other->variable.empty() ? other->name : other->variable) == name) declared = other;
      }
  if (declared->dtype == DType::kNone || declared->is_open()) {
    *error = "the variable '" + std::string(name) + "' must have a plain type and a fixed shape; found " + describe(*declared);
    return nullptr;
  }
  ir::Bytes first;
  if (declared->data.present()) {
    const Value* contents = constant_of(*declared, error);
    if (contents == nullptr) return nullptr;
    first = contents->data;
  }
  return variables_[name] = graph_.add_state(std::string(name), declared->dtype, declared->dims, first);
}

Value* Importer::value_of(Scope& scope, std::string_view name, std::string* error) {
  const auto found = scope.values.find(name);
  if (found != scope.values.end()) return found->second;
  const Tensor* t = scope.region->tensor(name);
  const std::string quoted = "'" + std::string(name.substr(0, 200)) + "'";
  if (t == nullptr)
    *error = scope.region->shape_of.count(name) != 0 ? quoted + " is a shape, expected a tensor" : "there is no tensor " + quoted;
  else if (t->data.present() || std::find(t->dims.begin(), t->dims.end(), 0) != t->dims.end()) return constant_of(*t, error);
  else *error = "tensor " + quoted + " is used before anything computes it";
  return nullptr;
}

const std::vector<int64_t>* Importer::shape_of(Scope& scope, std::string_view name) {
  const auto made = scope.sizes.find(name);
  if (made != scope.sizes.end()) return &made->second;
  const auto found = scope.region->shape_of.find(name);
  if (found == scope.region->shape_of.end() || !scope.region->shapes[found->second].known) return nullptr;
  return &scope.region->shapes[found->second].values;
}

void Importer::report(const Op& op, const Scope& scope, size_t index) {
  std::string where = op.b.name() + " (" + operator_name(op.code()) + ", operator " + std::to_string(index);
  if (scope.index > 0) where += " of region " + std::string(scope.region->name.substr(0, 200));
  std::string operands;
  for (size_t i = 0; i < std::min<size_t>(op.inputs(), 6); ++i)
    if (!op.in(i).name.empty()) operands += (operands.empty() ? "; inputs: " : ", ") + describe(op.in(i));
  problem(where + ")", op.b.error() + operands, op.advice());
}

// The results have the types and sizes that the file declares.
void Importer::check_outputs(Op& op, Scope& scope) {
  for (size_t i = 0; i < op.outputs(); ++i) {
    const std::string_view name = op.source.outputs[i];
    const Value* v = op.results()[i];
    const bool is_shape = scope.sizes.count(name) != 0 || scope.region->shape_of.count(name) != 0;
    const Tensor& declared = op.out(i);
    if (v == nullptr) {
      if (!is_shape && op.code() != fb::Op::VARIABLE && op.code() != fb::Op::VARIABLE_WRITE)
        op.fail("output " + std::to_string(i) + " is not supported");
      continue;
    }
    if (declared.name.empty()) return op.fail("the output '" + std::string(name.substr(0, 200)) + "' is not among the tensors");
    bool same = declared.dtype == v->type.dtype;
    for (size_t k = 0; declared.ranked && same && k < declared.dims.size(); ++k)
      same = declared.dims.size() == v->type.dims.size() && (declared.dims[k] < 0 || declared.dims[k] == v->type.dims[k]);
    if (declared.ranked && declared.dims.empty() && !v->type.dims.empty()) same = false;
    if (!same) {
      std::string dims;
      for (const int32_t d : v->type.dims) dims += (dims.empty() ? "" : ", ") + std::to_string(d);
      op.fail("expected an output of " + std::string(dtype_name(v->type.dtype)) + " (" + dims + "), found " + describe(declared));
    }
  }
}

bool Importer::import_operator(Scope& scope, size_t index) {
  const Operator& source = scope.region->operators[index];
  const bool poisoned =
      std::any_of(source.inputs.begin(), source.inputs.end(), [&](std::string_view n) { return scope.failed.count(n) != 0; });
  const std::string name =
      source.outputs.empty() ? operator_name(source.code) + "_" + std::to_string(index) : std::string(source.outputs[0]);
  ir::NodeBuilder builder(graph_, *scope.block, name);
  Op op(*this, scope, source, builder);
  const OpImporter importer = find_importer(source.code);
  if (--operators_left_ < 0) op.fail("the regions call each other too often: more than 400,000 operators in all");
  else if (importer.import == nullptr)
    op.fail("the operator is not supported", "express it with other operators; docs/tosa.md lists what Mote reads");
  else if (source.inputs.size() < importer.inputs)
    op.fail("expected " + std::to_string(importer.inputs) + " inputs, found " + std::to_string(source.inputs.size()));
  else if (!poisoned) importer.import(op);
  if (op.ok() && !poisoned) check_outputs(op, scope);
  const bool fine = op.ok() && !poisoned;
  for (size_t i = 0; i < source.outputs.size(); ++i) {
    if (fine && op.results()[i] != nullptr) scope.values[source.outputs[i]] = op.results()[i];
    if (!fine) scope.failed.insert(source.outputs[i]);
  }
  if (!op.ok()) report(op, scope, index);
  return fine;
}

bool Importer::import_region(int index, ir::Block& block, const std::vector<Value*>& arguments, const std::string& where,
                             std::vector<Value*>* results) {
  const Region& r = model_.regions[static_cast<size_t>(index)];
  if (r.inputs.size() != arguments.size()) {
    problem(where, "region '" + std::string(r.name.substr(0, 200)) + "' takes " + std::to_string(r.inputs.size()) + " inputs; found " +
                       std::to_string(arguments.size()));
    return false;
  }
  if (!entered_.insert(index).second) {
    problem(where, "region '" + std::string(r.name.substr(0, 200)) + "' calls itself", "write the recursion as a WHILE_LOOP");
    return false;
  }
  Scope scope;
  scope.region = &r;
  scope.index = index;
  scope.block = &block;
  for (size_t i = 0; i < arguments.size(); ++i) scope.values[r.inputs[i]] = arguments[i];
  bool fine = true;
  for (size_t i = 0; i < r.operators.size() && operators_left_ >= 0; ++i) fine &= import_operator(scope, i);
  for (const std::string_view name : r.outputs) {
    std::string error;
    Value* v = fine ? value_of(scope, name, &error) : nullptr;
    if (fine && v == nullptr) {
      problem(where, error);
      fine = false;
    }
    results->push_back(v);
  }
  entered_.erase(index);
  return fine;
}

// Makes a symbol for each open dimension that --dim bounds. False when some are left, or an input is none.
bool Importer::find_inputs(const Region& main) {
  std::vector<OpenDim> open;
  for (const std::string_view name : main.inputs) {
    const Tensor* t = main.tensor(name);
    if (t == nullptr) {
      problem("input " + std::string(name.substr(0, 200)), "expected one of the tensors of the main region; there is none of this name");
      continue;
    }
    if (options_.shapes.count(std::string(name)) != 0) continue;
    if (!t->ranked)
      problem("input " + std::string(name), "its rank is not known", "--shape " + std::string(name) + "=SIZExSIZE gives its shape");
    for (size_t i = 0; i < t->dims.size(); ++i) {
      if (t->dims[i] >= 0) continue;
      const std::string symbol = std::string(name) + "." + std::to_string(i);
      const auto range = options_.dims.find(symbol);
      if (range == options_.dims.end()) open.push_back({symbol, std::string(name), static_cast<int>(i), t->dims});
      else graph_.symbols.push_back(make_symbol(options_, symbol, range->second.min, range->second.max));
    }
  }
  if (!open.empty()) report_open(open, graph_, &problems_);
  return problems_.empty();
}

Value* Importer::add_input(ir::Method& method, const Tensor& t) {
  const std::string name(t.name);
  if (t.dtype == DType::kNone) {
    problem("input " + name, "expected a plain number type, found " + describe(t));
    return nullptr;
  }
  const auto given = options_.shapes.find(name);
  const Dims dims = given != options_.shapes.end() ? given->second : t.dims;
  std::vector<int> symbols(dims.size(), -1);
  for (size_t i = 0; i < dims.size(); ++i)
    for (size_t s = 0; dims[i] < 0 && s < graph_.symbols.size(); ++s)
      if (graph_.symbols[s].name == name + "." + std::to_string(i)) symbols[i] = static_cast<int>(s);
  bool fine = dims.size() <= static_cast<size_t>(kMaxRank);
  for (size_t i = 0; i < dims.size(); ++i) fine = fine && (dims[i] >= 0 || symbols[i] >= 0);
  Value* v = fine ? graph_.add_input(method, name, t.dtype, dims, symbols) : nullptr;
  if (v == nullptr || v->type.byte_size() > kMaxTensorBytes) {
    problem("input " + name, "expected at most 8 dimensions of at least 0 and 2 GB in all");
    return nullptr;
  }
  return v;
}

bool Importer::run() {
  bytes_left_ = uint64_t{model_.source.bytes.size} * 16 + (uint64_t{64} << 20);
  const Region& main = model_.regions[0];
  if (!find_inputs(main)) return false;
  ir::Method& method = graph_.add_method("main");
  std::vector<Value*> arguments, results;
  for (const std::string_view name : main.inputs) {
    arguments.push_back(add_input(method, *main.tensor(name)));
    if (arguments.back() == nullptr) return false;
  }
  if (!import_region(0, *method.block, arguments, "main", &results) || !problems_.empty()) return false;
  std::set<Value*> given;
  for (size_t i = 0; i < results.size(); ++i) {
    Value* v = results[i];
    const std::string name(main.outputs[i]);
    // An output of its own for what is no result of an operator, or is given twice.
    if (v->kind != ir::ValueKind::kResult || !given.insert(v).second) v = ir::NodeBuilder(graph_, *method.block, name).op(OpId::copy, {v});
    if (v == nullptr) {
      problem("output " + name, "the output has a type that cannot be given out");
      return false;
    }
    graph_.add_output(method, name, v);
  }
  return true;
}

}  // namespace mote::frontends::tosa
