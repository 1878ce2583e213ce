// Inputs and outputs of the model. A sequence becomes one input or output for each element, an optional is there or is not: both are
// decided when compiling, by --dim NAME.length and NAME.present.

#include "mote/compiler/frontends/common/notes.h"
#include "mote/compiler/frontends/onnx/import.h"
#include "mote/compiler/frontends/onnx/narrow.h"
#include "mote/compiler/frontends/onnx/texts.h"
#include "mote/compiler/frontends/onnx/value_bounds.h"
#include "mote/format/evidence.h"

namespace mote::frontends::onnx {
namespace {

using ::onnx::TypeProto;
using ::onnx::ValueInfoProto;

constexpr int32_t kMostElements = 1024;  // of a sequence at the border

std::string element_name(const std::string& name, size_t i) { return name + "_" + std::to_string(i); }

// "2x3", with 8 where the type does not say; for advice.
std::string shape_example(const TypeProto& element) {
  std::string out;
  for (const auto& d : element.tensor_type().shape().dim())
    out += (out.empty() ? "" : "x") + std::to_string(d.has_dim_value() && d.dim_value() >= 0 ? d.dim_value() : 8);
  return out.empty() ? "8" : out;
}

// An input of the model as the tensors that a program takes for it.
class Expansion {
 public:
  Expansion(const ValueInfoProto& input, ImportOptions* options, const std::function<void(const std::string&, const std::string&)>& refuse)
      : input_(input), options_(options), refuse_(refuse) {}

  // False after a refusal.
  bool run() {
    const TypeProto* type = &input_.type();
    int32_t present = 1;
    if (type->has_optional_type()) {
      if (take("present", &present) && present != 0 && present != 1)
        return refuse("--dim " + input_.name() + ".present gives " + std::to_string(present) + ", expected 0 (absent) or 1", "");
      type = &type->optional_type().elem_type();
    }
    if (present == 0) {
      absent = true;
      int32_t ignored;
      take("length", &ignored);
      return true;
    }
    if (!type->has_sequence_type()) return add(input_.name(), *type);
    sequence = true;
    const TypeProto& element = type->sequence_type().elem_type();
    int32_t length = 0;
    if (!take("length", &length)) length = count_shapes();
    if (length < 0)
      return refuse("is a sequence, and nothing says how many elements it has",
                    "say how many: --dim " + input_.name() + ".length=3, or give the shape of each: --shape " +
                        element_name(input_.name(), 0) + "=" + shape_example(element) + " --shape " + element_name(input_.name(), 1) + "=" +
                        shape_example(element));
    if (length > kMostElements)
      return refuse("is a sequence of " + std::to_string(length) + " elements, expected at most " + std::to_string(kMostElements), "");
    for (int32_t i = 0; i < length; ++i) add(element_name(input_.name(), static_cast<size_t>(i)), element);
    return true;
  }

  std::vector<ValueInfoProto> tensors;
  bool sequence = false, absent = false;

 private:
  bool refuse(const std::string& what, const std::string& advice) {
    refuse_(what, advice);
    return false;
  }
  bool add(const std::string& name, const TypeProto& type) {
    tensors.emplace_back();
    tensors.back().set_name(name);
    *tensors.back().mutable_type() = type;
    if (!sequence || !type.has_tensor_type() || !type.tensor_type().has_shape()) return true;
    // Elements may differ in the sizes that a sequence's type names or leaves open.
    for (auto& d : *tensors.back().mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) d.clear_dim_param();
    return true;
  }
  // The value of --dim NAME.what, which is used up by that.
  bool take(const char* what, int32_t* out) {
    const auto it = options_->dims.find(input_.name() + "." + what);
    if (it == options_->dims.end()) return false;
    *out = it->second.max;
    options_->dims.erase(it);
    return true;
  }
  // How many elements --shape speaks of; -1: none.
  int32_t count_shapes() const {
    int32_t n = 0;
    while (n <= kMostElements && options_->shapes.count(element_name(input_.name(), static_cast<size_t>(n))) != 0) ++n;
    return n == 0 ? -1 : n;
  }

  const ValueInfoProto& input_;
  ImportOptions* options_;
  const std::function<void(const std::string&, const std::string&)>& refuse_;
};

}  // namespace

void Importer::add_inputs(const ::onnx::GraphProto& g, Scope& scope) {
  NameSet initialised;
  for (const auto& t : g.initializer()) initialised.insert(t.name());
  for (const auto& t : g.sparse_initializer()) initialised.insert(t.values().name());
  ImportOptions of_inputs = options_;
  for (auto it = of_inputs.dims.begin(); it != of_inputs.dims.end();)
    it = bounds_value(*model_, it->first) ? of_inputs.dims.erase(it) : std::next(it);
  const ValueRanges ranges = take_value_ranges(g, &of_inputs);
  std::vector<std::pair<const ValueInfoProto*, Expansion>> given;
  for (const auto& i : g.input()) {
    if (initialised.count(i.name()) != 0) continue;
    const std::function<void(const std::string&, const std::string&)> refuse = [&](const std::string& what, const std::string& advice) {
      problem("input '" + i.name() + "'", what, advice);
    };
    given.emplace_back(&i, Expansion(i, &of_inputs, refuse));
    if (!given.back().second.run()) scope.names[i.name()] = Entity::poisoned();
  }
  std::vector<const ValueInfoProto*> inputs;
  NameSet names;
  for (const auto& [input, expansion] : given) {
    for (const ValueInfoProto& v : expansion.tensors) {
      inputs.push_back(&v);
      if (!names.insert(v.name()).second) problem("input '" + v.name() + "'", "there are two of this name");
    }
  }
  InputShapes shapes;
  if (!resolve_inputs(inputs, of_inputs, graph_, problems_, &shapes) || !problems_->empty()) return;
  fixed_dims_ = std::move(shapes.bounds);
  trust_declared_ = !shapes.overridden;
  size_t at = 0;
  for (const auto& [input, expansion] : given) {
    std::vector<Entity> elements;
    for (size_t k = 0; k < expansion.tensors.size(); ++k, ++at) {
      elements.push_back(add_input(*inputs[at], shapes.of[at]));
      const auto bounded = ranges.find(inputs[at]->name());
      if (bounded == ranges.end()) continue;
      std::string error;
      elements.back().value = bound_values(graph_, *scope.block, elements.back().value, bounded->second, &error);
      if (elements.back().value == nullptr) problem("input '" + bounded->first + "'", error);
      else add_note(graph_, "input '" + bounded->first + "': values outside of what --dim gives are taken as the nearest inside");
    }
    if (expansion.absent) scope.names[input->name()] = Entity::empty_optional();
    else scope.names[input->name()] = expansion.sequence ? Entity::sequence(std::move(elements)) : elements[0];
  }
}

Entity Importer::add_input(const ValueInfoProto& input, const InputShape& shape) {
  const int element = input.type().tensor_type().elem_type();
  const bool is_text = element == ::onnx::TensorProto::STRING;
  Value* v = graph_.add_input(graph_.methods[0], input.name(), is_text ? DType::s64 : storage_of(element), shape.dims, shape.symbols);
  if (is_text) {
    texts_->mark(v);
    texts_->note_input(graph_, input.name());
  }
  note_element(kElementInput, input.name(), element);
  return Entity::tensor(v, narrow_element(element));
}

void Importer::add_output(const std::string& name, const Entity& e) {
  const std::string where = "output '" + name + "'";
  switch (e.kind) {
    case Entity::Kind::kTensor: {
      Entity codes = e;
      spread_result(&codes, *graph_.methods[0].block);
      if (codes.value == nullptr) return;
      if (texts_->is_text(codes.value)) texts_->note_output(graph_, name);
      graph_.add_output(graph_.methods[0], name, codes.value);
      return note_element(kElementOutput, name, e.element);
    }
    case Entity::Kind::kSequence:
      if (e.is_stacked()) {
        add_note(graph_, where + " is a sequence; the program gives one tensor, its elements along the first axis");
        return add_output(name, Entity::tensor(e.value, e.element));
      }
      if (e.length != nullptr) {
        add_note(graph_, where + " is a sequence; the output '" + name + "_length' tells how many of its elements count");
        graph_.add_output(graph_.methods[0], name + "_length", e.length);
      }
      for (size_t i = 0; i < e.list->size(); ++i) add_output(element_name(name, i), (*e.list)[i]);
      if (e.list->empty()) add_note(graph_, where + " is an empty sequence: the program has no output for it");
      return;
    case Entity::Kind::kAbsent:
    case Entity::Kind::kEmptyOptional: add_note(graph_, where + " is an absent optional: the program has no output for it"); return;
    case Entity::Kind::kPoisoned: return;
  }
}

void Importer::add_outputs(const ::onnx::GraphProto& g, Scope& scope) {
  for (const auto& o : g.output()) {
    const Entity* e = scope.find(o.name());
    if (e == nullptr) problem("output '" + o.name() + "'", "no node computes it");
    else add_output(o.name(), *e);
  }
  NameSet names;
  for (const std::string& name : graph_.methods[0].output_names)
    if (!names.insert(name).second) problem("output '" + name + "'", "there are two of this name", "rename one of them");
  if (g.output_size() == 0) problem("model", "has no outputs");
  else if (names.empty() && problems_->empty()) problem("model", "gives no tensor: its outputs are empty sequences or absent optionals");
}

}  // namespace mote::frontends::onnx
