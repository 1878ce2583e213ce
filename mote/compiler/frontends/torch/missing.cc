// Nodes that are refused, as custom operators for the user to fill in (--partial).

#include "mote/compiler/frontends/common/missing.h"

#include "mote/compiler/frontends/torch/import.h"

namespace mote::frontends::torch {
namespace {

std::string text_of(const Item& i) {
  switch (i.kind) {
    case Item::Kind::kFloat: return attribute_text(i.f);
    case Item::Kind::kInt: return attribute_text(i.i);
    case Item::Kind::kBool: return i.i != 0 ? "true" : "false";
    case Item::Kind::kNone: return "none";
    case Item::Kind::kDType: return dtype_name(static_cast<DType>(i.i));
    default: return attribute_text(i.text);
  }
}

}  // namespace

bool Importer::leave_to_user(const NodeDef& node, Scope& scope, size_t problems, size_t nodes) {
  if (!options_.partial) return false;
  const auto cannot = [&](const std::string& why) {
    problems_->back().what += "; --partial cannot leave it out: " + why;
    return false;
  };
  std::string functional;
  if (is_in_place(node.target, &functional)) return cannot("it changes its first argument in place");
  MissingNode m;
  m.op = node.target, m.name = node.outputs.empty() ? node.target : node.outputs[0].text;
  const size_t dot = node.target.find('.'), end = node.target.rfind('.');  // "acme.blend.default": as import_custom() names it
  m.symbol = dot == std::string::npos || end <= dot ? "torch::" + node.target
                                                    : node.target.substr(0, dot) + "::" + node.target.substr(dot + 1, end - dot - 1);
  m.why = (*problems_)[problems].what;
  for (const NamedArg& a : node.inputs) {
    if (a.arg.kind == Arg::Kind::kGraph || a.arg.kind == Arg::Kind::kUnknown)
      return cannot("its argument '" + a.name + "' is a graph or an object");
    std::vector<std::string> texts;
    for (const Item& i : a.arg.items) {
      if (i.kind != Item::Kind::kTensor) {
        texts.push_back(text_of(i));
        continue;
      }
      m.inputs.push_back(scope.find(i.text));
      m.input_names.push_back(i.text);
      if (m.inputs.back() == nullptr) return cannot("its input '" + i.text + "' is not known");
    }
    std::string text;
    for (const std::string& t : texts) text += (text.empty() ? "" : ", ") + t;
    if (!texts.empty()) m.attributes.emplace_back(a.name, texts.size() > 1 ? "[" + text + "]" : text);
  }
  drop_nodes(graph_, *scope.block, nodes);
  for (const Item& o : node.outputs) {
    const TensorMeta* meta = scope.meta(o.text);
    m.output_names.push_back(o.text);
    m.outputs.push_back(meta == nullptr ? std::nullopt : declared_type(*meta));
  }
  std::string error;
  const ir::Node* made = add_missing(graph_, *scope.block, m, &error);
  if (made == nullptr) return cannot(error);
  problems_->resize(problems);
  for (size_t i = 0; i < node.outputs.size(); ++i) scope.names[node.outputs[i].text] = made->outputs[i];
  return scope.aliases.note(*this, node, scope);
}

}  // namespace mote::frontends::torch
