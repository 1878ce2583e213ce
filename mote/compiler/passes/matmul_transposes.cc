// A transpose of the last two axes in front of a matrix product becomes its attribute.

#include "mote/compiler/ir/infer.h"
#include "mote/compiler/passes/rewrite.h"
#include "mote/ops/matmul/matmul.h"

namespace mote::passes {
namespace {

// The transpose that makes v when it exchanges the last two axes and nothing else.
const Node* matrix_transpose(const Value* v) {
  const Node* t = made_by(v, OpId::transpose);
  if (t == nullptr || !reads_no_state(*t) || t->inputs[0]->layout != Layout::kPlain) return nullptr;
  Dims perm = permutation(*t);
  if (perm.size() < 2) return nullptr;
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  for (size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<int32_t>(i)) return nullptr;
  return t;
}

bool absorb_transpose(Graph& graph, Node& n) {
  if (!n.is(OpId::matmul)) return false;
  auto a = n.attributes<ops::matmul::Attrs>();
  std::vector<Value*> inputs = n.inputs;
  std::string name = n.name;
  bool changed = false;
  for (size_t i = 0; i < 2; ++i) {
    const Node* t = matrix_transpose(inputs[i]);
    const bool compact = i == 1 && inputs[1]->type.dtype != inputs[0]->type.dtype;
    if (t == nullptr || compact) continue;
    inputs[i] = t->inputs[0];
    name = joined_name(t->name, name);
    uint32_t& flag = i == 0 ? a.transpose_a : a.transpose_b;
    flag = 1 - flag;
    changed = true;
  }
  if (!changed) return false;
  NodeBuilder b(graph, *n.block, name, &n);
  return replace_by(graph, n, b.op(OpId::matmul, a, inputs));
}

}  // namespace

bool matmul_transposes(Graph& graph, const PassOptions&) {
  return each_node(graph, [&](Node& n) { return absorb_transpose(graph, n); });
}

}  // namespace mote::passes
