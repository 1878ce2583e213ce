// Shape arithmetic removed: sizes, axes and bounds that arrive as tensors and are known become attributes.

#include <algorithm>
#include <cmath>

#include "mote/compiler/ir/infer.h"
#include "mote/compiler/passes/rewrite.h"
#include "mote/ops/clip/clip.h"
#include "mote/ops/expand/expand.h"
#include "mote/ops/fill/fill.h"
#include "mote/ops/pad/pad.h"
#include "mote/ops/q_reduce/q_reduce.h"
#include "mote/ops/reduce_sum/reduce_sum.h"
#include "mote/ops/reshape/reshape.h"
#include "mote/ops/resize/resize.h"
#include "mote/ops/slice/slice.h"
#include "mote/ops/tile/tile.h"
#include "mote/ops/top_k/top_k.h"

namespace mote::passes {
namespace {

// Whether operand i is there and constant; its numbers, brought into 32 bits.
bool ints(const Node& n, size_t i, std::vector<int32_t>* out) {
  std::vector<int64_t> wide;
  const Value* v = n.input(i);
  if (v == nullptr || !v->is_constant() || !ir::known_ints(*v, &wide)) return false;
  out->clear();
  for (const int64_t x : wide) out->push_back(static_cast<int32_t>(std::clamp<int64_t>(x, INT32_MIN, INT32_MAX)));
  return true;
}

void drop_inputs(Graph& graph, Node& n, size_t first) {
  for (size_t i = first; i < n.inputs.size(); ++i) graph.set_input(&n, i, nullptr);
  n.inputs.resize(std::min(n.inputs.size(), first));
}

// Gives a node new attributes without its operands from `first` on, unless that would change its type.
template <class A>
bool settle(Graph& graph, Node& n, const A& attrs, size_t first) {
  const std::vector<Value*> inputs(n.inputs.begin(), n.inputs.begin() + static_cast<std::ptrdiff_t>(first));
  NodeBuilder b(graph, *n.block, n.name, &n);
  Value* y = b.op(static_cast<OpId>(n.op), attrs, inputs);
  if (y == nullptr) return false;
  if (y->type != n.outputs[0]->type) {
    graph.erase(y->producer);
    return false;
  }
  return replace(graph, &n, y);
}

bool reshape_shape(Graph& graph, Node& n) {
  if (n.input(1) == nullptr) return false;
  const Type& y = n.outputs[0]->type;
  const std::optional<Dims> dims = reshape_dims(y);
  if (!dims) return false;
  ops::reshape::Attrs a;
  a.rank = static_cast<int32_t>(dims->size());
  a.allow_zero = y.count() == 0 ? 1 : 0;
  std::copy(dims->begin(), dims->end(), a.dims);
  return settle(graph, n, a, 1);
}

bool expand_shape(Graph& graph, Node& n) {
  const Type& y = n.outputs[0]->type;
  if (n.input(1) == nullptr || y.dynamic != 0) return false;
  ops::expand::Attrs a;
  a.rank = y.rank();
  std::copy(y.dims.begin(), y.dims.end(), a.dims);
  return settle(graph, n, a, 1);
}

bool fill_shape(Graph& graph, Node& n) {
  const Type& y = n.outputs[0]->type;
  if (n.input(1) == nullptr || y.dynamic != 0) return false;
  ops::fill::Attrs a;
  a.rank = y.rank();
  std::copy(y.dims.begin(), y.dims.end(), a.dims);
  return settle(graph, n, a, 1);
}

bool slice_ranges(Graph& graph, Node& n) {
  if (n.inputs.size() < 2) return false;
  auto a = n.attributes<ops::slice::Attrs>();
  std::vector<int32_t> starts(a.starts, a.starts + a.count), ends(a.ends, a.ends + a.count), axes(a.axes, a.axes + a.count),
      steps(a.steps, a.steps + a.count);
  std::vector<int32_t>* lists[] = {&starts, &ends, &axes, &steps};
  for (size_t i = 0; i < 4; ++i)
    if (n.input(i + 1) != nullptr && !ints(n, i + 1, lists[i])) return false;
  const size_t count = starts.size();
  if (axes.empty())
    for (size_t i = 0; i < count; ++i) axes.push_back(static_cast<int32_t>(i));
  if (steps.empty()) steps.assign(count, 1);
  if (ends.size() != count || axes.size() != count || steps.size() != count || count > 8) return false;
  a.count = static_cast<int32_t>(count);
  std::copy(starts.begin(), starts.end(), a.starts);
  std::copy(ends.begin(), ends.end(), a.ends);
  std::copy(axes.begin(), axes.end(), a.axes);
  std::copy(steps.begin(), steps.end(), a.steps);
  return settle(graph, n, a, 1);
}

// A bound as the attribute holds it, when that is exact.
bool bound(const Value* v, float* out) {
  const std::vector<double> x = constant_numbers(v, 1);
  if (x.size() != 1 || std::isnan(x[0])) return false;
  const double limit = is_float(*v) ? HUGE_VAL : 1 << 24;
  *out = static_cast<float>(x[0]);
  return (std::fabs(x[0]) <= limit && static_cast<double>(*out) == x[0]) || std::isinf(x[0]);
}

bool pad_counts(Graph& graph, Node& n) {
  if (n.inputs.size() < 2) return false;
  auto a = n.attributes<ops::pad::Attrs>();
  const int rank = n.inputs[0]->type.rank();
  std::vector<int32_t> pads, axes;
  if (n.input(2) != nullptr) {
    if (!ints(n, 2, &pads) || (n.input(3) != nullptr && !ints(n, 3, &axes))) return false;
    if (n.input(3) == nullptr)
      for (int i = 0; i < rank; ++i) axes.push_back(i);
    if (pads.size() != 2 * axes.size()) return false;
    std::fill(a.begin, a.begin + 8, 0);
    std::fill(a.end, a.end + 8, 0);
    for (size_t i = 0; i < axes.size(); ++i) {
      const int axis = axis_of(axes[i], rank);
      if (axis < 0) return false;
      a.begin[axis] = pads[i];
      a.end[axis] = pads[i + axes.size()];
    }
  }
  if (n.input(1) != nullptr && a.mode == ops::pad::kConstant && !bound(n.inputs[1], &a.value)) {
    if (n.inputs.size() == 2) return false;
    return settle(graph, n, a, 2);  // the value stays an operand
  }
  return settle(graph, n, a, 1);
}

bool clip_bounds(Graph& graph, Node& n) {
  if (n.inputs.size() < 2) return false;
  auto a = n.attributes<ops::clip::Attrs>();
  if (n.input(1) != nullptr && !bound(n.inputs[1], &a.lo)) return false;
  if (n.input(2) != nullptr && !bound(n.inputs[2], &a.hi)) return false;
  return settle(graph, n, a, 1);
}

template <class A>
bool reduce_axes(Graph& graph, Node& n) {
  std::vector<int32_t> axes;
  if (n.input(1) == nullptr || !ints(n, 1, &axes) || axes.empty() || axes.size() > 8) return false;
  auto a = n.attributes<A>();
  a.axis_count = static_cast<int32_t>(axes.size());
  std::copy(axes.begin(), axes.end(), a.axes);
  return settle(graph, n, a, 1);
}

// Constant scales and crop go along with the sizes; where only running tells them, the operands stay.
bool resize_sizes(Graph& graph, Node& n) {
  std::vector<int32_t> sizes;
  if (n.input(1) == nullptr || !ints(n, 1, &sizes) || sizes.size() > 3) return false;
  const auto given = [&n](size_t i) { return constant_numbers(n.input(i), 6); };
  const std::vector<double> scales = given(2), crop = given(3);
  if ((n.input(2) != nullptr && scales.size() != sizes.size()) || (n.input(3) != nullptr && crop.size() != 2 * sizes.size())) return false;
  auto a = n.attributes<ops::resize::Attrs>();
  std::copy(sizes.begin(), sizes.end(), a.sizes);
  for (size_t i = 0; i < scales.size(); ++i) a.scales[i] = static_cast<float>(scales[i]);
  for (size_t i = 0; i < crop.size(); ++i) (i < sizes.size() ? a.roi_start[i] : a.roi_end[i - sizes.size()]) = static_cast<float>(crop[i]);
  return settle(graph, n, a, 1);
}

bool tile_repeats(Graph& graph, Node& n) {
  std::vector<int32_t> repeats;
  if (n.input(1) == nullptr || !ints(n, 1, &repeats) || repeats.size() > 8) return false;
  ops::tile::Attrs a;
  std::copy(repeats.begin(), repeats.end(), a.repeats);
  return settle(graph, n, a, 1);
}

bool top_k_count(Graph& graph, Node& n) {
  std::vector<int32_t> k;
  if (n.input(1) == nullptr || !ints(n, 1, &k) || k.size() != 1 || k[0] < 1) return false;
  auto a = n.attributes<ops::top_k::Attrs>();
  a.k = k[0];
  n.set_attributes(a);
  drop_inputs(graph, n, 1);
  return true;
}

bool settle_node(Graph& graph, Node& n) {
  if (!n.is_operator()) return false;
  switch (static_cast<OpId>(n.op)) {
    case OpId::reshape: return reshape_shape(graph, n);
    case OpId::expand: return expand_shape(graph, n);
    case OpId::fill: return fill_shape(graph, n);
    case OpId::slice: return slice_ranges(graph, n);
    case OpId::pad: return pad_counts(graph, n);
    case OpId::clip: return clip_bounds(graph, n);
    case OpId::resize: return resize_sizes(graph, n);
    case OpId::tile: return tile_repeats(graph, n);
    case OpId::top_k: return top_k_count(graph, n);
    case OpId::q_reduce: return reduce_axes<ops::q_reduce::Attrs>(graph, n);
    case OpId::reduce_sum:
    case OpId::reduce_mean:
    case OpId::reduce_max:
    case OpId::reduce_min:
    case OpId::reduce_prod:
    case OpId::reduce_any:
    case OpId::reduce_all:
    case OpId::reduce_log_sum_exp:
    case OpId::reduce_l1:
    case OpId::reduce_l2:
    case OpId::reduce_sum_square: return reduce_axes<ops::ReduceAttrs>(graph, n);
    default: return false;
  }
}

}  // namespace

bool shapes(Graph& graph, const PassOptions&) {
  return each_node(graph, [&](Node& n) { return settle_node(graph, n); });
}

}  // namespace mote::passes
