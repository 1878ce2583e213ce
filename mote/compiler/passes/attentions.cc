// softmax(q k' * scale + mask) v, as transformers export it, becomes one attention node: the scores of all queries and keys need not
// exist as a tensor.

#include "mote/compiler/passes/expression.h"
#include "mote/ops/attention/attention.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/softmax/softmax.h"

namespace mote::passes {
namespace {

// A plain matrix product of two tensors of rank 3 or 4, used once.
const Node* product(const Value* v) {
  const Node* n = made_by(v, OpId::matmul);
  if (n == nullptr || n->inputs.size() != 2 || !reads_no_state(*n)) return nullptr;
  const auto a = n->attributes<ops::matmul::Attrs>();
  const int rank = v->type.rank();
  const bool plain = a.activation == 0 && a.transpose_a == 0 && a.group_size == 0 && (rank == 3 || rank == 4);
  if (!plain || n->inputs[0]->type.rank() != rank || n->inputs[1]->type.rank() != rank) return nullptr;
  return n->inputs[0]->type.dtype == n->inputs[1]->type.dtype && is_float(*v) ? n : nullptr;
}

// The scores as scale * q k' + mask.
struct Scores {
  const Node* product = nullptr;
  double scale = 1;
  Value* mask = nullptr;
};

bool read_scaled(Value* v, Scores* s) {
  const Product p = product_of(v);
  if (p.factors.size() != 1 || (s->product = product(p.factors[0])) == nullptr || !p.factors[0]->has_one_use()) return false;
  s->scale = p.c * static_cast<double>(s->product->attributes<ops::matmul::Attrs>().alpha);
  return true;
}

bool read_scores(Value* v, Scores* s) {
  if (read_scaled(v, s)) return true;
  const Node* sum = made_by(v, OpId::add);
  if (sum == nullptr || !v->has_one_use() || !reads_no_state(*sum)) return false;
  for (size_t side = 0; side < 2; ++side) {
    if (sum->inputs[side]->type != v->type || !read_scaled(sum->inputs[side], s)) continue;
    s->mask = sum->inputs[1 - side];
    return s->mask->type.rank() <= 4;
  }
  return false;
}

Value* swap_last(NodeBuilder& b, Value* v) {
  Dims perm;
  for (int i = 0; i < v->type.rank(); ++i) perm.push_back(i);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return b.transpose(v, perm);
}

bool recognise(Graph& graph, Node& n) {
  const Node* outer = n.is(OpId::matmul) ? product(n.outputs[0]) : nullptr;
  if (outer == nullptr || outer->attributes<ops::matmul::Attrs>().alpha != 1) return false;
  const Node* softmax = absorbable(n.inputs[0], OpId::softmax, n);
  if (softmax == nullptr || !softmax->inputs[0]->has_one_use()) return false;
  const int rank = n.outputs[0]->type.rank();
  Scores s;
  if (axis_of(softmax->attributes<ops::softmax::Attrs>().axis, rank) != rank - 1 || !read_scores(softmax->inputs[0], &s)) return false;
  if (!(s.scale != 0)) return false;
  Value *q = s.product->inputs[0], *k = s.product->inputs[1], *v = n.inputs[1];
  std::vector<const Value*> from = {q, k, v};
  if (s.mask != nullptr) from.push_back(s.mask);
  NodeBuilder b(graph, *n.block, names_between(n, from), &n);
  NodeBuilder of_k(graph, *n.block, s.product->name, &n), of_v(graph, *n.block, n.name, &n);
  if (s.product->attributes<ops::matmul::Attrs>().transpose_b == 0) k = swap_last(of_k, k);
  if (n.attributes<ops::matmul::Attrs>().transpose_b != 0) v = swap_last(of_v, v);
  if (k == nullptr || v == nullptr) return false;
  if (rank == 3) {
    // Heads are batches here; one batch holds them all.
    q = b.unsqueeze(q, {0});
    k = b.unsqueeze(k, {0});
    v = b.unsqueeze(v, {0});
  }
  ops::attention::Attrs a;
  a.scale = static_cast<float>(s.scale);
  std::vector<Value*> inputs = {q, k, v};
  if (s.mask != nullptr) inputs.push_back(s.mask);
  Value* y = b.op(OpId::attention, a, inputs);
  if (y != nullptr && rank == 3) y = b.squeeze(y, {0});
  if (replace_by(graph, n, y)) return true;
  for (const Value* made : {q, k, v})
    if (made != nullptr && made->producer != nullptr) erase_unused(graph, made->producer);
  return false;
}

}  // namespace

bool attentions(Graph& graph, const PassOptions& options) {
  return !options.exact && each_node(graph, [&](Node& n) { return recognise(graph, n); });
}

}  // namespace mote::passes
