// What sizes the inputs of a method have: as the exporter says, as --shape fixes and as --dim bounds them.

#include <algorithm>
#include <set>

#include "mote/compiler/frontends/common/open_dims.h"
#include "mote/compiler/frontends/torch/expression.h"
#include "mote/compiler/frontends/torch/import.h"

namespace mote::frontends::torch {
namespace {

constexpr int64_t kMostSize = INT32_MAX;

class Resolver {
 public:
  Resolver(const ProgramDef& program, const ImportOptions& options, const std::string& method, ir::Graph& graph, ir::Problems* problems,
           std::map<std::string, Range>* ranges)
      : program_(program), options_(options), method_(method), graph_(graph), problems_(problems), ranges_(*ranges) {}

  // Takes the ranges of symbols from the program, then what the options say of them.
  void read_ranges() {
    ranges_ = program_.ranges;
    for (const InputSpec& in : program_.inputs) {
      const TensorMeta* meta = meta_of(in);
      if (meta == nullptr) continue;
      for (size_t axis = 0; axis < meta->sizes.size(); ++axis) read_options(in.name, *meta, axis);
    }
  }

  bool resolve(const InputSpec& in, InputShape* out) {
    const TensorMeta* meta = meta_of(in);
    if (meta == nullptr) return refuse(in.name, "the program does not say what it is");
    if (meta->dtype == DType::kNone)
      return refuse(in.name, "has element type " + scalar_type_name(meta->scalar_type) + ", which Mote does not have");
    if (meta->sizes.size() > static_cast<size_t>(kMaxRank)) return refuse(in.name, "has more than 8 dimensions");
    for (size_t axis = 0; axis < meta->sizes.size(); ++axis) {
      int symbol = -1;
      out->dims.push_back(static_cast<int32_t>(std::clamp<int64_t>(size_of(in.name, meta->sizes[axis], axis, &symbol), 0, kMostSize)));
      out->symbols.push_back(symbol);
    }
    const ir::Type type{meta->dtype, out->dims, 0};
    if (open_.empty() && type.byte_size() > kMaxTensorBytes) return refuse(in.name, "has more than 2147483647 bytes");
    return true;
  }

  const std::vector<OpenDim>& open() const { return open_; }

 private:
  const TensorMeta* meta_of(const InputSpec& in) const {
    const auto it = program_.graph.tensors.find(in.name);
    return in.kind != InputSpec::Kind::kUser || it == program_.graph.tensors.end() ? nullptr : &it->second;
  }
  bool refuse(const std::string& name, const std::string& what) {
    problems_->push_back({"input '" + name + "'", what, ""});
    return false;
  }

  void read_options(const std::string& input, const TensorMeta& meta, size_t axis) {
    const std::string symbol = symbol_name(meta.sizes[axis].expression);
    if (symbol.empty()) return;
    const std::string place = input + "." + std::to_string(axis);
    for (const std::string& key : {symbol, place})
      if (const auto it = options_.dims.find(key); it != options_.dims.end()) bound(symbol, key, it->second.min, it->second.max);
    const auto shape = options_.shapes.find(input);
    if (shape != options_.shapes.end() && axis < shape->second.size()) bound(symbol, input, shape->second[axis], shape->second[axis]);
  }

  void bound(const std::string& symbol, const std::string& option, int64_t min, int64_t max) {
    Range& r = ranges_[symbol];
    const auto exported = program_.ranges.find(symbol);
    if (min < 0 || max < min) {
      problems_->push_back({"--dim " + option, "expected 0 <= MIN <= MAX", ""});
    } else if (exported != program_.ranges.end() &&
               (max < exported->second.min || (exported->second.bounded && max > exported->second.max))) {
      problems_->push_back({"dimension '" + symbol + "'",
                            "the program was exported for " + std::to_string(exported->second.min) + ".." +
                                (exported->second.bounded ? std::to_string(exported->second.max) : "") + ", the options ask for " +
                                std::to_string(min) + ".." + std::to_string(max),
                            "export it with a wider range"});
    } else {
      r.min = min;
      r.max = max;
      r.bounded = true;
    }
  }

  // The size, or the bound of an open one and its symbol.
  int64_t size_of(const std::string& input, const SymNumber& size, size_t axis, int* symbol) {
    if (size.expression.empty()) {
      const auto shape = options_.shapes.find(input);
      if (shape != options_.shapes.end() && (axis >= shape->second.size() || shape->second[axis] != size.value))
        refuse(input, "--shape differs from the exported size " + std::to_string(size.value) + " of dimension " + std::to_string(axis));
      return size.value;
    }
    const std::optional<Range> r = bounds_of(size.expression, ranges_);
    const std::string name = readable(size.expression);
    if (!r || r->max > kMostSize) {
      open_.push_back({name, input, static_cast<int>(axis), stated_dims(input), least_of(size.expression)});
      return 1;
    }
    const int32_t max = static_cast<int32_t>(std::max<int64_t>(r->max, 0)), min = static_cast<int32_t>(std::clamp<int64_t>(r->min, 1, max));
    if (min >= max) return max;
    *symbol = symbol_index(name, min, max);
    return max;
  }

  // Sizes that the program states, -1 where it has an expression.
  ir::Dims stated_dims(const std::string& input) const {
    ir::Dims dims;
    for (const SymNumber& size : program_.graph.tensors.at(input).sizes)
      dims.push_back(size.expression.empty() ? static_cast<int32_t>(std::clamp<int64_t>(size.value, 0, kMostSize)) : -1);
    return dims;
  }
  int32_t least_of(const std::string& expression) const {
    const auto range = ranges_.find(symbol_name(expression));
    return range == ranges_.end() ? 1 : static_cast<int32_t>(std::clamp<int64_t>(range->second.min, 1, kMostSize));
  }

  int symbol_index(const std::string& name, int32_t min, int32_t max) {
    for (size_t i = 0; i < graph_.symbols.size(); ++i) {
      const ir::Symbol& s = graph_.symbols[i];
      if ((s.name == name || s.name == method_ + "." + name) && s.min == min && s.max == max) return static_cast<int>(i);
    }
    const bool taken = std::any_of(graph_.symbols.begin(), graph_.symbols.end(), [&](const ir::Symbol& s) { return s.name == name; });
    graph_.symbols.push_back(make_symbol(options_, taken ? method_ + "." + name : name, min, max));
    return static_cast<int>(graph_.symbols.size()) - 1;
  }

  const ProgramDef& program_;
  const ImportOptions& options_;
  const std::string& method_;
  ir::Graph& graph_;
  ir::Problems* problems_;
  std::map<std::string, Range>& ranges_;
  std::vector<OpenDim> open_;
};

}  // namespace

bool resolve_inputs(const ProgramDef& program, const ImportOptions& options, const std::string& method, ir::Graph& graph,
                    ir::Problems* problems, std::map<std::string, Range>* ranges, std::map<std::string, InputShape>* out) {
  const size_t before = problems->size();
  Resolver resolver(program, options, method, graph, problems, ranges);
  resolver.read_ranges();
  for (const InputSpec& in : program.inputs)
    if (in.kind == InputSpec::Kind::kUser && !in.symbolic) resolver.resolve(in, &(*out)[in.name]);
  if (resolver.open().empty() || problems->size() > before) return problems->size() == before;
  ImportOptions assumed = options;
  if (assume_batch(resolver.open(), &assumed, graph)) {
    out->clear();
    return resolve_inputs(program, assumed, method, graph, problems, ranges, out);
  }
  report_open(resolver.open(), graph, problems);
  return false;
}

void check_option_names(const std::vector<const ProgramDef*>& programs, const ImportOptions& options, ir::Problems* problems) {
  std::set<std::string> inputs, dims;
  for (const ProgramDef* p : programs) {
    for (const auto& [name, range] : p->ranges) dims.insert(name);
    for (const InputSpec& in : p->inputs) {
      const auto meta = p->graph.tensors.find(in.name);
      if (in.kind != InputSpec::Kind::kUser || meta == p->graph.tensors.end()) continue;
      inputs.insert(in.name);
      for (size_t i = 0; i < meta->second.sizes.size(); ++i)
        if (!meta->second.sizes[i].expression.empty()) dims.insert(in.name + "." + std::to_string(i));
    }
  }
  for (const auto& [name, shape] : options.shapes)
    if (inputs.count(name) == 0) problems->push_back(no_such_input(name, {inputs.begin(), inputs.end()}));
  for (const auto& [name, range] : options.dims)
    if (dims.count(name) == 0) problems->push_back(no_such_dim(name, {dims.begin(), dims.end()}));
}

}  // namespace mote::frontends::torch
