// Exported programs as methods: inputs, parameters, states, outputs.

#include <algorithm>
#include <set>

#include "mote/compiler/frontends/torch/archive.h"
#include "mote/compiler/frontends/torch/import.h"

namespace mote::frontends::torch {

bool Importer::read_parts(std::vector<Part>* parts) {
  for (const ExportedMethod& m : model_.methods) {
    Part p;
    p.exported = &m;
    std::string error;
    if (m.program != nullptr) {
      p.program = *m.program;
    } else if (!read_program(m.json, &p.program, &error)) {
      problem("method '" + m.name + "'", "the exported program cannot be read: " + error, "export it with PyTorch 2.13");
      continue;
    }
    p.written = changed_names(p.program.graph);
    for (const InputSpec& in : p.program.inputs)
      for (const OutputSpec& out : p.program.outputs)
        if (out.kind == OutputSpec::Kind::kBuffer && in.kind == InputSpec::Kind::kBuffer && in.target == out.target)
          p.written.insert(in.name);
    for (const InputSpec& in : p.program.inputs)
      if (const auto it = m.tensors.find(in.target); p.written.count(in.name) != 0 && it != m.tensors.end()) written_.insert(it->second);
    parts->push_back(std::move(p));
  }
  std::vector<const ProgramDef*> programs;
  for (const Part& p : *parts) programs.push_back(&p.program);
  check_option_names(programs, options_, problems_);
  return problems_->empty();
}

void Importer::run() {
  std::vector<Part> parts;
  std::set<std::string> names;
  for (const ExportedMethod& m : model_.methods)
    if (!names.insert(m.name).second) problem("method '" + m.name + "'", "is there twice");
  if (!read_parts(&parts)) return;
  // Every symbol is there before the first input: what is known of values counts samples of them.
  for (Part& p : parts) resolve_inputs(p.program, options_, p.exported->name, graph_, problems_, &p.ranges, &p.shapes);
  if (!problems_->empty()) return;  // without sizes nothing else can be judged
  if (parts.empty()) return problem("model", "has no methods");
  graph_.evidence.emplace_back("source.format", model_.format);
  if (!parts[0].program.torch_version.empty()) graph_.evidence.emplace_back("source.producer", "torch " + parts[0].program.torch_version);
  for (const Part& p : parts) graph_.add_method(p.exported->name);
  for (const Part& p : parts) import_part(p);
}

void Importer::import_part(const Part& part) {
  ir::Method& method =
      *std::find_if(graph_.methods.begin(), graph_.methods.end(), [&](const ir::Method& m) { return m.name == part.exported->name; });
  ranges_ = &part.ranges;
  Scope scope;
  scope.graph = &part.program.graph;
  scope.block = method.block.get();
  for (const OutputSpec& o : part.program.outputs)
    if (!o.value.text.empty()) scope.needed.insert(o.value.text);
  scope.find_live();
  if (!add_inputs(part, method, scope)) return;
  import_nodes(scope);
  add_outputs(part, method, scope);
  write_back(part, method, scope);
}

const size_t* Importer::index_of(const Part& part, const InputSpec& spec) {
  const auto it = part.exported->tensors.find(spec.target);
  if (it != part.exported->tensors.end() && it->second < model_.tensors.size()) return &it->second;
  problem("tensor '" + spec.target + "'", "the file has no data for it");
  return nullptr;
}

// Whether it is a buffer whose first content is zeros. Sizes that make no sense are left to dense_bytes.
static bool empty_state(const TensorData& t, ir::Dims* dims) {
  if (t.bytes.present() || t.dtype == DType::kNone || t.shape.size() > static_cast<size_t>(kMaxRank)) return false;
  ir::Type type{t.dtype, {}, 0};
  for (const int64_t size : t.shape) {
    if (size < 0 || size > INT32_MAX) return false;
    type.dims.push_back(static_cast<int32_t>(size));
  }
  *dims = type.dims;
  return type.fits();
}

Value* Importer::parameter(const Part& part, const InputSpec& spec) {
  const size_t* index = index_of(part, spec);
  if (index == nullptr) return nullptr;
  const bool written = written_.count(*index) != 0;
  Value*& v = written ? states_[*index] : constants_[*index];
  if (v != nullptr) return v;
  ir::Dims dims;
  ir::Bytes bytes;
  std::string error;
  if (written && empty_state(model_.tensors[*index], &dims)) return v = graph_.add_state(spec.target, model_.tensors[*index].dtype, dims);
  if (!dense_bytes(model_.tensors[*index], &dims, &bytes, &error)) {
    problem("tensor '" + spec.target + "'", error);
    return nullptr;
  }
  const TensorData& source = model_.tensors[*index];
  // What a stride of 0 repeats is bounded for each tensor; so is the sum.
  if (bytes.owner != source.bytes.owner) copied_ += bytes.size;
  largest_ = std::max<uint64_t>(largest_, source.bytes.size);
  if (copied_ > kMostCopied + largest_ * kMostRepeats) {
    problem("tensor '" + spec.target + "'",
            "repeats elements: with the tensors before it that takes " + std::to_string(copied_) + " bytes");
    return nullptr;
  }
  const DType dtype = source.dtype;
  v = written ? graph_.add_state(spec.target, dtype, dims, bytes) : graph_.add_constant(dtype, dims, bytes, spec.target);
  return v;
}

bool Importer::add_input(const Part& part, const InputSpec& spec, ir::Method& method, Scope& scope) {
  using Kind = InputSpec::Kind;
  switch (spec.kind) {
    case Kind::kUser: {
      Value* v = nullptr;
      if (spec.symbolic) {
        v = graph_.add_input(method, spec.name, DType::s64, {});
      } else {
        const InputShape& shape = part.shapes.at(spec.name);
        v = graph_.add_input(method, spec.name, part.program.graph.tensors.at(spec.name).dtype, shape.dims, shape.symbols);
      }
      scope.names[spec.name] = v;
      return true;
    }
    case Kind::kLiteral:
    case Kind::kToken: return true;
    case Kind::kObject:
      scope.names[spec.name] = nullptr;
      return problem("'" + spec.target + "'", "is a Python object, not a tensor"), false;
    default:
      if (!scope.needs(spec.name)) return true;
      return (scope.names[spec.name] = parameter(part, spec)) != nullptr;
  }
}

bool Importer::add_inputs(const Part& part, ir::Method& method, Scope& scope) {
  const size_t before = problems_->size();
  for (const InputSpec& spec : part.program.inputs) add_input(part, spec, method, scope);
  return problems_->size() == before;
}

Value* Importer::output_value(const Item& item, Scope& scope) {
  using Kind = Item::Kind;
  switch (item.kind) {
    case Kind::kInt: return graph_.scalar<int64_t>(item.i);
    case Kind::kFloat: return graph_.scalar<double>(item.f);
    case Kind::kBool: return graph_.add_constant(DType::boolean, {}, ir::Bytes::own({static_cast<uint8_t>(item.i)}));
    case Kind::kTensor:
    case Kind::kSymbol:
      if (!scope.knows(item.text)) problem("output '" + item.text + "'", "no node computes it");
      else if (!scope.aliases.refresh(*this, item.text, scope)) return nullptr;
      return scope.find(item.text);
    default: return nullptr;
  }
}

void Importer::add_outputs(const Part& part, ir::Method& method, Scope& scope) {
  using Kind = OutputSpec::Kind;
  const ProgramDef& program = part.program;
  std::set<std::string> taken;
  const auto user = [](const OutputSpec& o) { return o.kind == Kind::kUser; };
  const auto users = static_cast<size_t>(std::count_if(program.outputs.begin(), program.outputs.end(), user));
  const bool named = program.output_names.size() == users;
  size_t at = 0;
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    const OutputSpec& spec = program.outputs[i];
    if (spec.kind == Kind::kOther)
      problem("output " + std::to_string(i), "is a gradient; programs for inference have none", "export the model without its loss");
    if (spec.kind == Kind::kParameter) problem("'" + spec.target + "'", "a parameter is changed; only buffers may be");
    if (!user(spec)) continue;
    const std::string base = named ? program.output_names[at++] : spec.value.text.empty() ? "output_" + std::to_string(i) : spec.value.text;
    if (spec.value.kind == Item::Kind::kNone) continue;
    Value* v = output_value(spec.value, scope);
    if (v == nullptr) continue;  // reported where it failed
    // What is given back is what it is now: a state may change behind it.
    if (v->kind == ir::ValueKind::kState) v = ir::NodeBuilder(graph_, *scope.block, spec.value.text).op(OpId::copy, {v});
    std::string name = base;
    for (int k = 2; !taken.insert(name).second; ++k) name = base + "_" + std::to_string(k);
    graph_.add_output(method, name, v);
  }
}

// What the program changed: buffers become states that are assigned to, inputs additional outputs.
void Importer::write_back(const Part& part, ir::Method& method, Scope& scope) {
  std::map<std::string, std::string> now;  // by target: the name that holds what it became
  for (const OutputSpec& o : part.program.outputs)
    if (o.kind == OutputSpec::Kind::kBuffer || o.kind == OutputSpec::Kind::kUserInput) now[o.target] = o.value.text;
  for (const InputSpec& spec : part.program.inputs) {
    const bool user = spec.kind == InputSpec::Kind::kUser;
    const auto it = now.find(user ? spec.name : spec.target);
    if (part.written.count(spec.name) == 0 && it == now.end()) continue;
    Item item;
    item.kind = Item::Kind::kTensor;
    item.text = it != now.end() ? it->second : spec.name;
    Value* to = output_value(item, scope);
    if (to == nullptr) continue;
    if (user) {
      graph_.add_output(method, spec.name + ".mutated", to);
      continue;
    }
    const size_t* index = index_of(part, spec);
    Value* state = index == nullptr ? nullptr : states_[*index];
    if (state == nullptr || state == to) continue;
    ir::Node* n = graph_.add_node(*scope.block, ir::kAssign, nullptr, 0, {state, to}, 0, spec.target);
    std::string error;
    if (!ir::infer(*n, &error)) problem("buffer '" + spec.target + "'", error);
  }
}

bool import_exported(const ExportedModel& model, const ImportOptions& options, ir::Graph& graph, ir::Problems* problems) {
  const size_t before = problems->size();
  ir::Problems own;
  Importer(model, options, graph, &own).run();
  problems->insert(problems->end(), own.begin(), own.end());
  return problems->size() == before;
}

namespace {

bool recognises(const Source& source) { return is_archive(source.bytes); }

bool import(const Source& source, const ImportOptions& options, ir::Graph& graph, ir::Problems* problems) {
  ExportedModel model;
  return read_archive(source, &model, problems) && import_exported(model, options, graph, problems);
}

}  // namespace

extern const Frontend kFrontend;
const Frontend kFrontend = {"torch", ".pt2", &recognises, nullptr, &import};

}  // namespace mote::frontends::torch
