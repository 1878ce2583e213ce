// What sizes the inputs of a model have: as it says, as --shape fixes and as --dim bounds them.

#include <algorithm>

#include "mote/compiler/frontends/common/open_dims.h"
#include "mote/compiler/frontends/onnx/import.h"

namespace mote::frontends::onnx {
namespace {

using ::onnx::ValueInfoProto;

constexpr int32_t kOpen = -2;  // a size that neither the model nor the options give

// A dimension that can be given sizes: its name as --dim knows it.
std::string dim_name(const ValueInfoProto& input, int axis) {
  const auto& d = input.type().tensor_type().shape().dim(axis);
  const bool named = d.has_dim_param() && !d.dim_param().empty() && d.dim_param() != "?";  // Paddle writes "?" for every unnamed one
  return named ? d.dim_param() : input.name() + "." + std::to_string(axis);
}

bool stated(const ValueInfoProto& input, int axis) {
  const auto& d = input.type().tensor_type().shape().dim(axis);
  return d.has_dim_value() && d.dim_value() >= 0;
}

// Sizes as the model states them, -1 where it does not.
ir::Dims stated_dims(const ValueInfoProto& input) {
  ir::Dims dims;
  for (int i = 0; i < input.type().tensor_type().shape().dim_size(); ++i)
    dims.push_back(
        stated(input, i) ? static_cast<int32_t>(std::min<int64_t>(input.type().tensor_type().shape().dim(i).dim_value(), INT32_MAX)) : -1);
  return dims;
}

class Resolver {
 public:
  Resolver(const ImportOptions& options, ir::Graph& graph, ir::Problems* problems, InputShapes* out)
      : options_(options), graph_(graph), problems_(problems), out_(out) {}

  // Takes what --shape says; remembers the sizes it gives to named dimensions.
  void read_shape_option(const ValueInfoProto& input) {
    const auto given = options_.shapes.find(input.name());
    const bool ranked = input.type().tensor_type().has_shape();
    const int rank = input.type().tensor_type().shape().dim_size();
    if (given == options_.shapes.end()) return;
    if (ranked && static_cast<int>(given->second.size()) != rank) {
      refuse(input, "has " + std::to_string(rank) + " dimensions, --shape gives " + std::to_string(given->second.size()));
      return;
    }
    for (int i = 0; ranked && i < rank; ++i) {
      const int32_t size = given->second[static_cast<size_t>(i)];
      if (stated(input, i)) {
        out_->overridden |= input.type().tensor_type().shape().dim(i).dim_value() != size;
        continue;
      }
      const auto [it, is_new] = out_->bounds.emplace(dim_name(input, i), size);
      if (!is_new && it->second != size)
        refuse(input, "dimension '" + it->first + "' has size " + std::to_string(it->second) + " in another input, --shape gives " +
                          std::to_string(size));
    }
  }

  InputShape resolve(const ValueInfoProto& input) {
    InputShape shape;
    const auto given = options_.shapes.find(input.name());
    const auto& dims = input.type().tensor_type().shape().dim();
    if (given != options_.shapes.end()) {
      shape.dims = given->second;
    } else if (!input.type().tensor_type().has_shape()) {
      refuse(input, "has no shape", "give one: --shape " + input.name() + "=1x3x224x224");
    } else if (dims.size() > kMaxRank) {
      refuse(input, "expected at most " + std::to_string(kMaxRank) + " dimensions, found " + std::to_string(dims.size()));
    } else {
      for (int i = 0; i < dims.size(); ++i) shape.dims.push_back(size_of(input, i, &shape));
    }
    shape.symbols.resize(shape.dims.size(), -1);
    return shape;
  }

  const std::vector<OpenDim>& open() const { return open_; }

 private:
  void refuse(const ValueInfoProto& input, const std::string& what, const std::string& advice = "") {
    problems_->push_back({"input '" + input.name() + "'", what, advice});
  }

  int32_t size_of(const ValueInfoProto& input, int axis, InputShape* shape) {
    shape->symbols.resize(static_cast<size_t>(axis) + 1, -1);
    if (stated(input, axis)) {
      const int64_t size = input.type().tensor_type().shape().dim(axis).dim_value();
      if (size <= INT32_MAX) return static_cast<int32_t>(size);
      refuse(input, "dimension " + std::to_string(axis) + " has size " + std::to_string(size));
      return kOpen;
    }
    const std::string name = dim_name(input, axis);
    auto range = options_.dims.find(name);
    if (range == options_.dims.end()) range = options_.dims.find(input.name() + "." + std::to_string(axis));
    if (range == options_.dims.end()) {
      if (const auto it = out_->bounds.find(name); it != out_->bounds.end()) return it->second;
      open_.push_back({name, input.name(), axis, stated_dims(input)});
      return kOpen;
    }
    const DimRange r = range->second;
    if (r.min < 0 || r.max < r.min) {
      refuse(input, "--dim " + name + " gives " + std::to_string(r.min) + ".." + std::to_string(r.max) + ", expected 0 <= MIN <= MAX");
      return kOpen;
    }
    out_->bounds[name] = r.max;
    if (r.min == r.max) return r.max;
    shape->symbols[static_cast<size_t>(axis)] = symbol(name, r);
    return r.max;
  }

  int symbol(const std::string& name, DimRange range) {
    for (size_t i = 0; i < graph_.symbols.size(); ++i)
      if (graph_.symbols[i].name == name) return static_cast<int>(i);
    graph_.symbols.push_back(make_symbol(options_, name, range.min, range.max));
    return static_cast<int>(graph_.symbols.size()) - 1;
  }

  const ImportOptions& options_;
  ir::Graph& graph_;
  ir::Problems* problems_;
  InputShapes* out_;
  std::vector<OpenDim> open_;
};

// Options that name nothing in the model are mistakes worth telling.
void check_option_names(const std::vector<const ValueInfoProto*>& inputs, const ImportOptions& options, ir::Problems* problems) {
  std::vector<std::string> known_inputs, known_dims;
  NameSet input_names, dim_names;
  for (const auto* in : inputs) {
    known_inputs.push_back(in->name());
    input_names.insert(in->name());
    for (int i = 0; i < in->type().tensor_type().shape().dim_size(); ++i) {
      if (stated(*in, i)) continue;
      if (dim_names.insert(dim_name(*in, i)).second) known_dims.push_back(dim_name(*in, i));
      dim_names.insert(in->name() + "." + std::to_string(i));
    }
  }
  for (const auto& [name, dims] : options.shapes)
    if (input_names.count(name) == 0) problems->push_back(no_such_input(name, known_inputs));
  for (const auto& [name, range] : options.dims)
    if (dim_names.count(name) == 0) problems->push_back(no_such_dim(name, known_dims));
}

bool check_kind(const ValueInfoProto& input, ir::Problems* problems) {
  const auto& type = input.type();
  std::string what;
  if (type.has_tensor_type()) {
    const int element = type.tensor_type().elem_type();
    if (storage_of(element) != DType::kNone || element == ::onnx::TensorProto::STRING) return true;
    what = "has element type " + onnx_type_name(element) + ", which Mote does not have";
  } else {
    what = type.has_sequence_type()        ? "is a sequence"
           : type.has_optional_type()      ? "is an optional"
           : type.has_map_type()           ? "is a map"
           : type.has_sparse_tensor_type() ? "is a sparse tensor"
                                           : "has no type";
    what += "; programs take tensors only";
  }
  problems->push_back({"input '" + input.name() + "'", what, "change the model so that this input is a tensor of numbers"});
  return false;
}

}  // namespace

bool resolve_inputs(const std::vector<const ValueInfoProto*>& inputs, const ImportOptions& options, ir::Graph& graph,
                    ir::Problems* problems, InputShapes* out) {
  const size_t before = problems->size();
  check_option_names(inputs, options, problems);
  for (const auto* in : inputs) check_kind(*in, problems);
  Resolver resolver(options, graph, problems, out);
  for (const auto* in : inputs) resolver.read_shape_option(*in);
  for (const auto* in : inputs) out->of.push_back(resolver.resolve(*in));
  if (!resolver.open().empty() && problems->size() == before) {
    ImportOptions assumed = options;
    if (assume_batch(resolver.open(), &assumed, graph)) {
      *out = {};
      graph.symbols.clear();
      return resolve_inputs(inputs, assumed, graph, problems, out);
    }
  }
  if (!resolver.open().empty()) report_open(resolver.open(), graph, problems);
  for (size_t i = 0; i < inputs.size() && problems->size() == before; ++i) {
    const int element = inputs[i]->type().tensor_type().elem_type();
    const ir::Type type{element == ::onnx::TensorProto::STRING ? DType::s64 : storage_of(element), out->of[i].dims, 0};
    const bool negative = std::any_of(type.dims.begin(), type.dims.end(), [](int32_t d) { return d < 0; });
    if (negative || !type.fits())
      problems->push_back({"input '" + inputs[i]->name() + "'", "has a negative size or more than 2147483647 bytes", ""});
  }
  return problems->size() == before;
}

}  // namespace mote::frontends::onnx
