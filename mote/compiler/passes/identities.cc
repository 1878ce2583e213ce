// Algebraic identities: what changes nothing goes, chains become one node.

#include "mote/compiler/passes/identities.h"

#include <cmath>

#include "mote/ops/cast/cast.h"
#include "mote/ops/clip/clip.h"

namespace mote::passes {
namespace {

Value* rebuild(Graph& graph, Node& n, OpId id, const std::vector<Value*>& inputs) {
  NodeBuilder b(graph, *n.block, n.name, &n);
  return b.op(id, inputs);
}

// x + 0, x - 0, x * 1, x / 1, x ^ 1.
bool neutral(Graph& graph, Node& n) {
  const bool sum = n.is(OpId::add), product = n.is(OpId::mul);
  if (!sum && !product && !n.is(OpId::sub) && !n.is(OpId::div) && !n.is(OpId::pow)) return false;
  const double unit = sum || n.is(OpId::sub) ? 0 : 1;
  if (splat(n.inputs[1]) == unit && replace(graph, &n, n.inputs[0])) return true;
  return (sum || product) && splat(n.inputs[0]) == unit && replace(graph, &n, n.inputs[1]);
}

bool powers(Graph& graph, Node& n, const PassOptions& options) {
  const std::optional<double> e = n.is(OpId::pow) && is_float(*n.inputs[0]) ? splat(n.inputs[1]) : std::nullopt;
  if (!e || n.outputs[0]->type != n.inputs[0]->type) return false;
  if (*e == 2) return replace_by(graph, n, rebuild(graph, n, OpId::square, {n.inputs[0]}));
  if (options.exact) return false;
  if (*e == 0.5) return replace_by(graph, n, rebuild(graph, n, OpId::sqrt, {n.inputs[0]}));
  if (*e == -0.5) return replace_by(graph, n, rebuild(graph, n, OpId::rsqrt, {n.inputs[0]}));
  return *e == -1 && replace_by(graph, n, rebuild(graph, n, OpId::reciprocal, {n.inputs[0]}));
}

bool twice(Graph& graph, Node& n) {
  if (n.is(OpId::neg) || n.is(OpId::logical_not) || n.is(OpId::bitwise_not)) {
    const Node* first = made_by(n.inputs[0], static_cast<OpId>(n.op));
    return first != nullptr && replace(graph, &n, first->inputs[0]);
  }
  const bool stays = n.is(OpId::relu) || n.is(OpId::abs) || n.is(OpId::sign) || n.is(OpId::ceil) || n.is(OpId::floor) ||
                     n.is(OpId::round) || n.is(OpId::trunc);
  return stays && made_by(n.inputs[0], static_cast<OpId>(n.op)) != nullptr && replace(graph, &n, n.inputs[0]);
}

// The range a node bounds its first input to.
struct Bounds {
  double lo = -HUGE_VAL, hi = HUGE_VAL;
};
std::optional<Bounds> bounds_of(const Node& n) {
  if (!n.is_operator() || n.outputs.empty()) return {};
  if (n.is(OpId::relu)) return Bounds{0, HUGE_VAL};
  if (n.is(OpId::clip) && n.inputs.size() == 1) {
    const auto a = n.attributes<ops::clip::Attrs>();
    if (!(a.lo <= a.hi)) return {};
    return Bounds{static_cast<double>(a.lo), static_cast<double>(a.hi)};
  }
  if (!n.is(OpId::minimum) && !n.is(OpId::maximum)) return {};
  const std::optional<double> c = splat(n.inputs[1]);
  if (!c || std::isnan(*c) || n.outputs[0]->type != n.inputs[0]->type) return {};
  return n.is(OpId::minimum) ? Bounds{-HUGE_VAL, *c} : Bounds{*c, HUGE_VAL};
}

// Minimum and maximum with a number are clips; clips of clips are one; a clip from 0 on is relu.
bool clips(Graph& graph, Node& n) {
  if ((n.is(OpId::minimum) || n.is(OpId::maximum)) && splat(n.inputs[0]) && !n.inputs[1]->is_constant()) {
    Value *a = n.inputs[0], *b = n.inputs[1];
    graph.set_input(&n, 0, b);
    graph.set_input(&n, 1, a);
  }
  const std::optional<Bounds> own = bounds_of(n);
  if (!own || !is_float(*n.inputs[0])) return false;
  Value* x = n.inputs[0];
  if (std::isinf(own->lo) && own->lo < 0 && std::isinf(own->hi) && own->hi > 0) return replace(graph, &n, x);
  double lo = own->lo, hi = own->hi;
  std::string name = n.name;
  const std::optional<Bounds> inner = x->producer != nullptr ? bounds_of(*x->producer) : std::nullopt;
  if (inner) {
    // clip(clip(x, a, b), lo, hi): first into [a, b], then into [lo, hi].
    lo = std::min(std::max(inner->lo, own->lo), own->hi);
    hi = std::min(std::max(inner->hi, own->lo), own->hi);
    name = joined_name(x->producer->name, n.name);
    x = x->producer->inputs[0];
    if (x->kind == ir::ValueKind::kState) return false;
  } else if (n.is(OpId::relu) || (n.is(OpId::clip) && !(lo == 0 && std::isinf(hi)))) {
    return false;
  }
  ops::clip::Attrs a;
  a.lo = static_cast<float>(lo);
  a.hi = static_cast<float>(hi);
  if (static_cast<double>(a.lo) != lo || static_cast<double>(a.hi) != hi) return false;
  NodeBuilder b(graph, *n.block, name, &n);
  return replace_by(graph, n, lo == 0 && std::isinf(hi) ? b.op(OpId::relu, {x}) : b.op(OpId::clip, a, {x}));
}

bool constant_choice(Graph& graph, Node& n) {
  if (!n.is(OpId::where)) return false;
  const std::optional<double> c = splat(n.inputs[0]);
  return c && replace(graph, &n, n.inputs[*c != 0 ? 1 : 2]);
}

// Every value of `from` is a value of `to`, of the same kind.
bool widens(DType from, DType to) {
  const auto in = [](DType t, DTypeMask m) { return (mask_of(t) & m) != 0; };
  if (in(from, kFloat) && in(to, kFloat)) return to == DType::f64 || (to == DType::f32 && from != DType::f64) || from == to;
  if (!in(from, kInt) || !in(to, kInt)) return false;
  const auto is_signed = [&](DType t) { return in(t, mask_of_list(SignedTypes{})); };
  const uint32_t f = dtype_bits(from), t = dtype_bits(to);
  if (is_signed(from) == is_signed(to)) return f <= t;
  return !is_signed(from) && f < t;
}

}  // namespace

bool simplify_arithmetic(Graph& graph, Node& n, const PassOptions& options) {
  return neutral(graph, n) || powers(graph, n, options) || twice(graph, n) || clips(graph, n) || constant_choice(graph, n);
}

bool simplify_casts(Graph& graph, Node& n) {
  if (n.is(OpId::copy)) return replace(graph, &n, n.inputs[0]);
  if (!n.is(OpId::cast)) return false;
  if (replace(graph, &n, n.inputs[0])) return true;
  const Node* first = made_by(n.inputs[0], OpId::cast);
  if (first == nullptr || !reads_no_state(*first)) return false;
  Value* x = first->inputs[0];
  const DType from = x->type.dtype, between = n.inputs[0]->type.dtype, to = n.outputs[0]->type.dtype;
  const bool back =
      from == to &&
      (widens(from, between) || from == DType::boolean ||
       ((mask_of(from) & kInt) != 0 && dtype_bits(from) < 16 && between != DType::boolean && (mask_of(between) & kFloat) != 0));
  if (back) return replace(graph, &n, x);
  if (!widens(from, between) || (mask_of(to) & kBool) != 0) return false;
  // Floats to integers saturate whatever they pass through; integers wrap, so they must not pass through floats.
  ops::cast::Attrs a;
  a.to = static_cast<int32_t>(to);
  NodeBuilder b(graph, *n.block, joined_name(first->name, n.name), &n);
  return replace_by(graph, n, b.op(OpId::cast, a, {x}));
}

bool identities(Graph& graph, const PassOptions& options) {
  return each_node(graph, [&](Node& n) {
    if (!n.is_operator() || n.outputs.empty() || n.outputs[0] == nullptr) return false;
    return simplify_arithmetic(graph, n, options) || simplify_casts(graph, n) || simplify_moves(graph, n);
  });
}

}  // namespace mote::passes
