// Constant folding with the portable kernels; static shapes and what is computed from them become constants.

#include <algorithm>
#include <unordered_set>

#include "mote/compiler/ir/infer.h"
#include "mote/compiler/passes/rewrite.h"
#include "mote/ops/shape_of/shape_of.h"

namespace mote::passes {
namespace {

constexpr uint64_t kSmallBytes = 4096;    // results that are always worth their place in the file
constexpr int64_t kMaxWork = 50'000'000;  // multiply-adds that folding may take for one node

uint64_t bytes_of(const std::vector<Value*>& values) {
  uint64_t n = 0;
  for (const Value* v : values)
    if (v != nullptr) n += v->type.byte_size();
  return n;
}

// An upper bound of the multiply-adds, from the shapes alone.
int64_t work_of(const Node& n) {
  const Type& y = n.outputs[0]->type;
  if (n.is(OpId::matmul) || n.is(OpId::conv) || n.is(OpId::conv_transpose) || n.is(OpId::q_conv) || n.is(OpId::q_matmul)) {
    const Type& w = n.inputs[1]->type;
    const int64_t per_row = w.count() / std::max<int64_t>(1, w.rank() > 0 ? w.dims[0] : 1);
    return per_row > 0 && y.count() > kMaxWork / per_row ? kMaxWork + 1 : y.count() * per_row;
  }
  return y.count();
}

// Constants that later passes want as they are: small types of weights, and what only repeats its input.
bool grows(const Node& n, bool late) {
  const uint64_t in = bytes_of(n.inputs), out = bytes_of(n.outputs);
  const bool weights = n.is(OpId::cast) || n.is(OpId::dequantize);
  if (weights && late) return false;
  if (n.is(OpId::dequantize) && dtype_bits(n.inputs[0]->type.dtype) < 32) return true;
  return out > kSmallBytes && out > in;
}

bool all_constant(const Node& n) {
  return std::all_of(n.inputs.begin(), n.inputs.end(),
                     [](const Value* v) { return v == nullptr || (v->is_constant() && v->layout == Layout::kPlain); });
}

bool replace_by_constants(Graph& graph, Node& n, const std::vector<ir::Bytes>& data) {
  for (size_t o = 0; o < n.outputs.size(); ++o) {
    Value* v = n.outputs[o];
    if (v != nullptr && (data.size() <= o || data[o].size != v->type.byte_size() || v->type.dynamic != 0)) return false;
  }
  for (size_t o = 0; o < n.outputs.size(); ++o) {
    Value* v = n.outputs[o];
    if (v == nullptr || v->unused()) continue;
    Value* c = graph.add_constant(v->type.dtype, v->type.dims, data[o], v->name);
    c->quant = v->quant;
    graph.replace_uses(v, c);
  }
  erase_unused(graph, &n);
  return true;
}

class Folder {
 public:
  Folder(Graph& graph, const PassOptions& options, bool late) : graph_(graph), budget_(options.fold_budget), late_(late) {}

  bool run() {
    const bool changed = each_node(graph_, [&](Node& n) { return fold(n); });
    if (changed) refresh_types(graph_);
    return changed;
  }

 private:
  bool fold(Node& n) {
    if (!n.is_operator() || n.outputs.empty() || n.outputs[0] == nullptr) return false;
    note_moves(n);
    if (std::all_of(n.outputs.begin(), n.outputs.end(), [](const Value* v) { return v == nullptr || v->unused(); })) return false;
    if (all_constant(n)) {
      std::vector<ir::Bytes> data;
      return !grows(n, late_) && affordable(n) && ir::evaluate(n, &data) && replace_by_constants(graph_, n, data);
    }
    const Value* y = n.outputs[0];
    const ir::Bytes* known = n.outputs.size() == 1 && y->type.dynamic == 0 && moved_.count(y) != 0 ? ir::known_data(*y) : nullptr;
    return known != nullptr && replace_by_constants(graph_, n, {*known});
  }

  bool affordable(const Node& n) {
    int64_t work = work_of(n);
    for (const Value* v : n.inputs)
      if (v != nullptr) work += v->type.count();
    if (work > kMaxWork && work_of(n) > kMaxWork) return false;
    if (budget_ == nullptr) return true;
    if (work > *budget_) return false;
    *budget_ -= work;
    return true;
  }

  // Elements that are only moved from a shape, or from constants, are what they are for every size of the open dimensions; computed ones
  // may only seem so for the sizes that were looked at.
  void note_moves(const Node& n) {
    const bool moves = n.is(OpId::gather) || n.is(OpId::slice) || n.is(OpId::reshape) || n.is(OpId::concat) || n.is(OpId::cast) ||
                       n.is(OpId::copy) || n.is(OpId::split) || n.is(OpId::expand);
    const bool from_moved = moves && std::all_of(n.inputs.begin(), n.inputs.end(),
                                                 [&](const Value* v) { return v == nullptr || v->is_constant() || moved_.count(v) != 0; });
    if (!n.is(OpId::shape_of) && !from_moved) return;
    for (const Value* v : n.outputs) moved_.insert(v);
  }

  Graph& graph_;
  int64_t* budget_;
  bool late_;
  std::unordered_set<const Value*> moved_;
};

}  // namespace

bool fold(Graph& graph, const PassOptions& options) { return Folder(graph, options, false).run(); }

bool fold_late(Graph& graph, const PassOptions& options) { return Folder(graph, options, true).run(); }

}  // namespace mote::passes
