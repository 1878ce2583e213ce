// Which nodes of a graph contribute to its outputs.

#include <algorithm>

#include "mote/compiler/frontends/onnx/import.h"

namespace mote::frontends::onnx {
namespace {

using google::protobuf::RepeatedPtrField;
using ::onnx::GraphProto;
using ::onnx::NodeProto;

void collect_names(const GraphProto& g, NameSet* out) {
  for (const auto& n : g.node()) {
    out->insert(n.input().begin(), n.input().end());
    for (const auto& a : n.attribute()) {
      if (a.has_g()) collect_names(a.g(), out);
      for (const auto& sub : a.graphs()) collect_names(sub, out);
    }
  }
  for (const auto& o : g.output()) out->insert(o.name());
}

}  // namespace

std::vector<bool> find_live(const RepeatedPtrField<NodeProto>& nodes, NameSet* needed) {
  std::vector<bool> live(static_cast<size_t>(nodes.size()));
  for (int i = nodes.size() - 1; i >= 0; --i) {
    const NodeProto& n = nodes.Get(i);
    const bool used = std::any_of(n.output().begin(), n.output().end(), [&](const std::string& o) { return needed->count(o) != 0; });
    if (!used) continue;
    live[static_cast<size_t>(i)] = true;
    needed->insert(n.input().begin(), n.input().end());
    for (const auto& a : n.attribute()) {
      if (a.has_g()) collect_names(a.g(), needed);
      for (const auto& sub : a.graphs()) collect_names(sub, needed);
    }
  }
  return live;
}

}  // namespace mote::frontends::onnx
