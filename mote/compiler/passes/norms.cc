// Normalisations that exporters write out are recognised: layer, instance, RMS and L2 norm. Scales and shifts behind them are taken in.

#include <algorithm>
#include <cmath>

#include "mote/compiler/ir/infer.h"
#include "mote/compiler/passes/expression.h"
#include "mote/ops/clip/clip.h"
#include "mote/ops/common/reduce.h"
#include "mote/ops/instance_norm/instance_norm.h"
#include "mote/ops/layer_norm/layer_norm.h"
#include "mote/ops/lp_norm/lp_norm.h"
#include "mote/ops/mean_variance_norm/mean_variance_norm.h"
#include "mote/ops/reduce_var/reduce_var.h"
#include "mote/ops/rms_norm/rms_norm.h"

namespace mote::passes {
namespace {

// The axes of a reduction that keeps them, sorted; empty when it is another node.
std::vector<int> axes_of(const Node* n) {
  if (n == nullptr || n->inputs.size() != 1 || !reads_no_state(*n)) return {};
  const auto a = n->attributes<ops::ReduceAttrs>();
  const int rank = n->inputs[0]->type.rank();
  std::vector<int> axes;
  for (int i = 0; i < a.axis_count; ++i) axes.push_back(axis_of(a.axes[i], rank));
  if (a.axis_count == 0)
    for (int i = 0; i < rank; ++i) axes.push_back(i);
  std::sort(axes.begin(), axes.end());
  return a.keep_dims == 1 ? axes : std::vector<int>{};
}

// x / sqrt(v), x * rsqrt(v), x * (1 / sqrt(v)): x and v.
struct Normalised {
  Value *x = nullptr, *under_root = nullptr;
};
Value* under_root(const Value* v, bool inverse) {
  if (!inverse) return operand_of(v, OpId::sqrt);
  if (Value* u = operand_of(v, OpId::rsqrt)) return u;
  if (Value* s = operand_of(v, OpId::reciprocal)) return operand_of(s, OpId::sqrt);
  const Node* d = made_by(v, OpId::div);
  return d != nullptr && splat(d->inputs[0]) == 1.0 && reads_no_state(*d) ? operand_of(d->inputs[1], OpId::sqrt) : nullptr;
}
std::optional<Normalised> normalised(const Node& n) {
  if (!reads_no_state(n) || (!n.is(OpId::mul) && !n.is(OpId::div))) return {};
  for (size_t side = 0; side < (n.is(OpId::mul) ? 2u : 1u); ++side)
    if (Value* u = under_root(n.inputs[1 - side], n.is(OpId::mul)))
      if (n.inputs[side]->type == n.outputs[0]->type) return Normalised{n.inputs[side], u};
  return {};
}

// The mean of the squares of x, with its axes.
std::vector<int> mean_square_axes(const Value* v, const Value* x) {
  const Node* mean = made_by(v, OpId::reduce_mean);
  if (mean == nullptr) return {};
  const Node* square = mean->inputs[0]->producer;
  const bool squares = square != nullptr && ((square->is(OpId::square) && square->inputs[0] == x) ||
                                             (square->is(OpId::mul) && square->inputs[0] == x && square->inputs[1] == x) ||
                                             (square->is(OpId::pow) && square->inputs[0] == x && splat(square->inputs[1]) == 2.0));
  return squares ? axes_of(mean) : std::vector<int>{};
}

// x - mean(x): x and the axes.
std::vector<int> centred_axes(const Value* v, Value** x) {
  const Node* n = made_by(v, OpId::sub);
  const Node* mean = n == nullptr ? nullptr : made_by(n->inputs[1], OpId::reduce_mean);
  if (mean == nullptr || mean->inputs[0] != n->inputs[0] || !reads_no_state(*n)) return {};
  *x = n->inputs[0];
  return axes_of(mean);
}

bool are_last(const std::vector<int>& axes, int rank) {
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i] != rank - static_cast<int>(axes.size() - i)) return false;
  return !axes.empty();
}

bool whole_norm(Graph& graph, Node& n) {
  const std::optional<Normalised> f = normalised(n);
  const std::optional<Shifted> s = f ? shifted(f->under_root) : std::nullopt;
  if (!s || !(s->c >= 0) || s->c > 1) return false;
  Value* x = nullptr;
  const int rank = f->x->type.rank();
  const std::vector<int> centred = centred_axes(f->x, &x);
  std::vector<int> squares = mean_square_axes(s->x, f->x);
  if (const Node* var = made_by(s->x, OpId::reduce_var); !centred.empty() && var != nullptr && var->inputs[0] == x) {
    const auto a = var->attributes<ops::reduce_var::Attrs>();
    if (a.correction == 0 && a.root == 0) squares = axes_of(var);
  }
  if (squares.empty()) return false;
  const float epsilon = static_cast<float>(s->c);
  if (centred == squares) {
    NodeBuilder b(graph, *n.block, names_between(n, {x}), &n);
    if (are_last(squares, rank)) {
      ops::layer_norm::Attrs a;
      a.axis = squares[0];
      a.epsilon = epsilon;
      return replace_by(graph, n, b.op(OpId::layer_norm, a, {x}));
    }
    ops::mean_variance_norm::Attrs a;
    a.axis_count = static_cast<int32_t>(squares.size());
    std::copy(squares.begin(), squares.end(), a.axes);
    a.epsilon = epsilon;
    a.epsilon_inside = 1;
    return replace_by(graph, n, b.op(OpId::mean_variance_norm, a, {x}));
  }
  if (!are_last(squares, rank)) return false;
  NodeBuilder b(graph, *n.block, names_between(n, {f->x}), &n);
  ops::rms_norm::Attrs a;
  a.axis = squares[0];
  a.epsilon = epsilon;
  return replace_by(graph, n, b.op(OpId::rms_norm, a, {f->x}));
}

// x / max(norm(x), epsilon).
bool l2_norm(Graph& graph, Node& n) {
  if (!n.is(OpId::div)) return false;
  Value *x = n.inputs[0], *d = n.inputs[1];
  if (const Node* e = made_by(d, OpId::expand)) d = e->inputs[0];
  const Node* clip = made_by(d, OpId::clip);
  if (clip == nullptr || clip->inputs.size() != 1 || x->kind == ir::ValueKind::kState) return false;
  const auto bounds = clip->attributes<ops::clip::Attrs>();
  const Node* norm = made_by(clip->inputs[0], OpId::reduce_l2);
  if (norm == nullptr || norm->inputs[0] != x || !(bounds.lo > 0) || !std::isinf(bounds.hi)) return false;
  const std::vector<int> axes = axes_of(norm);
  if (axes.size() != 1) return false;
  ops::lp_norm::Attrs a;
  a.axis = axes[0];
  a.epsilon = bounds.lo;
  NodeBuilder b(graph, *n.block, names_between(n, {x}), &n);
  return replace_by(graph, n, b.op(OpId::lp_norm, a, {x}));
}

// Normalising all but batch and channels of a channels-last tensor is instance norm.
bool instance_norm(Graph& graph, Node& n) {
  if (!n.is(OpId::mean_variance_norm)) return false;
  const auto a = n.attributes<ops::mean_variance_norm::Attrs>();
  const int rank = n.outputs[0]->type.rank();
  std::vector<int> axes;
  for (int i = 0; i < a.axis_count; ++i) axes.push_back(axis_of(a.axes[i], rank));
  std::sort(axes.begin(), axes.end());
  if (a.epsilon_inside == 0 || rank < 3 || static_cast<int>(axes.size()) != rank - 2) return false;
  for (int i = 0; i < rank - 2; ++i)
    if (axes[static_cast<size_t>(i)] != i + 1) return false;
  ops::instance_norm::Attrs made;
  made.epsilon = a.epsilon;
  NodeBuilder b(graph, *n.block, n.name, &n);
  return replace_by(graph, n, b.op(OpId::instance_norm, made, {n.inputs[0]}));
}

// A constant behind a norm becomes its scale (no bias yet) or bias.
bool affine(Graph& graph, Node& n) {
  if (!n.is(OpId::mul) && !n.is(OpId::add)) return false;
  const size_t place = n.is(OpId::mul) ? 1 : 2;
  for (size_t side = 0; side < 2; ++side) {
    Value* c = n.inputs[1 - side];
    Node* norm = absorbable(n.inputs[side], OpId::layer_norm, n);
    if (norm == nullptr) norm = absorbable(n.inputs[side], OpId::instance_norm, n);
    if (norm == nullptr) norm = absorbable(n.inputs[side], OpId::group_norm, n);
    if (norm == nullptr && place == 1) norm = absorbable(n.inputs[side], OpId::rms_norm, n);
    if (norm == nullptr || !c->is_constant() || norm->input(place) != nullptr || norm->input(2) != nullptr || !reads_no_state(*norm))
      continue;
    if (norm->outputs.size() != 1 || n.outputs[0]->type != n.inputs[side]->type || c->type.rank() > n.outputs[0]->type.rank()) continue;
    std::vector<Value*> inputs = norm->inputs;
    inputs.resize(std::max(inputs.size(), place + 1));
    if (norm->is(OpId::instance_norm) || norm->is(OpId::group_norm)) {
      const int32_t channels = n.outputs[0]->type.dims.back();
      if (c->type.count() != channels || c->type.rank() == 0 || c->type.dims.back() != channels) continue;
      c = float_constant(graph, c->type.dtype, {channels}, constant_numbers(c), c->name);
    }
    inputs[place] = c;
    std::string ignored;
    Node* made = graph.add_node(*n.block, norm->op, norm->attrs.data(), norm->attrs.size(), inputs, 1, joined_name(norm->name, n.name), &n);
    if (ir::infer(*made, &ignored)) {
      if (replace_by(graph, n, made->outputs[0])) return true;
    } else {
      graph.erase(made);
    }
  }
  return false;
}

}  // namespace

bool norms(Graph& graph, const PassOptions& options) {
  if (options.exact) return false;
  return each_node(graph, [&](Node& n) {
    if (!n.is_operator() || n.outputs.empty() || n.outputs[0] == nullptr || !is_float(*n.outputs[0])) return false;
    return whole_norm(graph, n) || l2_norm(graph, n) || instance_norm(graph, n) || affine(graph, n);
  });
}

}  // namespace mote::passes
