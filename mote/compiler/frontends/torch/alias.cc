#include "mote/compiler/frontends/torch/alias.h"

#include <algorithm>
#include <set>

#include "mote/compiler/frontends/torch/import.h"

namespace mote::frontends::torch {
namespace {

constexpr int kMostViews = 512;  // views of views

// How a change of a view gets back into what it looks at.
enum class Back : uint8_t { kNone, kReshape, kTranspose, kScatter, kImpossible };

struct ViewOp {
  Back back = Back::kNone;
  const char* scatter = "";  // of kScatter: the operator that writes it
};

ViewOp view_op(const std::string& target) {
  static const std::map<std::string, ViewOp> kViews = {
      {"aten.view.default", {Back::kReshape}},
      {"aten.reshape.default", {Back::kReshape}},
      {"aten._unsafe_view.default", {Back::kReshape}},
      {"aten.unsqueeze.default", {Back::kReshape}},
      {"aten.squeeze.dim", {Back::kReshape}},
      {"aten.squeeze.dims", {Back::kReshape}},
      {"aten.squeeze.default", {Back::kReshape}},
      {"aten.flatten.using_ints", {Back::kReshape}},
      {"aten.unflatten.int", {Back::kReshape}},
      {"aten.detach.default", {Back::kReshape}},
      {"aten.alias.default", {Back::kReshape}},
      {"aten.view_as.default", {Back::kReshape}},
      {"aten.permute.default", {Back::kTranspose}},
      {"aten.transpose.int", {Back::kTranspose}},
      {"aten.t.default", {Back::kTranspose}},
      {"aten.numpy_T.default", {Back::kTranspose}},
      {"aten.movedim.int", {Back::kTranspose}},
      {"aten.slice.Tensor", {Back::kScatter, "aten.slice_scatter.default"}},
      {"aten.select.int", {Back::kScatter, "aten.select_scatter.default"}},
      {"aten.diagonal.default", {Back::kScatter, "aten.diagonal_scatter.default"}},
      {"aten.expand.default", {Back::kImpossible}},
      {"aten.narrow.default", {Back::kImpossible}},
      {"aten.split.Tensor", {Back::kImpossible}},
      {"aten.split_with_sizes.default", {Back::kImpossible}},
      {"aten.chunk.default", {Back::kImpossible}},
      {"aten.unbind.int", {Back::kImpossible}},
      {"aten.as_strided.default", {Back::kImpossible}},
      {"aten.unfold.default", {Back::kImpossible}},
  };
  const auto it = kViews.find(target);
  return it == kViews.end() ? ViewOp{} : it->second;
}

// The tensor an operator looks at or changes: its first argument.
std::string first_tensor(const NodeDef& node) {
  if (node.inputs.empty() || node.inputs[0].arg.items.size() != 1) return "";
  const Item& i = node.inputs[0].arg.items[0];
  return i.kind == Item::Kind::kTensor ? i.text : "";
}

}  // namespace

bool is_in_place(const std::string& target, std::string* functional) {
  const size_t first = target.find('.'), second = first == std::string::npos ? first : target.find('.', first + 1);
  if (second == std::string::npos || second < 2 || target.compare(0, first, "aten") != 0) return false;
  if (target[second - 1] != '_' || target[second - 2] == '_') return false;
  if (functional != nullptr) *functional = target.substr(0, second - 1) + target.substr(second);
  return true;
}

std::unordered_set<std::string> changed_names(const GraphDef& graph) {
  std::unordered_map<std::string, std::string> roots;  // of views
  const auto root = [&](const std::string& name) {
    const auto it = roots.find(name);
    return it == roots.end() ? name : it->second;
  };
  std::unordered_set<std::string> out;
  for (const NodeDef& n : graph.nodes) {
    const std::string first = first_tensor(n);
    const bool changes = is_in_place(n.target, nullptr);
    if (changes) out.insert(root(first));
    if (changes || view_op(n.target).back != Back::kNone)
      for (const Item& o : n.outputs) roots[o.text] = root(first);
  }
  return out;
}

void Aliases::prepare(const GraphDef& graph) {
  active_ = std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const NodeDef& n) { return is_in_place(n.target, nullptr); });
}

bool Aliases::problem(Importer& importer, const NodeDef& node, const std::string& what) {
  importer.problem(node.name + " (" + node.target + ")", what, "export without in-place changes: program.run_decompositions({})");
  return false;
}

bool Aliases::refresh(Importer& importer, const NodeDef& node, Scope& scope) {
  if (!active_) return true;
  for (const NamedArg& a : node.inputs)
    for (const Item& i : a.arg.items)
      if (i.kind == Item::Kind::kTensor && !refresh(importer, i.text, scope)) return false;
  return true;
}

bool Aliases::refresh(Importer& importer, const std::string& name, Scope& scope, int depth) {
  const auto it = views_.find(name);
  if (it == views_.end()) return true;
  View& view = it->second;
  if (depth > kMostViews) {
    importer.problem("'" + name + "'", "is a view of too many views");
    return false;
  }
  if (!refresh(importer, view.base, scope, depth + 1)) return false;
  if (view.seen == versions_[view.base]) return true;
  if (view.node == nullptr) {
    scope.names[name] = scope.find(view.base);
    view.seen = versions_[view.base];
    ++versions_[name];
    return true;
  }
  ir::NodeBuilder b(importer.graph(), *scope.block, view.node->name);
  Op op(importer, scope, *view.node, b);
  const std::vector<Value*> now = importer.import_as(op, *view.node);
  if (now.size() <= view.output || now[view.output] == nullptr)
    return problem(importer, *view.node, "cannot be computed again: " + b.error());
  scope.names[name] = now[view.output];
  view.seen = versions_[view.base];
  ++versions_[name];
  return true;
}

bool Aliases::note(Importer& importer, const NodeDef& node, Scope& scope) {
  if (!active_) return true;
  const std::string first = first_tensor(node);
  std::string functional;
  if (is_in_place(node.target, &functional)) {
    if (first.empty() || node.outputs.empty()) return true;
    Value* value = scope.find(node.outputs[0].text);
    // The result is the changed tensor itself.
    if (!change(importer, node, first, value, scope, 0)) return false;
    views_[node.outputs[0].text] = {first, nullptr, 0, versions_[first]};
    return true;
  }
  if (view_op(node.target).back == Back::kNone || first.empty()) return true;
  for (size_t i = 0; i < node.outputs.size(); ++i) views_[node.outputs[i].text] = {first, &node, i, versions_[first]};
  return true;
}

bool Aliases::change(Importer& importer, const NodeDef& node, const std::string& name, Value* value, Scope& scope, int depth) {
  if (depth > kMostViews) return problem(importer, node, "changes a view of too many views");
  scope.names[name] = value;
  ++versions_[name];
  const auto it = views_.find(name);
  if (it == views_.end()) return true;
  View& view = it->second;
  if (view.node == nullptr) {  // the result of an in-place operator: the same tensor under another name
    if (!change(importer, node, view.base, value, scope, depth + 1)) return false;
    view.seen = versions_[view.base];
    return true;
  }
  Value* base = scope.find(view.base);
  ir::NodeBuilder b(importer.graph(), *scope.block, node.name);
  Op op(importer, scope, *view.node, b);
  const ViewOp kind = view_op(view.node->target);
  Value* changed = nullptr;
  if (kind.back == Back::kReshape) {
    changed = op.reshape_to(value, op.sizes_of(base));
  } else if (kind.back == Back::kTranspose || kind.back == Back::kScatter) {
    const std::string source = "changed value of " + name;
    scope.names[source] = value;
    NodeDef written = *view.node;
    if (kind.back == Back::kScatter) {
      written.target = kind.scatter;
      Item item;
      item.kind = Item::Kind::kTensor;
      item.text = source;
      written.inputs.push_back({"src", {Arg::Kind::kOne, {item}, nullptr, "as_tensor"}});
    } else {
      written.target = "mote.inverse." + written.target;
      written.inputs[0].arg.items[0].text = source;
    }
    const std::vector<Value*> now = importer.import_as(op, written);
    changed = now.empty() ? nullptr : now[0];
  }
  if (changed == nullptr) return problem(importer, node, "changes a view made by " + view.node->target + (b.ok() ? "" : ": " + b.error()));
  if (!change(importer, node, view.base, changed, scope, depth + 1)) return false;
  view.seen = versions_[view.base];
  return true;
}

}  // namespace mote::frontends::torch
