#include "mote/compiler/passes/permute.h"

#include <algorithm>

#include "mote/compiler/ir/evaluate.h"
#include "mote/ops/arg_max/arg_max.h"
#include "mote/ops/batch_norm/batch_norm.h"
#include "mote/ops/common/reduce.h"
#include "mote/ops/concat/concat.h"
#include "mote/ops/dequantize/dequantize.h"
#include "mote/ops/expand/expand.h"
#include "mote/ops/gather/gather.h"
#include "mote/ops/lp_norm/lp_norm.h"
#include "mote/ops/mean_variance_norm/mean_variance_norm.h"
#include "mote/ops/pad/pad.h"
#include "mote/ops/q_concat/q_concat.h"
#include "mote/ops/q_reduce/q_reduce.h"
#include "mote/ops/quantize/quantize.h"
#include "mote/ops/reduce_var/reduce_var.h"
#include "mote/ops/requantize/requantize.h"
#include "mote/ops/reshape/reshape.h"
#include "mote/ops/reverse/reverse.h"
#include "mote/ops/slice/slice.h"
#include "mote/ops/softmax/softmax.h"
#include "mote/ops/split/split.h"
#include "mote/ops/tile/tile.h"

namespace mote::passes {
namespace {

using Result = std::optional<Permuted>;

// Where an axis of x is in transpose(x, perm).
int32_t place_of(const Dims& perm, int64_t axis) {
  const int a = axis_of(axis, static_cast<int>(perm.size()));
  return a < 0 ? 0 : static_cast<int32_t>(std::find(perm.begin(), perm.end(), a) - perm.begin());
}

Permuted same(const Node& n, const Dims& perm) {
  return {std::vector<Dims>(n.inputs.size()), std::vector<Dims>(n.outputs.size(), perm), n.attrs};
}

template <class A>
void set_attrs(Permuted& p, const A& a) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&a);
  p.attrs.assign(bytes, bytes + attrs_size<A>);
}

// Input 0 is permuted, the others are numbers or tables that stay.
Result unary(const Node& n, const Dims& perm) {
  Permuted p = same(n, perm);
  p.inputs[0] = perm;
  return p;
}

// The result has the rank of the permuted input; operands of less rank get axes in front.
Result elementwise(const Node& n, const Dims& perm) {
  if (n.outputs[0]->type.rank() != static_cast<int>(perm.size())) return {};
  Permuted p = same(n, perm);
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    const Value* v = n.inputs[i];
    if (v == nullptr || is_scalar(*v)) continue;
    if (v->type.rank() != static_cast<int>(perm.size()) && __builtin_popcount(v->type.dynamic) > 1) return {};
    p.inputs[i] = perm;
  }
  return p;
}

// Operators with one axis, which all operands from `first` on share.
template <class A>
Result along_axis(const Node& n, const Dims& perm, size_t first = 0) {
  Permuted p = same(n, perm);
  for (size_t i = first; i < n.inputs.size(); ++i) p.inputs[i] = perm;
  auto a = n.attributes<A>();
  a.axis = place_of(perm, a.axis);
  set_attrs(p, a);
  return p;
}

// Scales along one axis, in operands that are short vectors.
template <class A>
Result scaled(const Node& n, const Dims& perm, bool blocked) {
  if (blocked) return {};
  Result p = unary(n, perm);
  auto a = n.attributes<A>();
  if (n.inputs[1]->type.rank() == 1) a.axis = place_of(perm, a.axis);
  set_attrs(*p, a);
  return p;
}

// The permutation of the remaining axes when some are dropped.
Dims without(const Dims& perm, uint32_t gone) {
  Dims out;
  for (const int32_t p : perm) {
    if ((gone >> p & 1) != 0) continue;
    int32_t before = 0;
    for (int32_t k = 0; k < p; ++k) before += (gone >> k & 1) == 0 ? 1 : 0;
    out.push_back(before);
  }
  return out;
}

template <class A>
Result reduction(const Node& n, const Dims& perm) {
  if (n.inputs.size() != 1) return {};
  Permuted p = same(n, perm);
  p.inputs[0] = perm;
  auto a = n.attributes<A>();
  uint32_t mask = a.axis_count == 0 ? (1u << perm.size()) - 1 : 0;
  for (int i = 0; i < a.axis_count; ++i) {
    mask |= 1u << axis_of(a.axes[i], static_cast<int>(perm.size()));
    a.axes[i] = place_of(perm, a.axes[i]);
  }
  std::sort(a.axes, a.axes + a.axis_count);
  if (a.keep_dims == 0) p.outputs[0] = without(perm, mask);
  set_attrs(p, a);
  return p;
}

Result slice(const Node& n, const Dims& perm) {
  if (n.inputs.size() != 1) return {};
  Result p = unary(n, perm);
  auto a = n.attributes<ops::slice::Attrs>();
  for (int i = 0; i < a.count; ++i) a.axes[i] = place_of(perm, a.axes[i]);
  set_attrs(*p, a);
  return p;
}

Result pad(const Node& n, const Dims& perm) {
  if (n.input(2) != nullptr) return {};
  Result p = unary(n, perm);
  const auto a = n.attributes<ops::pad::Attrs>();
  ops::pad::Attrs moved = a;
  for (size_t i = 0; i < perm.size(); ++i) {
    moved.begin[i] = a.begin[perm[i]];
    moved.end[i] = a.end[perm[i]];
  }
  set_attrs(*p, moved);
  return p;
}

Result tile(const Node& n, const Dims& perm) {
  if (n.inputs.size() != 1) return {};
  Result p = unary(n, perm);
  const auto a = n.attributes<ops::tile::Attrs>();
  ops::tile::Attrs moved = a;
  for (size_t i = 0; i < perm.size(); ++i) moved.repeats[i] = a.repeats[perm[i]];
  set_attrs(*p, moved);
  return p;
}

Result expand(const Node& n, const Dims& perm) {
  const auto a = n.attributes<ops::expand::Attrs>();
  if (n.inputs.size() != 1 || a.rank != static_cast<int32_t>(perm.size())) return {};
  Result p = unary(n, perm);
  ops::expand::Attrs moved = a;
  for (size_t i = 0; i < perm.size(); ++i) moved.dims[i] = a.dims[perm[i]];
  set_attrs(*p, moved);
  return p;
}

template <class A>
Result axis_list(const Node& n, const Dims& perm, int32_t A::*count) {
  Result p = unary(n, perm);
  auto a = n.attributes<A>();
  for (int i = 0; i < a.*count; ++i) a.axes[i] = place_of(perm, a.axes[i]);
  set_attrs(*p, a);
  return p;
}

// One slice (the axis goes) or several along an axis.
Result gather(const Node& n, size_t index, const Dims& perm) {
  auto a = n.attributes<ops::gather::Attrs>();
  const int rank = n.inputs[1]->type.rank();
  if (index != 0 || rank > 1 || a.batch_dims != 0) return {};
  Result p = unary(n, perm);
  if (rank == 0) p->outputs[0] = without(perm, 1u << axis_of(a.axis, static_cast<int>(perm.size())));
  a.axis = place_of(perm, a.axis);
  set_attrs(*p, a);
  return p;
}

// arg_max and arg_min; the whole tensor's position depends on the layout.
Result arg_reduction(const Node& n, const Dims& perm) {
  auto a = n.attributes<ops::arg_max::Attrs>();
  if (a.flat != 0) return {};
  Result p = unary(n, perm);
  const int axis = axis_of(a.axis, static_cast<int>(perm.size()));
  if (a.keep_dims == 0) p->outputs[0] = without(perm, 1u << axis);
  a.axis = place_of(perm, a.axis);
  set_attrs(*p, a);
  return p;
}

// Sizes other than 1, in every sample of the symbols.
std::vector<Dims> sizes_of(const Value& v, const std::vector<int>& axes) {
  std::vector<Dims> out;
  const size_t samples = std::max<size_t>(1, v.facts.size());
  for (size_t s = 0; s < samples; ++s) {
    out.emplace_back();
    for (const int a : axes) out.back().push_back((v.facts.empty() ? v.type.dims : v.facts[s].dims)[static_cast<size_t>(a)]);
  }
  return out;
}
std::vector<int> real_axes(const Type& t) {
  std::vector<int> out;
  for (int i = 0; i < t.rank(); ++i)
    if (t.dims[static_cast<size_t>(i)] != 1 || (t.dynamic >> i & 1) != 0) out.push_back(i);
  return out;
}

// Axes of a reshape that belong together: x's [in, in_end) have as many elements as y's [out, out_end). Indices into real axes.
struct Segment {
  size_t in, in_end, out, out_end;
};
std::optional<std::vector<Segment>> segments_of(const std::vector<Dims>& in, const std::vector<Dims>& out) {
  std::vector<Segment> all;
  const size_t samples = in.size();
  size_t i = 0, o = 0;
  while (i < in[0].size() || o < out[0].size()) {
    Segment s{i, i, o, o};
    std::vector<int64_t> a(samples, 1), b(samples, 1);
    const auto take = [&](size_t& at, const std::vector<Dims>& from, std::vector<int64_t>& product) {
      for (size_t k = 0; k < samples; ++k) product[k] *= from[k][at];
      ++at;
    };
    if (i == in[0].size() || o == out[0].size()) return {};
    take(i, in, a);
    take(o, out, b);
    while (a != b) {
      if (a[0] == 0 || b[0] == 0) return {};
      if (a[0] < b[0] && i < in[0].size()) take(i, in, a);
      else if (a[0] >= b[0] && o < out[0].size()) take(o, out, b);
      else return {};
    }
    s.in_end = i;
    s.out_end = o;
    all.push_back(s);
  }
  return all;
}

Result reshape(const Node& n, const Dims& perm) {
  const Value &x = *n.inputs[0], &y = *n.outputs[0];
  if (n.inputs.size() != 1 || x.facts.size() != y.facts.size()) return {};
  const std::vector<int> in = real_axes(x.type), out = real_axes(y.type);
  const auto segments = segments_of(sizes_of(x, in), sizes_of(y, out));
  if (!segments) return {};
  // The axes of x in the order of the permutation, as indices into the real ones; each segment must stay together, in order.
  std::vector<size_t> order;
  for (const int32_t p : perm) {
    const auto it = std::find(in.begin(), in.end(), p);
    if (it != in.end()) order.push_back(static_cast<size_t>(it - in.begin()));
  }
  Dims result;
  for (size_t k = 0; k < order.size();) {
    const auto s = std::find_if(segments->begin(), segments->end(), [&](const Segment& g) { return g.in == order[k]; });
    if (s == segments->end()) return {};
    for (size_t i = s->in; i < s->in_end; ++i, ++k)
      if (k >= order.size() || order[k] != i) return {};
    for (size_t o = s->out; o < s->out_end; ++o) result.push_back(out[o]);
  }
  // Axes of size 1 follow the axis they followed.
  for (int o = 0; o < y.type.rank(); ++o) {
    if (std::find(out.begin(), out.end(), o) != out.end()) continue;
    const auto before = std::find(result.begin(), result.end(), o - 1);
    result.insert(before == result.end() ? result.begin() : before + 1, o);
  }
  const std::optional<Dims> dims = reshape_dims(permuted_type(y.type, result));
  if (!dims) return {};
  Result p = unary(n, perm);
  p->outputs[0] = result;
  ops::reshape::Attrs a;
  a.rank = static_cast<int32_t>(dims->size());
  a.allow_zero = y.type.count() == 0 ? 1 : 0;
  std::copy(dims->begin(), dims->end(), a.dims);
  set_attrs(*p, a);
  return p;
}

bool between(const Node& n, OpId first, OpId last) { return n.op >= static_cast<uint16_t>(first) && n.op <= static_cast<uint16_t>(last); }

}  // namespace

bool is_identity(const Dims& perm) { return std::is_sorted(perm.begin(), perm.end()); }

bool is_trivial(const Type& type, const Dims& perm) {
  Dims real;
  for (const int32_t p : perm)
    if (type.dims[static_cast<size_t>(p)] != 1 || (type.dynamic >> p & 1) != 0) real.push_back(p);
  return is_identity(real);
}

Type permuted_type(const Type& type, const Dims& perm) {
  Type t = type;
  t.dynamic = 0;
  for (size_t i = 0; i < perm.size(); ++i) {
    t.dims[i] = type.dims[static_cast<size_t>(perm[i])];
    t.dynamic = static_cast<uint8_t>(t.dynamic | (type.dynamic >> perm[i] & 1) << i);
  }
  return t;
}

Result permuted(const Node& n, size_t index, const Dims& perm) {
  if (!n.is_operator() || n.outputs.empty() || n.outputs[0] == nullptr || !reads_no_state(n)) return {};
  if (between(n, OpId::abs, OpId::bitwise_not) || n.is(OpId::copy) || n.is(OpId::cast) || n.is(OpId::bitcast) || n.is(OpId::q_lut))
    return index == 0 ? unary(n, perm) : Result{};
  if (between(n, OpId::add, OpId::shift_right) || n.is(OpId::where) || n.is(OpId::q_add) || n.is(OpId::q_sub) || n.is(OpId::q_mul))
    return elementwise(n, perm);
  if (n.is(OpId::concat)) return along_axis<ops::concat::Attrs>(n, perm);
  if (n.is(OpId::q_concat)) return index >= 2 ? along_axis<ops::q_concat::Attrs>(n, perm, 2) : Result{};
  if (n.is(OpId::gather)) return gather(n, index, perm);
  if (index != 0) return {};
  switch (static_cast<OpId>(n.op)) {
    case OpId::softmax:
    case OpId::log_softmax: return along_axis<ops::softmax::Attrs>(n, perm);
    case OpId::lp_norm: return along_axis<ops::lp_norm::Attrs>(n, perm);
    case OpId::quantize: return scaled<ops::quantize::Attrs>(n, perm, n.attributes<ops::quantize::Attrs>().block != 0);
    case OpId::dequantize: return scaled<ops::dequantize::Attrs>(n, perm, n.attributes<ops::dequantize::Attrs>().block != 0);
    case OpId::requantize: return scaled<ops::requantize::Attrs>(n, perm, false);
    case OpId::batch_norm: return scaled<ops::batch_norm::Attrs>(n, perm, false);
    case OpId::split: {
      Result p = unary(n, perm);
      auto a = n.attributes<ops::split::Attrs>();
      a.axis = place_of(perm, a.axis);
      set_attrs(*p, a);
      return p;
    }
    case OpId::slice: return slice(n, perm);
    case OpId::pad: return pad(n, perm);
    case OpId::tile: return tile(n, perm);
    case OpId::expand: return expand(n, perm);
    case OpId::reshape: return reshape(n, perm);
    case OpId::reverse: return axis_list<ops::reverse::Attrs>(n, perm, &ops::reverse::Attrs::count);
    case OpId::mean_variance_norm: return axis_list<ops::mean_variance_norm::Attrs>(n, perm, &ops::mean_variance_norm::Attrs::axis_count);
    case OpId::arg_max:
    case OpId::arg_min: return arg_reduction(n, perm);
    case OpId::reduce_var: return reduction<ops::reduce_var::Attrs>(n, perm);
    case OpId::q_reduce: return reduction<ops::q_reduce::Attrs>(n, perm);
    default: break;
  }
  return between(n, OpId::reduce_sum, OpId::reduce_sum_square) ? reduction<ops::ReduceAttrs>(n, perm) : Result{};
}

}  // namespace mote::passes
