#include "mote/compiler/frontends/torch/import.h"

#include <algorithm>

#include "mote/compiler/frontends/common/bound_advice.h"
#include "mote/compiler/frontends/torch/expression.h"

namespace mote::frontends::torch {
namespace {

constexpr size_t kMaxNodes = 200000;  // a small file must not ask for endless work
constexpr int kMaxDepth = 32;         // of graphs inside each other

// The module it stands in and its own name, as profiles show it.
std::string node_name(const NodeDef& n) { return n.module.empty() ? n.name : n.module + "/" + n.name; }

std::string place_of(const NodeDef& n) { return node_name(n) + " (" + n.target + ")" + (n.line.empty() ? "" : " at " + n.line); }

void add_names(const Arg& arg, std::unordered_set<std::string>* out) {
  for (const Item& i : arg.items)
    if (i.kind == Item::Kind::kTensor || i.kind == Item::Kind::kSymbol) out->insert(i.text);
}

}  // namespace

void Scope::find_live() {
  live.assign(graph->nodes.size(), false);
  for (size_t i = graph->nodes.size(); i-- > 0;) {
    const NodeDef& n = graph->nodes[i];
    live[i] =
        is_in_place(n.target, nullptr) || std::any_of(n.outputs.begin(), n.outputs.end(), [&](const Item& o) { return needs(o.text); });
    if (!live[i]) continue;
    for (const NamedArg& a : n.inputs) add_names(a.arg, &needed);
  }
}

Value* Scope::find(const std::string& name) const {
  const auto it = names.find(name);
  return it == names.end() ? nullptr : it->second;
}

const TensorMeta* Scope::meta(const std::string& name) const {
  const auto it = graph->tensors.find(name);
  return it == graph->tensors.end() ? nullptr : &it->second;
}

void Importer::problem(const std::string& where, const std::string& what, const std::string& advice) {
  problems_->push_back({where, what, advice});
}

std::optional<ir::Type> Importer::declared_type(const TensorMeta& meta) const {
  ir::Type type;
  type.dtype = meta.dtype;
  if (type.dtype == DType::kNone || meta.sizes.size() > static_cast<size_t>(kMaxRank)) return std::nullopt;
  for (const SymNumber& s : meta.sizes) {
    int64_t size = s.value;
    if (!s.expression.empty()) {
      const std::optional<Range> r = ranges_ == nullptr ? std::nullopt : bounds_of(s.expression, *ranges_);
      size = r ? r->max : -1;
      type.dynamic = static_cast<uint8_t>(type.dynamic | 1u << type.dims.size());
    }
    type.dims.push_back(size < 0 || size > INT32_MAX ? kDimUnknown : static_cast<int32_t>(size));
  }
  return type;
}

void Importer::poison(const NodeDef& node, Scope& scope) {
  for (const Item& o : node.outputs) scope.names[o.text] = nullptr;
}

bool Importer::operands_known(const NodeDef& node, const Scope& scope) {
  for (const NamedArg& a : node.inputs) {
    for (const Item& i : a.arg.items) {
      if (i.kind != Item::Kind::kTensor && i.kind != Item::Kind::kSymbol) continue;
      if (!scope.knows(i.text)) problem(place_of(node), "reads '" + i.text + "', which nothing before it computes");
      if (scope.find(i.text) == nullptr) return false;
    }
  }
  return true;
}

void Importer::import_nodes(Scope& scope) {
  scope.aliases.prepare(*scope.graph);
  for (size_t i = 0; i < scope.live.size(); ++i) {
    if (!scope.live[i]) continue;
    const NodeDef& node = scope.graph->nodes[i];
    const size_t problems = problems_->size(), source = graph_.source_nodes.size();
    const size_t made = scope.block->nodes.size();
    graph_.source_nodes.push_back({node.target, node_name(node)});
    if (import_node(node, scope)) continue;
    graph_.source_nodes[source].refused = problems_->size() > problems && problems_->back().where == place_of(node);
    if (graph_.source_nodes[source].refused && leave_to_user(node, scope, problems, made)) continue;
    poison(node, scope);
  }
}

bool Importer::import_node(const NodeDef& node, Scope& scope) {
  if (++node_count_ > kMaxNodes) {
    if (node_count_ == kMaxNodes + 1) problem("model", "has more than " + std::to_string(kMaxNodes) + " nodes");
    return false;
  }
  for (const Item& o : node.outputs) {
    if (o.text.empty() || !scope.knows(o.text)) continue;
    problem(place_of(node), "computes '" + o.text + "', which is there already");
    return false;
  }
  if (!operands_known(node, scope) || !scope.aliases.refresh(*this, node, scope)) return false;
  std::string target = node.target;
  is_in_place(node.target, &target);
  if (const auto own = model_.own_ops.find(target); own != model_.own_ops.end()) return call_importer(node, own->second, scope);
  const auto it = op_index().find(target);
  if (it == op_index().end()) return import_custom(node, scope) && scope.aliases.note(*this, node, scope);
  return call_importer(node, *it->second, scope) && scope.aliases.note(*this, node, scope);
}

bool Importer::call_importer(const NodeDef& node, const OpLine& line, Scope& scope) {
  if (line.import == nullptr) {
    problem(place_of(node), "operator " + node.target + " is not supported: " + line.note);
    return false;
  }
  return call_importer(node, line.import, scope);
}

bool Importer::call_importer(const NodeDef& node, const std::function<void(Op&)>& import, Scope& scope) {
  ir::NodeBuilder b(graph_, *scope.block, node_name(node));
  Op op(*this, scope, node, b);
  import(op);
  if (op.given_up) return false;
  for (size_t i = 0; i < node.outputs.size() && b.ok(); ++i) {
    Value* v = i < op.outputs.size() ? op.outputs[i] : nullptr;
    const TensorMeta* meta = op.meta(i);
    if (v == nullptr) {
      if (scope.needs(node.outputs[i].text)) op.refuse("output " + std::to_string(i) + " is not supported");
      continue;
    }
    if (meta != nullptr && meta->dtype != v->type.dtype)
      op.refuse("became " + std::string(dtype_name(v->type.dtype)) + ", expected " + scalar_type_name(meta->scalar_type));
    if (meta != nullptr && static_cast<int>(meta->sizes.size()) != v->type.rank())
      op.refuse("became a tensor of rank " + std::to_string(v->type.rank()) + ", expected " + std::to_string(meta->sizes.size()));
    for (int k = 0; meta != nullptr && b.ok() && k < v->type.rank(); ++k) {
      const SymNumber& s = meta->sizes[static_cast<size_t>(k)];
      if (s.expression.empty() && is_fixed(v, k) && s.value != v->type.dims[static_cast<size_t>(k)])
        op.refuse("size " + std::to_string(k) + " became " + std::to_string(v->type.dims[static_cast<size_t>(k)]) + ", expected " +
                  std::to_string(s.value));
    }
    if (v->name.empty()) v->name = node.outputs[i].text;
    scope.names[node.outputs[i].text] = v;
  }
  if (b.ok()) return true;
  std::string advice = op.advice;
  if (advice.empty() && b.error().find("nothing bounds it") != std::string::npos)
    advice = "bound it in the model, for instance torch._check(size <= " + std::to_string(likely_bound(inputs_of(graph_))) +
             ") where the size is known";
  problem(place_of(node), b.error(), advice);
  return false;
}

std::vector<Value*> Importer::import_as(Op& op, const NodeDef& node) {
  const auto it = op_index().find(node.target);
  if (!op.b.ok()) return {};
  if (it == op_index().end() || it->second->import == nullptr) {
    op.refuse("operator " + node.target + " is not supported");
    return {};
  }
  Op inner(*this, op.scope, node, op.b);
  it->second->import(inner);
  if (!op.b.ok() && op.advice.empty()) op.advice = inner.advice;
  return op.b.ok() ? inner.outputs : std::vector<Value*>{};
}

// False for what is no number of 32 bits, or too many of them. None is nothing.
static bool add_number(const Item& item, std::vector<uint8_t>* attrs) {
  if (item.kind == Item::Kind::kNone) return true;
  const bool real = item.kind == Item::Kind::kFloat;
  if (!real && item.kind != Item::Kind::kInt && item.kind != Item::Kind::kBool) return false;
  if (!real && item.i != static_cast<int32_t>(item.i)) return false;
  const auto f = static_cast<float>(item.f);
  const auto i = static_cast<int32_t>(item.i);
  const auto* bytes = real ? reinterpret_cast<const uint8_t*>(&f) : reinterpret_cast<const uint8_t*>(&i);
  attrs->insert(attrs->end(), bytes, bytes + 4);
  return attrs->size() <= 256;
}

// An operator of the user's own: a node that a registered kernel will serve, with the types the exporter saw.
bool Importer::import_custom(const NodeDef& node, Scope& scope) {
  const size_t dot = node.target.find('.'), end = node.target.rfind('.');
  const std::string symbol =
      dot == std::string::npos || end <= dot ? node.target : node.target.substr(0, dot) + "::" + node.target.substr(dot + 1, end - dot - 1);
  if (model_.custom_ops.count(symbol) == 0) {
    problem(place_of(node), "operator " + node.target + " is not supported",
            "write the model without it, give PyTorch a decomposition for it, or register a kernel under the name " + symbol);
    return false;
  }
  std::vector<Value*> inputs;
  std::vector<uint8_t> attrs;  // numbers in the order of the arguments, 32 bits each
  for (const NamedArg& a : node.inputs) {
    for (const Item& i : a.arg.items) {
      if (i.kind == Item::Kind::kTensor) {
        inputs.push_back(scope.find(i.text));
      } else if (!add_number(i, &attrs)) {
        problem(place_of(node),
                "argument '" + a.name + "' is nothing that a kernel can be given: expected tensors and 32-bit numbers, 64 at most");
        return false;
      }
    }
  }
  ir::Node* n = graph_.add_node(*scope.block, ir::kCustom, attrs.data(), attrs.size(), inputs, node.outputs.size(), node_name(node));
  n->symbol = symbol;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const TensorMeta* meta = scope.meta(node.outputs[i].text);
    const std::optional<ir::Type> type = meta == nullptr ? std::nullopt : declared_type(*meta);
    if (!type || std::count(type->dims.begin(), type->dims.end(), kDimUnknown) != 0) {
      problem(place_of(node), "output " + std::to_string(i) + " has no known type, or open sizes");
      return false;
    }
    n->outputs[i]->type = *type;
    n->outputs[i]->name = node.outputs[i].text;
    scope.names[node.outputs[i].text] = n->outputs[i];
  }
  return true;
}

bool Importer::import_body(const Scope& around, const GraphDef& body, ir::Block& block, const std::vector<Value*>& arguments,
                           std::vector<Value*>* results) {
  if (around.depth >= kMaxDepth) {
    problem("model", "graphs lie inside each other more than " + std::to_string(kMaxDepth) + " deep");
    return false;
  }
  Scope scope;
  scope.graph = &body;
  scope.block = &block;
  scope.depth = around.depth + 1;
  const size_t before = problems_->size();
  for (size_t i = 0; i < body.inputs.size() && i < arguments.size(); ++i)
    if (!body.inputs[i].items.empty()) scope.names[body.inputs[i].items[0].text] = arguments[i];
  for (const Arg& o : body.outputs) add_names(o, &scope.needed);
  scope.find_live();
  import_nodes(scope);
  for (const Arg& o : body.outputs)
    for (const Item& i : o.items) results->push_back(output_value(i, scope));
  if (problems_->size() != before) return false;
  return std::none_of(results->begin(), results->end(), [](const Value* v) { return v == nullptr; });
}

}  // namespace mote::frontends::torch
