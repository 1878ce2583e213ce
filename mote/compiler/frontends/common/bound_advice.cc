#include "mote/compiler/frontends/common/bound_advice.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "mote/compiler/frontends/common/open_dims.h"

namespace mote::frontends {
namespace {

constexpr size_t kMostVisited = 20000;  // values on the way back
constexpr int32_t kLeastBound = 16, kMostBound = 1 << 16;

bool is_integer(DType t) { return t == DType::s32 || t == DType::s64; }

std::vector<const ir::Value*> behind(const std::vector<const ir::Value*>& from) {
  std::vector<const ir::Value*> stack = from, inputs;
  std::set<const ir::Value*> seen;
  while (!stack.empty() && seen.size() < kMostVisited) {
    const ir::Value* v = stack.back();
    stack.pop_back();
    if (v == nullptr || !seen.insert(v).second) continue;
    if (v->kind == ir::ValueKind::kInput) inputs.push_back(v);
    if (v->producer != nullptr)
      for (const ir::Value* in : v->producer->inputs) stack.push_back(in);
  }
  std::sort(inputs.begin(), inputs.end(), [](const ir::Value* a, const ir::Value* b) { return a->id < b->id; });
  return inputs;
}

// The numbers behind "dimension " or "dimensions ".
std::vector<int> axes_of(const std::string& error) {
  std::vector<int> axes;
  size_t at = error.find("dimension");
  if (at == std::string::npos) return axes;
  at += std::string("dimension").size();
  if (at < error.size() && error[at] == 's') ++at;
  while (at < error.size() && (error[at] == ' ' || error[at] == ',')) {
    while (at < error.size() && (error[at] == ' ' || error[at] == ',')) ++at;
    if (at >= error.size() || std::isdigit(static_cast<unsigned char>(error[at])) == 0) break;
    axes.push_back(error[at++] - '0');  // ranks are at most 8
  }
  return axes;
}

}  // namespace

std::vector<const ir::Value*> inputs_behind(const std::vector<ir::Value*>& operands) {
  std::vector<const ir::Value*> all(operands.begin(), operands.end()), integers;
  for (const ir::Value* v : all)
    if (v != nullptr && is_integer(v->type.dtype) && !v->is_constant()) integers.push_back(v);
  std::vector<const ir::Value*> inputs = behind(integers);
  return inputs.empty() ? behind(all) : inputs;
}

int32_t likely_bound(const std::vector<const ir::Value*>& inputs) {
  int32_t largest = kLeastBound;
  for (const ir::Value* v : inputs)
    for (const int32_t d : v->type.dims) largest = std::max(largest, std::min(d, kMostBound));
  int32_t bound = kLeastBound;
  while (bound < largest) bound *= 2;
  return bound;
}

std::vector<const ir::Value*> inputs_of(const ir::Graph& graph) {
  std::vector<const ir::Value*> all;
  for (const ir::Method& m : graph.methods) all.insert(all.end(), m.block->arguments.begin(), m.block->arguments.end());
  return all;
}

std::string bound_advice(const std::string& error, const std::string& value, const std::vector<ir::Value*>& operands,
                         const ir::Graph& graph) {
  std::vector<int> axes = axes_of(error);
  if (axes.empty()) axes.push_back(0);
  const std::vector<const ir::Value*> inputs = inputs_behind(operands);
  const int32_t bound = likely_bound(inputs_of(graph));
  std::string names, words;
  for (size_t i = 0; i < inputs.size() && i < 3; ++i) names += (names.empty() ? "'" : ", '") + inputs[i]->name + "'";
  for (const int axis : axes) words += dim_word(value + "." + std::to_string(axis), {1, bound});
  std::string text = names.empty() ? "say how large it can get" : "what stands in input " + names + " decides; say how large it can get";
  return text + ", for instance" + words;
}

std::string fixed_words(const ir::Value& value, const ir::Graph& graph) {
  std::string words;
  std::set<int> seen;
  for (const ir::Value* v : behind({&value}))
    for (const int s : v->symbols)
      if (s >= 0 && static_cast<size_t>(s) < graph.symbols.size() && seen.insert(s).second) {
        const ir::Symbol& symbol = graph.symbols[static_cast<size_t>(s)];
        words += dim_word(symbol.name, {symbol.max, symbol.max});
      }
  return words;
}

}  // namespace mote::frontends
