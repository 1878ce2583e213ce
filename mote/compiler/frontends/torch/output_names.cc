// Names of a program's outputs: what the module's author called them. The nodes that compute them ("linear", "addmm_11") say nothing.

#include "mote/compiler/frontends/torch/output_names.h"

namespace mote::frontends::torch {
namespace {

constexpr size_t kLongestName = 200;

class Walk {
 public:
  Walk(const Json* tuples, std::vector<std::string>* out) : tuples_(tuples), out_(out) {}

  // A node of the serialized pytree: {"type", "context", "children_spec"}; leaves have no type.
  void node(const Json& spec, const std::string& name) {
    const Json* type = optional_member(spec, "type");
    if (type == nullptr) return out_->push_back(name.empty() ? "output" : name);
    const Json::array_t& children = list(member(spec, "children_spec"), "children_spec");
    const std::vector<std::string> keys = keys_of(spec, children.size());
    for (size_t i = 0; i < children.size(); ++i) {
      std::string child = keys.empty() ? std::to_string(i) : keys[i];
      if (!name.empty()) child = name + "_" + child;
      else if (keys.empty()) child = "output_" + child;
      node(children[i], child);
    }
  }

 private:
  static std::vector<std::string> words(const Json& all, size_t count) {
    std::vector<std::string> out;
    if (!all.is_array() || all.size() != count) return out;
    for (const Json& one : all) {
      if (!one.is_string() || one.get_ref<const std::string&>().empty() || one.get_ref<const std::string&>().size() > kLongestName)
        return {};
      out.push_back(one.get<std::string>());
    }
    return out;
  }

  // Of dicts, and of classes registered with the names of their fields: the context. Of named tuples: what the program says of the class.
  std::vector<std::string> keys_of(const Json& spec, size_t count) const {
    const Json* context = optional_member(spec, "context");
    Json parsed;
    std::string error;
    if (context == nullptr || !context->is_string() || !parse_json(context->get_ref<const std::string&>(), &parsed, &error)) return {};
    if (parsed.is_string() && tuples_ != nullptr && tuples_->is_object()) {
      const auto fields = tuples_->find(parsed.get_ref<const std::string&>());
      return fields == tuples_->end() ? std::vector<std::string>{} : words(*fields, count);
    }
    return words(parsed, count);
  }

  const Json* tuples_;
  std::vector<std::string>* out_;
};

const Json* signature_of_root(const Json& module) {
  const Json* calls = optional_member(module, "module_call_graph");
  if (calls == nullptr) return nullptr;
  for (const Json& call : list(*calls, "module_call_graph")) {
    const Json* fqn = optional_member(call, "fqn");
    if (fqn != nullptr && fqn->is_string() && fqn->get_ref<const std::string&>().empty()) return optional_member(call, "signature");
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> read_output_names(const Json& module) {
  std::vector<std::string> out;
  const Json* signature = signature_of_root(module);
  const Json* spec = signature == nullptr ? nullptr : optional_member(*signature, "out_spec");
  Json tree;
  std::string error;
  if (spec == nullptr || !spec->is_string() || !parse_json(spec->get_ref<const std::string&>(), &tree, &error)) return out;
  if (!tree.is_array() || tree.size() != 2) return out;  // [version, root]
  Walk(optional_member(module, "treespec_namedtuple_fields"), &out).node(tree[1], "");
  return out;
}

}  // namespace mote::frontends::torch
