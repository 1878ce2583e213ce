// Elements found by indices: writing.

#include <algorithm>
#include <cmath>

#include "mote/compiler/frontends/torch/indexing.h"
#include "mote/ops/scatter_elements/scatter_elements.h"
#include "mote/ops/scatter_nd/scatter_nd.h"

namespace mote::frontends::torch {
namespace {

enum Reduction : int32_t { kSet = 0, kAdd = 1, kMul = 2, kMin = 3, kMax = 4 };

Value* scatter(Op& o, Value* x, Value* index, Value* updates, int axis, Reduction reduction) {
  ops::scatter_elements::Attrs a;
  a.axis = axis;
  a.reduction = reduction;
  return o.b.ok() ? o.b.op(OpId::scatter_elements, a, {x, index, updates}) : nullptr;
}

// Updates may be larger than the indices: what lies beyond them is not read.
Value* cut_to(Op& o, Value* src, Value* index) {
  for (int i = 0; i < rank_of(src) && i < rank_of(index); ++i) {
    if (is_fixed(src, i) && is_fixed(index, i) && dim_of(src, i) != dim_of(index, i)) src = o.slice(src, i, 0, dim_of(index, i));
  }
  return src;
}

struct Scattered {
  Value *x = nullptr, *index = nullptr, *src = nullptr;
  int axis = 0;
  bool scalar = false, empty = false;
};

// self, dim, index and src or value; scalars count as vectors of one.
Scattered read_scattered(Op& o) {
  Scattered s;
  s.x = o.in("self");
  s.index = o.in("index");
  s.axis = o.axis("dim", 0, rank_of(s.x));
  if (!o.b.ok()) return s;
  s.scalar = rank_of(s.x) == 0;
  s.empty = s.index->type.is_static() && s.index->type.count() == 0;
  if (s.scalar) s.x = o.reshape(s.x, {1});
  if (rank_of(s.index) == 0) s.index = o.reshape(s.index, {1});
  const DType t = dtype_of_value(s.x);
  if (o.has("src")) {
    s.src = o.cast(o.in("src"), t);
    if (rank_of(s.src) == 0) s.src = o.reshape(s.src, {1});
    if (!s.empty) s.src = cut_to(o, s.src, s.index);
  } else {
    s.src = o.expand_to(o.scalar("value", t), o.sizes_of(s.index));
  }
  return s;
}

void finish(Op& o, const Scattered& s, Value* y) { o.out(s.scalar ? o.reshape(s.empty ? s.x : y, {}) : s.empty ? s.x : y); }

void import_scatter(Op& o) {
  const Scattered s = read_scattered(o);
  if (!o.b.ok()) return;
  const std::string reduce = o.text("reduce", "");
  const Reduction r = reduce == "add" ? kAdd : reduce == "multiply" ? kMul : kSet;
  finish(o, s, s.empty ? nullptr : scatter(o, s.x, s.index, s.src, s.axis, r));
}

void import_scatter_add(Op& o) {
  const Scattered s = read_scattered(o);
  if (o.b.ok()) finish(o, s, s.empty ? nullptr : scatter(o, s.x, s.index, s.src, s.axis, kAdd));
}

// What leaves a value as it is under a reduction.
Value* neutral(Op& o, Reduction r, DType t) {
  if (r == kAdd || r == kMul) return o.number(r == kMul ? 1 : 0, t);
  if (is_float(t)) return o.number(r == kMin ? INFINITY : -INFINITY, t);
  return o.number(r == kMin ? 1e30 : -1e30, t);  // saturates to the type's ends
}

void import_scatter_reduce(Op& o) {
  Scattered s = read_scattered(o);
  if (!o.b.ok()) return;
  const std::string kind = o.text("reduce", "sum");
  const bool mean = kind == "mean", with_self = o.flag("include_self", true), truth = dtype_of_value(s.x) == DType::boolean;
  Reduction r = kind == "prod" ? kMul : kind == "amax" ? kMax : kind == "amin" ? kMin : kAdd;
  if (s.empty) return finish(o, s, nullptr);
  if (truth) {  // sums are "or", products "and"
    r = r == kAdd ? kMax : r == kMul ? kMin : r;
    s.x = o.cast(s.x, DType::u8);
    s.src = o.cast(s.src, DType::u8);
  }
  const DType t = dtype_of_value(s.x);
  Value* start = s.x;
  if (!with_self) start = scatter(o, s.x, s.index, o.expand_to(neutral(o, r, t), o.sizes_of(s.index)), s.axis, kSet);
  Value* y = scatter(o, start, s.index, s.src, s.axis, r);
  if (mean) {
    Value* ones = o.fill(1, t, o.shape_of(s.index));
    Value* count = o.fill(with_self ? 1 : 0, t, o.shape_of(s.x));
    count = o.op(OpId::maximum, {scatter(o, count, s.index, ones, s.axis, kAdd), o.number(1, t)});
    y = o.op(is_float(t) ? OpId::div : OpId::floor_div, {y, count});
  }
  finish(o, s, truth ? o.cast(y, DType::boolean) : y);
}

// Slices along one axis, named by a vector of indices.
void along_axis(Op& o, Reduction r, Value* src) {
  Value *x = o.in("self"), *index = o.in("index");
  const int axis = o.axis("dim", 0, rank_of(x));
  if (!o.b.ok()) return;
  const bool scalar = rank_of(x) == 0;
  if (scalar) x = o.reshape(x, {1});
  if (rank_of(index) == 0) index = o.reshape(index, {1});
  std::vector<Size> sizes = o.sizes_of(x);
  sizes[static_cast<size_t>(axis)] = o.size_at(index, 0);
  std::vector<int64_t> added;
  for (int i = 0; i < rank_of(x); ++i)
    if (i != axis) added.push_back(i);
  Value* spread = o.expand_to(added.empty() ? index : o.unsqueeze(index, added), sizes);
  Value* updates = o.expand_to(rank_of(src) == 0 && rank_of(x) == 1 ? o.reshape(src, {1}) : src, sizes);
  const bool empty = index->type.is_static() && index->type.count() == 0;
  Value* y = empty ? x : scatter(o, x, spread, updates, axis, r);
  o.out(scalar ? o.reshape(y, {}) : y);
}

void import_index_copy(Op& o) { along_axis(o, kSet, o.in("source")); }

void import_index_add(Op& o) {
  Value* src = o.in("source");
  if (o.has("alpha")) {
    Value* alpha = o.scalar("alpha", dtype_of_value(src));
    src = dtype_of_value(src) == DType::boolean ? o.op(OpId::logical_and, {src, alpha}) : o.mul(src, alpha);
  }
  along_axis(o, kAdd, src);
}

void import_index_fill(Op& o) {
  Value* x = o.in("self");
  along_axis(o, kSet, o.scalar("value", dtype_of_value(x)));
}

// A mask and one value: no indices are needed.
bool put_by_mask(Op& o, Value* x, const std::vector<Value*>& given, Value* values) {
  if (given.size() != 1 || given[0] == nullptr || dtype_of_value(given[0]) != DType::boolean || !values->type.is_static() ||
      values->type.count() != 1 || o.flag("accumulate", false))
    return false;
  Value* mask = given[0];
  std::vector<int64_t> added;
  for (int i = rank_of(mask); i < rank_of(x); ++i) added.push_back(i);
  if (!added.empty()) mask = o.unsqueeze(mask, added);
  o.out(o.op(OpId::where, {mask, o.reshape(values, {}), x}));
  return true;
}

void import_index_put(Op& o) {
  Indexing at;
  at.x = o.in("self");
  const std::vector<Value*> given = o.tensors("indices");
  Value* values = o.cast(o.in("values"), dtype_of_value(at.x));
  if (!o.b.ok() || put_by_mask(o, at.x, given, values) || !at.read(o, given)) return;
  const std::vector<int> order = at.result_order();
  std::vector<int> back(order.size()), unfront(at.front.size());
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int>(i);
  for (size_t i = 0; i < at.front.size(); ++i) unfront[static_cast<size_t>(at.front[i])] = static_cast<int>(i);
  // Sizes of what is put: those of the indices, then of the other axes; in torch's order for broadcasting.
  std::vector<Size> parts = o.sizes_of(at.indices[0]), sizes;
  for (size_t i = at.axes.size(); i < at.front.size(); ++i) parts.push_back(o.size_at(at.x, at.front[i]));
  for (int i : order) sizes.push_back(parts[static_cast<size_t>(i)]);
  Value* updates = o.transpose(o.expand_to(values, sizes), back);
  ops::scatter_nd::Attrs a;
  a.reduction = o.flag("accumulate", false) ? kAdd : kSet;
  Value *x = o.transpose(at.x, at.front), *tuples = at.tuples(o);
  if (o.b.ok()) o.out(o.transpose(o.b.op(OpId::scatter_nd, a, {x, tuples, updates}), unfront));
}

void import_masked_scatter(Op& o) {
  Value *x = o.in("self"), *mask = o.in("mask"), *source = o.reshape(o.in("source"), {-1});
  if (!o.b.ok()) return;
  x = o.op(OpId::expand, {x, o.shape_of(mask)});
  mask = o.op(OpId::expand, {mask, o.shape_of(x)});
  Value* flat = o.reshape(mask, {-1});
  if (source->type.is_static() && source->type.count() == 0) return o.out(x);
  // Each true element takes the next of the source.
  Value* rank = o.sub(o.op(OpId::cum_sum, {o.cast(flat, DType::s64)}), o.number(1, DType::s64));
  Value* last = o.sub(o.reshape(o.size_of(source, 0), {}), o.number(1, DType::s64));
  Value* at = o.op(OpId::minimum, {o.op(OpId::maximum, {rank, o.number(0, DType::s64)}), last});
  Value* taken = o.reshape_to(o.gather(source, at, 0), o.sizes_of(x));
  o.out(o.op(OpId::where, {mask, taken, x}));
}

// Writes src into a range of one axis.
Value* write_range(Op& o, Value* x, Value* src, int axis, const Size& begin, const Size& end, int64_t step) {
  const size_t at = static_cast<size_t>(axis);
  if (begin.running == nullptr && end.running == nullptr && is_fixed(x, axis)) {
    const int64_t n = dim_of(x, axis);
    const auto inside = [n](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + n : v, 0, n); };
    const int64_t first = inside(begin.known), last = std::max(first, inside(end.known));
    if (first == last) return x;
    if (first == 0 && last == n && step == 1) return src;
    if (step == 1) {
      std::vector<Value*> parts;
      if (first > 0) parts.push_back(o.slice(x, axis, 0, first));
      parts.push_back(src);
      if (last < n) parts.push_back(o.slice(x, axis, last, n));
      return o.concat(parts, axis);
    }
    if ((last - first) / step > kMostPlaces) {
      o.refuse("too many places");
      return nullptr;
    }
    std::vector<int64_t> places;
    for (int64_t i = first; i < last; i += step) places.push_back(i);
    std::vector<int64_t> shape(static_cast<size_t>(rank_of(x)), 1);
    shape[at] = static_cast<int64_t>(places.size());
    return scatter(o, x, o.expand_to(o.reshape(o.ints(places), shape), o.sizes_of(src)), src, axis, kSet);
  }
  if (step != 1) {
    o.refuse("a range that only running tells must have steps of 1");
    return nullptr;
  }
  std::vector<Size> starts(static_cast<size_t>(rank_of(x)), Size{0, nullptr});
  starts[at] = begin;
  return o.op(OpId::update_slice, {x, src, o.shape_vector(starts)});
}

void import_slice_scatter(Op& o) {
  Value* x = o.in("self");
  const int axis = o.axis("dim", 0, rank_of(x));
  const Size begin = o.size("start", 0), end = o.size("end", INT32_MAX);
  const int64_t step = o.integer("step", 1);
  if (rank_of(x) == 0 || step < 1) return o.refuse("expected a tensor with axes and a step above 0");
  std::vector<Size> sizes = o.sizes_of(x);
  Value* src = o.cast(o.in("src"), dtype_of_value(x));
  o.out(write_range(o, x, src, axis, begin, end, step));
}

void import_select_scatter(Op& o) {
  Value* x = o.in("self");
  const int axis = o.axis("dim", 0, rank_of(x));
  if (rank_of(x) == 0) return o.refuse("expected a tensor with axes");
  const Size index = o.size("index", 0);
  Value* src = o.unsqueeze(o.cast(o.in("src"), dtype_of_value(x)), {axis});
  Size end{index.known == -1 ? INT32_MAX : index.known + 1, nullptr};
  if (index.running != nullptr) end.running = o.add(index.running, 1);
  o.out(write_range(o, x, src, axis, index, end, 1));
}

}  // namespace

void add_scatter_ops(OpTable& t);
void add_scatter_ops(OpTable& t) {
  add_lines(t, {
                   {"aten.scatter", "src value reduce value_reduce", &import_scatter},
                   {"aten.scatter_add", "default", &import_scatter_add},
                   {"aten.scatter_reduce", "two", &import_scatter_reduce},
                   {"aten.index_copy", "default", &import_index_copy},
                   {"aten.index_add", "default", &import_index_add},
                   {"aten.index_fill", "int_Scalar int_Tensor", &import_index_fill},
                   {"aten.index_put", "default", &import_index_put},
                   {"aten._unsafe_index_put", "default", &import_index_put},
                   {"aten.masked_scatter", "default", &import_masked_scatter},
                   {"aten.slice_scatter", "default", &import_slice_scatter},
                   {"aten.select_scatter", "default", &import_select_scatter},
               });
}

}  // namespace mote::frontends::torch
