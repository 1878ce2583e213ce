#include "mote/compiler/ir/sizes.h"

#include <algorithm>
#include <cstring>

#include "mote/compiler/ir/infer.h"

namespace mote::ir {
namespace {

constexpr size_t kProbe = 2;  // the sample that is used

bool same_contents(const Facts& a, const Facts& b) {
  if (a.dims != b.dims || a.data.size != b.data.size) return false;
  return a.data.size == 0 || a.data.data == b.data.data || std::memcmp(a.data.data, b.data.data, a.data.size) == 0;
}

}  // namespace

std::vector<int> symbols_of(const Graph& graph, const Value& input) {
  std::vector<int> out(input.type.dims.size(), -1);
  for (size_t i = 0; i < out.size(); ++i) {
    for (size_t s = 0; s < graph.symbols.size() && out[i] < 0 && (input.type.dynamic >> i & 1) != 0; ++s) {
      bool same = input.facts.size() == graph.sample_count();
      for (size_t k = 0; same && k < input.facts.size(); ++k) same = input.facts[k].dims[i] == graph.symbol_size(s, k);
      if (same) out[i] = static_cast<int>(s);
    }
  }
  return out;
}

Probe::Probe(Graph& graph, bool apart) : graph_(graph) {
  for (Method& m : graph.methods)
    for (Value* v : m.block->arguments) {
      std::vector<int> symbols = symbols_of(graph, *v);
      for (size_t i = 0; apart && i < std::min(symbols.size(), v->symbols.size()); ++i)
        if (symbols[i] >= 0) symbols[i] = v->symbols[i];
      inputs_.emplace_back(v, std::move(symbols));
    }
  for (const auto& v : graph.values())
    if (v->facts.size() > kProbe) before_.emplace(v.get(), v->facts[kProbe]);
}

Probe::~Probe() {
  for (const auto& v : graph_.values())
    if (const auto it = before_.find(v.get()); it != before_.end()) v->facts[kProbe] = it->second;
  for (Method& m : graph_.methods) restore(*m.block);
}

// Control nodes were inferred as a whole: bounds of trips among it.
void Probe::restore(Block& block) {
  std::string ignored;
  for (const auto& n : block.nodes) {
    for (const auto& b : n->blocks) restore(*b);
    if (!n->is_operator()) (void)infer(*n, &ignored);
  }
}

// What a loop carries begins with the sizes of its operands.
void Probe::enter(const Node& loop) {
  const std::vector<Value*>& arguments = loop.blocks[0]->arguments;
  for (size_t i = 2; i < std::min(arguments.size(), loop.inputs.size()); ++i) {
    Value *begin = loop.inputs[i], *carried = arguments[i];
    const auto was = before_.find(begin), in_body = before_.find(carried);
    if (was == before_.end() || in_body == before_.end() || was->second.dims != in_body->second.dims) continue;
    carried->facts[kProbe].dims = begin->facts[kProbe].dims;
  }
}

std::string Probe::walk(Block& block) {
  for (const auto& n : block.nodes) {
    if (n->op == kLoop) enter(*n);
    for (const auto& b : n->blocks)
      if (std::string why = walk(*b); !why.empty()) return why;
    std::string error;
    if (!n->is_operator()) {
      if (!infer(*n, &error)) return n->name + ": " + error;
      continue;
    }
    std::vector<Facts> facts;
    if (!facts_of(*n, kProbe, &facts, &error)) return n->name + ": " + error;
    for (size_t o = 0; o < n->outputs.size(); ++o) {
      Value* v = n->outputs[o];
      if (v == nullptr || v->facts.size() <= kProbe) continue;
      v->facts[kProbe] = std::move(facts[o]);
      compare(*v);
    }
  }
  return "";
}

void Probe::compare(const Value& v) {
  const Facts& here = v.facts[kProbe];
  if (!unforeseen_.empty() || here.dims.size() != v.type.dims.size()) return;
  const std::string name = v.producer->name.empty() ? v.name : v.producer->name;
  for (size_t i = 0; i < here.dims.size(); ++i) {
    const bool open = (v.type.dynamic >> i & 1) != 0;
    if (open ? here.dims[i] <= v.type.dims[i] : here.dims[i] == v.type.dims[i]) continue;
    unforeseen_ = name + ": dimension " + std::to_string(i) + " is " + std::to_string(here.dims[i]);
    return;
  }
  const auto before = before_.find(&v);
  if (!here.data.present() || before == before_.end() || !before->second.data.present()) return;
  for (size_t s = 0; s < v.facts.size(); ++s)
    if (s != kProbe && (!v.facts[s].data.present() || !same_contents(v.facts[s], before->second))) return;
  if (!same_contents(here, before->second)) unforeseen_ = name + ": other contents";
}

std::string Probe::refusal_at(const std::vector<int32_t>& sizes) {
  unforeseen_.clear();
  if (graph_.sample_count() <= kProbe) return "";
  for (auto& [v, symbols] : inputs_)
    for (size_t i = 0; i < symbols.size(); ++i)
      if (symbols[i] >= 0) v->facts[kProbe].dims[i] = sizes[static_cast<size_t>(symbols[i])];
  std::string why;
  for (Method& m : graph_.methods)
    if (why.empty()) why = walk(*m.block);
  return why;
}

}  // namespace mote::ir
