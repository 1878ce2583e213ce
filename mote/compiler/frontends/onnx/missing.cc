// Nodes that are refused, as custom operators for the user to fill in (--partial).

#include "mote/compiler/frontends/common/missing.h"

#include <algorithm>

#include "mote/compiler/frontends/onnx/import.h"
#include "mote/compiler/ir/nearest.h"

namespace mote::frontends::onnx {
namespace {

using ::onnx::AttributeProto;

// Empty for graphs: an operator with a body cannot be filled in from outside.
std::string text_of(const AttributeProto& a) {
  switch (a.type()) {
    case AttributeProto::FLOAT: return attribute_text(a.f());
    case AttributeProto::INT: return attribute_text(static_cast<int64_t>(a.i()));
    case AttributeProto::STRING: return attribute_text(a.s());
    case AttributeProto::FLOATS: return attribute_list(a.floats());
    case AttributeProto::INTS: return attribute_list(std::vector<int64_t>(a.ints().begin(), a.ints().end()));
    case AttributeProto::STRINGS: return attribute_list(a.strings());
    case AttributeProto::TENSOR: {
      std::string dims;
      for (const int64_t d : a.t().dims()) dims += (dims.empty() ? "" : ", ") + std::to_string(d);
      return attribute_text("a tensor of " + onnx_type_name(a.t().data_type()) + " (" + dims + ")");
    }
    default: return "";
  }
}

}  // namespace

std::string similar_op(const std::string& key) {
  const auto domain_of = [](const std::string& k) { return k.substr(0, k.rfind('.') == std::string::npos ? 0 : k.rfind('.')); };
  std::vector<std::string> known;
  for (const auto& [name, lines] : op_table())
    if (domain_of(name) == domain_of(key)) known.push_back(name);
  return ir::did_you_mean(key, known);
}

bool Importer::leave_to_user(const ::onnx::NodeProto& n, const std::string& key, Scope& scope, size_t problems, size_t nodes) {
  if (!options_.partial) return false;
  const auto cannot = [&](const std::string& why, const std::string& advice = "") {
    ir::Problem& p = problems_->back();
    p.what += "; --partial cannot leave it out: " + why;
    if (!advice.empty()) p.advice = advice;
    return false;
  };
  MissingNode m;
  m.op = key, m.name = scope.prefix + (n.name().empty() ? n.output_size() > 0 ? n.output(0) : "unnamed" : n.name());
  const size_t dot = key.rfind('.');
  m.symbol = dot == std::string::npos ? "onnx::" + key : key.substr(0, dot) + "::" + key.substr(dot + 1);
  m.why = (*problems_)[problems].what;
  for (const AttributeProto& given : n.attribute()) {
    const AttributeProto* a = scope.resolve(given);
    if (a == nullptr) continue;
    const std::string text = text_of(*a);
    if (text.empty()) return cannot("attribute '" + given.name() + "' is a graph");
    m.attributes.emplace_back(given.name(), text);
  }
  std::sort(m.attributes.begin(), m.attributes.end());
  for (const std::string& name : n.input()) {
    const Entity* e = name.empty() ? nullptr : scope.find(name);
    if (!name.empty() && (e == nullptr || (!e->is(Entity::Kind::kTensor) && !e->is(Entity::Kind::kAbsent))))
      return cannot("its input '" + name + "' is not known, or no tensor");
    m.inputs.push_back(e == nullptr ? nullptr : e->value);
    m.input_names.push_back(name);
  }
  drop_nodes(graph_, *scope.block, nodes);
  // Outputs that nothing reads count too: the operator computes them.
  int outputs = n.output_size();
  while (outputs > 0 && n.output(outputs - 1).empty()) --outputs;
  for (int i = 0; i < outputs; ++i) {
    if (n.output(i).empty()) return cannot("an output in front of others is left out");
    m.output_names.push_back(n.output(i));
    m.outputs.push_back(declared_type(scope, n.output(i)));
  }
  std::string error;
  const ir::Node* node = add_missing(graph_, *scope.block, m, &error);
  if (node == nullptr)
    return cannot(error, trust_declared_
                             ? "write them into the model: onnx.shape_inference.infer_shapes(model), or a value_info of that name; "
                               "open sizes are fixed with --dim or --shape"
                             : "--shape changed sizes that the model states, so what it says of others does not hold: change them in the "
                               "model, with onnx.tools.update_model_dims");
  problems_->resize(problems);
  for (int i = 0; i < outputs; ++i) scope.names[n.output(i)] = Entity::tensor(node->outputs[static_cast<size_t>(i)]);
  return true;
}

Importer::Mark Importer::begin_node(const std::string& name, const std::string& key, const Scope& scope) {
  const Mark mark{!name.empty(), graph_.source_nodes.size(), problems_->size(), hard_problems_, scope.block->nodes.size()};
  if (mark.counts) graph_.source_nodes.push_back({key, name});
  return mark;
}

void Importer::refuse(const ::onnx::NodeProto& n, const std::string& key, const std::string& where, Scope& scope, const Mark& before) {
  const bool to_blame = before.counts && problems_->size() > before.problems && problems_->back().where == where;
  if (to_blame) graph_.source_nodes[before.source].refused = true;
  if (to_blame && leave_to_user(n, key, scope, before.problems, before.nodes)) hard_problems_ = before.hard;
  else poison_outputs(n, scope);
}

}  // namespace mote::frontends::onnx
