// Common subexpressions: of nodes with the same operator, attributes and operands only the first stays; equal constants become one.

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

#include "mote/compiler/passes/rewrite.h"

namespace mote::passes {
namespace {

constexpr uint64_t kPrime = 0x100000001b3u;

// Looks at the ends and some words between: enough to tell most constants apart, the rest is compared in full.
uint64_t digest(const Value& v) {
  uint64_t h = 0xcbf29ce484222325u ^ static_cast<uint64_t>(v.type.dtype) ^ v.data.size << 8;
  for (const int32_t d : v.type.dims) h = (h ^ static_cast<uint64_t>(d)) * kPrime;
  const size_t step = std::max<size_t>(1, v.data.size / 256);
  for (size_t i = 0; i < v.data.size; i += step) h = (h ^ v.data.data[i]) * kPrime;
  return h;
}

bool same(const Value& a, const Value& b) {
  if (a.type != b.type || a.layout != b.layout || a.data.size != b.data.size) return false;
  return a.data.data == b.data.data || a.data.size == 0 || std::memcmp(a.data.data, b.data.data, a.data.size) == 0;
}

bool merge_constants(Graph& graph) {
  std::unordered_multimap<uint64_t, Value*> seen;
  bool changed = false;
  for (const auto& held : graph.values()) {
    Value* v = held.get();
    if (!v->is_constant() || v->unused()) continue;
    const uint64_t h = digest(*v);
    const auto [begin, end] = seen.equal_range(h);
    const auto it = std::find_if(begin, end, [&](const auto& e) { return same(*e.second, *v); });
    if (it == end) {
      seen.emplace(h, v);
      continue;
    }
    graph.replace_uses(v, it->second);
    changed = true;
  }
  return changed;
}

using Key = std::vector<uint64_t>;

Key key_of(const Node& n) {
  Key k = {n.op, n.attrs.size(), n.outputs.size()};
  uint64_t word = 0;
  for (size_t i = 0; i < n.attrs.size(); ++i) {
    word = word << 8 | n.attrs[i];
    if (i % 8 == 7 || i + 1 == n.attrs.size()) k.push_back(word);
  }
  for (const Value* v : n.inputs) k.push_back(v == nullptr ? ~uint64_t{0} : static_cast<uint64_t>(v->id));
  return k;
}

// Nodes of the blocks around are seen too.
using Scope = std::map<Key, Node*>;

bool merge_nodes(Graph& graph, Block& block, Scope seen) {
  bool changed = false;
  for (auto it = block.nodes.begin(); it != block.nodes.end();) {
    Node& n = **it++;
    for (const auto& b : n.blocks) changed |= merge_nodes(graph, *b, seen);
    if (!n.is_operator() || !reads_no_state(n)) continue;
    const auto [place, added] = seen.emplace(key_of(n), &n);
    if (added) continue;
    Node& first = *place->second;
    bool all = true;
    for (size_t o = 0; o < n.outputs.size(); ++o)
      all = all && (n.outputs[o] == nullptr || (first.outputs[o] != nullptr && first.outputs[o]->type == n.outputs[o]->type));
    if (!all) continue;
    for (size_t o = 0; o < n.outputs.size(); ++o)
      if (n.outputs[o] != nullptr) graph.replace_uses(n.outputs[o], first.outputs[o]);
    graph.erase(&n);
    changed = true;
  }
  return changed;
}

}  // namespace

bool cse(Graph& graph, const PassOptions&) {
  bool changed = merge_constants(graph);
  for (ir::Method& m : graph.methods) changed |= merge_nodes(graph, *m.block, {});
  return changed;
}

}  // namespace mote::passes
