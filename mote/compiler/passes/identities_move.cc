#include <algorithm>
#include <cmath>

#include "mote/compiler/ir/infer.h"
#include "mote/compiler/passes/identities.h"
#include "mote/compiler/passes/permute.h"
#include "mote/ops/avg_pool/avg_pool.h"
#include "mote/ops/common/reduce.h"
#include "mote/ops/concat/concat.h"
#include "mote/ops/dequantize/dequantize.h"
#include "mote/ops/gather/gather.h"
#include "mote/ops/max_pool/max_pool.h"
#include "mote/ops/pad/pad.h"
#include "mote/ops/resize/resize.h"
#include "mote/ops/reverse/reverse.h"
#include "mote/ops/slice/slice.h"
#include "mote/ops/tile/tile.h"
#include "mote/ops/transpose/transpose.h"

namespace mote::passes {
namespace {

// Dequantize and cast of constants: the constant is moved instead, in its small type.
const Node* widened_constant(const Value* x) {
  const Node* n = made_by(x, OpId::dequantize);
  if (n == nullptr) n = made_by(x, OpId::cast);
  return n != nullptr && n->inputs[0]->is_constant() ? n : nullptr;
}

// Puts the widening of `moved` in the place of n.
bool widen_instead(Graph& graph, Node& n, const Node& widening, const std::vector<uint8_t>& attrs, Value* moved) {
  if (moved == nullptr) return false;
  std::vector<Value*> inputs = widening.inputs;
  inputs[0] = moved;
  Node* made = graph.add_node(*n.block, widening.op, attrs.data(), attrs.size(), inputs, 1, widening.name, &n);
  std::string ignored;
  if (ir::infer(*made, &ignored)) return replace_by(graph, n, made->outputs[0]);
  erase_unused(graph, made);
  return false;
}

bool transposed_constant(Graph& graph, Node& n, const Value* x, const Dims& perm) {
  const Node* widening = widened_constant(x);
  const std::optional<Permuted> how = widening == nullptr ? std::nullopt : permuted(*widening, 0, perm);
  if (!how) return false;
  NodeBuilder b(graph, *n.block, widening->name, &n);
  return widen_instead(graph, n, *widening, how->attrs, b.transpose(widening->inputs[0], perm));
}

// The axis of `to` that is `axis` of `from` after a reshape; -1 when it does not stay one.
int kept_axis(const Dims& from, int axis, const Dims& to) {
  int64_t before = 1, passed = 1;
  for (int i = 0; i < axis; ++i) before *= from[static_cast<size_t>(i)];
  for (size_t k = 0; k < to.size(); passed *= to[k++])
    if (passed == before && to[k] == from[static_cast<size_t>(axis)]) return static_cast<int>(k);
  return -1;
}

bool reshaped_constant(Graph& graph, Node& n, const Value* x) {
  const Node* widening = widened_constant(x);
  if (widening == nullptr) return false;
  std::vector<uint8_t> attrs = widening->attrs;
  if (widening->is(OpId::dequantize)) {
    auto a = widening->attributes<ops::dequantize::Attrs>();
    const bool several = widening->inputs[1]->type.count() > 1;
    const int rank = x->type.rank();
    a.axis = several ? kept_axis(x->type.dims, axis_of(a.axis, rank), n.outputs[0]->type.dims) : 0;
    if (a.block != 0 || a.axis < 0) return false;
    const auto* bytes = reinterpret_cast<const uint8_t*>(&a);
    attrs.assign(bytes, bytes + sizeof a);
  }
  Type small = n.outputs[0]->type;
  small.dtype = widening->inputs[0]->type.dtype;
  if (dtype_bytes(small.dtype) == 0) return false;
  return widen_instead(graph, n, *widening, attrs, reshape_to(graph, widening->inputs[0], small, n.name, &n));
}

bool reshapes(Graph& graph, Node& n) {
  Value* x = n.inputs[0];
  const Type& y = n.outputs[0]->type;
  // With several open sizes equal bounds do not say that the sizes are equal.
  const int open = __builtin_popcount(y.dynamic);
  if (open <= 1 && x->type == y && replace(graph, &n, x)) return true;
  if (reshaped_constant(graph, n, x)) return true;
  const Node* first = made_by(x, OpId::reshape);
  if (first == nullptr || !reads_no_state(*first)) return false;
  Value* source = first->inputs[0];
  if (open <= 1 && source->type == y && replace(graph, &n, source)) return true;
  return replace_by(graph, n, reshape_to(graph, source, y, joined_name(first->name, n.name), &n));
}

bool transposes(Graph& graph, Node& n) {
  Dims perm = permutation(n);
  Value* x = n.inputs[0];
  std::string name = n.name;
  const Node* first = made_by(x, OpId::transpose);
  const bool chain = first != nullptr && reads_no_state(*first);
  if (chain) {
    const Dims inner = permutation(*first);
    for (int32_t& p : perm) p = inner[static_cast<size_t>(p)];
    x = first->inputs[0];
    name = joined_name(first->name, n.name);
  }
  if (std::is_sorted(perm.begin(), perm.end())) return replace(graph, &n, x);
  // Axes of size 1 may go anywhere: when the others keep their order it is a reshape.
  Dims moved;
  for (const int32_t p : perm)
    if (x->type.dims[static_cast<size_t>(p)] != 1 || (x->type.dynamic >> p & 1) != 0) moved.push_back(p);
  if (std::is_sorted(moved.begin(), moved.end()) && replace_by(graph, n, reshape_to(graph, x, n.outputs[0]->type, name, &n))) return true;
  if (transposed_constant(graph, n, x, perm)) return true;
  if (!chain) return false;
  NodeBuilder b(graph, *n.block, name, &n);
  return replace_by(graph, n, b.transpose(x, perm));
}

bool whole_slice(const Node& n) {
  if (n.inputs.size() > 1) return false;
  const auto a = n.attributes<ops::slice::Attrs>();
  const Type& x = n.inputs[0]->type;
  for (int i = 0; i < a.count; ++i) {
    const int axis = axis_of(a.axes[i], x.rank());
    if (axis < 0 || a.steps[i] != 1 || a.starts[i] != 0 || a.ends[i] < x.dims[static_cast<size_t>(axis)]) return false;
  }
  return true;
}

bool pads_nothing(const Node& n) {
  const auto a = n.attributes<ops::pad::Attrs>();
  const auto zero = [](int32_t v) { return v == 0; };
  return n.input(2) == nullptr && std::all_of(a.begin, a.begin + 8, zero) && std::all_of(a.end, a.end + 8, zero);
}

bool concats(Graph& graph, Node& n) {
  const auto a = n.attributes<ops::concat::Attrs>();
  const int rank = n.outputs[0]->type.rank(), axis = axis_of(a.axis, rank);
  if (axis < 0) return false;
  std::vector<Value*> parts;
  bool changed = false;
  for (Value* v : n.inputs) {
    const Node* inner = absorbable(v, OpId::concat, n);
    const bool empty = v->type.dims[static_cast<size_t>(axis)] == 0 && n.inputs.size() > 1;
    const bool flat = inner != nullptr && axis_of(inner->attributes<ops::concat::Attrs>().axis, rank) == axis && reads_no_state(*inner);
    changed |= empty || flat;
    if (parts.size() > 1024) return false;
    if (flat) parts.insert(parts.end(), inner->inputs.begin(), inner->inputs.end());
    else if (!empty) parts.push_back(v);
  }
  if (parts.empty()) return false;
  if (parts.size() == 1) return replace(graph, &n, parts[0]);
  if (!changed) return false;
  NodeBuilder b(graph, *n.block, n.name, &n);
  return replace_by(graph, n, b.op(OpId::concat, a, parts));
}

// One known slice along an axis is a slice, which may be a view.
bool picks(Graph& graph, Node& n) {
  const auto a = n.attributes<ops::gather::Attrs>();
  Value *x = n.inputs[0], *y = n.outputs[0];
  const int axis = axis_of(a.axis, x->type.rank());
  std::vector<int64_t> index;
  if (!n.inputs[1]->is_constant() || !is_scalar(*n.inputs[1]) || n.inputs[1]->type.rank() > 1 || a.batch_dims != 0 || axis < 0)
    return false;
  if (!ir::known_ints(*n.inputs[1], &index) || (x->type.dynamic >> axis & 1) != 0 || x->is_constant()) return false;
  const int64_t size = x->type.dims[static_cast<size_t>(axis)], at = index[0] < 0 ? index[0] + size : index[0];
  if (at < 0 || at >= size || !reshape_dims(y->type)) return false;
  ops::slice::Attrs cut;
  cut.starts[0] = static_cast<int32_t>(at);
  cut.ends[0] = static_cast<int32_t>(at + 1);
  cut.axes[0] = axis;
  cut.steps[0] = 1;
  cut.count = 1;
  NodeBuilder b(graph, *n.block, n.name, &n);
  Value* part = b.op(OpId::slice, cut, {x});
  if (part == nullptr) return false;
  if (replace_by(graph, n, n.inputs[1]->type.rank() == 1 ? part : reshape_to(graph, part, y->type, n.name, &n))) return true;
  if (part->producer != nullptr) erase_unused(graph, part->producer);
  return false;
}

// Element-wise operators broadcast by themselves.
bool expands(Graph& graph, Node& n) {
  std::vector<Value*> inputs = n.inputs;
  bool changed = false;
  for (Value*& v : inputs) {
    const Node* e = made_by(v, OpId::expand);
    if (e == nullptr || !reads_no_state(*e) || e->inputs[0]->type.dynamic != 0 || v->type.dynamic != 0) continue;
    v = e->inputs[0];
    changed = true;
  }
  if (!changed) return false;
  std::string ignored;
  Node* made = graph.add_node(*n.block, n.op, n.attrs.data(), n.attrs.size(), inputs, 1, n.name, &n);
  if (ir::infer(*made, &ignored)) return replace_by(graph, n, made->outputs[0]);
  graph.erase(made);
  return false;
}

// Reducing axes of size 1 keeps the elements.
bool reduces_nothing(const Node& n) {
  if (!n.is(OpId::reduce_sum) && !n.is(OpId::reduce_mean) && !n.is(OpId::reduce_max) && !n.is(OpId::reduce_min) && !n.is(OpId::reduce_prod))
    return false;
  return n.inputs.size() == 1 && n.inputs[0]->type.dynamic == 0 && n.inputs[0]->type.count() == n.outputs[0]->type.count();
}

template <class A>
bool pools_nothing(const Node& n) {
  const auto a = n.attributes<A>();
  for (int i = 0; i < 3; ++i)
    if (a.kernel[i] != 1 || a.strides[i] != 1 || a.pads_begin[i] != 0 || a.pads_end[i] != 0) return false;
  return n.outputs.size() == 1 || n.outputs[1] == nullptr;
}

bool resizes_nothing(const Node& n) {
  const auto a = n.attributes<ops::resize::Attrs>();
  const bool plain = a.coordinates == ops::resize::kHalfPixel || a.coordinates == ops::resize::kPytorchHalfPixel ||
                     a.coordinates == ops::resize::kAlignCorners || a.coordinates == ops::resize::kAsymmetric;
  if (!plain || n.inputs.size() > 1 || n.inputs[0]->type.dynamic != 0 || n.inputs[0]->type != n.outputs[0]->type) return false;
  return std::all_of(a.scales, a.scales + 3, [](float s) { return s == 0 || s == 1; });
}

}  // namespace

bool simplify_moves(Graph& graph, Node& n) {
  Value* x = n.input(0);
  switch (static_cast<OpId>(n.op)) {
    case OpId::reshape: return reshapes(graph, n);
    case OpId::transpose: return transposes(graph, n);
    case OpId::concat: return concats(graph, n);
    case OpId::slice: return whole_slice(n) && replace(graph, &n, x);
    case OpId::pad: return pads_nothing(n) && replace(graph, &n, x);
    case OpId::expand: return x->type.dynamic == 0 && replace(graph, &n, x);
    case OpId::tile: return x->type.dynamic == 0 && n.inputs.size() == 1 && replace(graph, &n, x);
    case OpId::split: return n.outputs.size() == 1 && n.inputs.size() == 1 && replace(graph, &n, x);
    case OpId::reverse: return n.attributes<ops::reverse::Attrs>().count == 0 && replace(graph, &n, x);
    case OpId::max_pool: return pools_nothing<ops::max_pool::Attrs>(n) && replace(graph, &n, x);
    case OpId::avg_pool:
      return n.attributes<ops::avg_pool::Attrs>().divisor_override <= 1 && pools_nothing<ops::avg_pool::Attrs>(n) && replace(graph, &n, x);
    case OpId::resize: return resizes_nothing(n) && replace(graph, &n, x);
    case OpId::gather: return picks(graph, n);
    case OpId::where: return expands(graph, n);
    default: break;
  }
  const bool binary = n.op >= static_cast<uint16_t>(OpId::add) && n.op <= static_cast<uint16_t>(OpId::shift_right);
  if (binary) return expands(graph, n);
  return reduces_nothing(n) && replace_by(graph, n, reshape_to(graph, x, n.outputs[0]->type, n.name, &n));
}

}  // namespace mote::passes
