// Elements found by indices: reading.

#include <algorithm>
#include <cmath>

#include "mote/compiler/frontends/torch/indexing.h"
#include "mote/ops/gather_elements/gather_elements.h"
#include "mote/ops/non_zero/non_zero.h"
#include "mote/ops/sort/sort.h"
#include "mote/ops/top_k/top_k.h"

namespace mote::frontends::torch {

// --- indexing.h ---

namespace {

// The places where a mask is true, one index for each of its axes.
std::vector<Value*> places_of(Op& o, Value* mask) {
  Value* found = o.op(OpId::non_zero, {mask});  // (rank, n)
  std::vector<Value*> out;
  for (int i = 0; i < rank_of(mask) && o.b.ok(); ++i) out.push_back(o.squeeze(o.slice(found, 0, i, i + 1), {0}));
  return out;
}

}  // namespace

bool Indexing::read(Op& o, const std::vector<Value*>& given) {
  const int rank = rank_of(x);
  int axis = 0;
  for (Value* index : given) {
    if (index == nullptr) {
      ++axis;
      continue;
    }
    const DType t = dtype_of_value(index);
    if (t == DType::boolean || t == DType::u8) {
      if (rank_of(index) == 0) {
        o.refuse("an index that is a single truth value is not supported");
        return false;
      }
      for (Value* place : places_of(o, index)) {
        indices.push_back(place);
        axes.push_back(axis++);
      }
      continue;
    }
    indices.push_back(o.cast(index, DType::s64));
    axes.push_back(axis++);
  }
  if (axis > rank || indices.empty()) o.refuse("expected 1 to " + std::to_string(rank) + " indices");
  if (!o.b.ok()) return false;
  adjacent = axes.back() - axes.front() + 1 == static_cast<int>(axes.size());
  for (int a : axes) front.push_back(a);
  for (int i = 0; i < rank; ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) front.push_back(i);
  if (indices.size() == 1) return true;
  // All have the shape they broadcast to.
  Value* shape = o.shape_of(indices[0]);
  for (size_t i = 1; i < indices.size() && o.b.ok(); ++i) {
    Value* both = o.op(OpId::expand, {o.op(OpId::expand, {indices[0], shape}), o.shape_of(indices[i])});
    shape = o.shape_of(both);
  }
  for (Value*& v : indices) v = o.op(OpId::expand, {v, shape});
  return o.b.ok();
}

Value* Indexing::tuples(Op& o) const {
  std::vector<Value*> columns;
  for (Value* v : indices) columns.push_back(o.unsqueeze(v, {-1}));
  return o.concat(columns, -1);
}

std::vector<int> Indexing::result_order() const {
  const int n = rank_of(indices[0]), rest = rank_of(x) - static_cast<int>(axes.size());
  std::vector<int> perm;
  const int before = adjacent ? axes.front() : 0;
  for (int i = 0; i < before; ++i) perm.push_back(n + i);
  for (int i = 0; i < n; ++i) perm.push_back(i);
  for (int i = before; i < rest; ++i) perm.push_back(n + i);
  return perm;
}

namespace {

void import_index(Op& o) {
  Indexing at;
  at.x = o.in("self");
  const std::vector<Value*> given = o.tensors("indices");
  if (std::all_of(given.begin(), given.end(), [](const Value* v) { return v == nullptr; })) return o.out(at.x);
  if (!at.read(o, given)) return;
  if (at.indices.size() == 1) return o.out(o.gather(at.x, at.indices[0], at.axes[0]));
  Value* found = o.op(OpId::gather_nd, {o.transpose(at.x, at.front), at.tuples(o)});
  o.out(o.transpose(found, at.result_order()));
}

Value* by_elements(Op& o, Value* x, Value* index, int axis) {
  ops::gather_elements::Attrs a;
  a.axis = axis;
  return o.b.ok() ? o.b.op(OpId::gather_elements, a, {x, index}) : nullptr;
}

void import_gather(Op& o) {
  Value *x = o.in("self"), *index = o.in("index");
  const int axis = o.axis("dim", 0, rank_of(x));
  if (!o.b.ok()) return;
  if (index->type.is_static() && index->type.count() == 0) return o.out(o.fill(0, dtype_of_value(x), o.shape_of(index)));
  if (rank_of(x) == 0 && rank_of(index) == 0) return o.out(x);
  if (rank_of(x) == 0) x = o.reshape(x, {1});
  const bool scalar = rank_of(index) == 0;
  Value* y = by_elements(o, x, scalar ? o.reshape(index, {1}) : index, axis);
  o.out(scalar ? o.reshape(y, {}) : y);
}

void import_index_select(Op& o) {
  Value *x = o.in("self"), *index = o.in("index");
  const int axis = o.axis("dim", 0, rank_of(x));
  if (rank_of(x) == 0) return o.out(o.reshape(o.gather(o.reshape(x, {1}), o.reshape(index, {-1}), 0), {}));
  o.out(o.gather(x, rank_of(index) == 0 ? o.reshape(index, {1}) : index, axis));
}

void import_embedding(Op& o) { o.out(o.gather(o.in("weight"), o.in("indices"), 0)); }

void import_take(Op& o) { o.out(o.gather(o.reshape(o.in("self"), {-1}), o.in("index"), 0)); }

void import_nonzero(Op& o) {
  ops::non_zero::Attrs a;
  a.transpose = 1;
  Value* x = o.in("self");
  if (o.b.ok()) o.out(o.bounded(0, [&] { return o.b.op(OpId::non_zero, a, {x}); }));
}

void import_masked_select(Op& o) {
  Value *x = o.in("self"), *mask = o.in("mask");
  // Both have the shape they broadcast to.
  const ir::Dims given = dims_of(x);
  x = o.op(OpId::expand, {x, o.shape_of(mask)});
  mask = o.op(OpId::expand, {mask, o.shape_of(x)});
  const bool grown = dims_of(x) != given;
  x = o.reshape(x, {-1});
  mask = o.reshape(mask, {-1});
  // The exporter's bound counts the elements before they are broadcast.
  if (grown) return o.out(o.op(OpId::compress, {x, mask}));
  o.out(o.bounded(0, [&] { return o.op(OpId::compress, {x, mask}); }));
}

void import_topk(Op& o) {
  Value* x = o.in("self");
  ops::top_k::Attrs a;
  a.axis = o.axis("dim", -1, rank_of(x));
  a.largest = o.flag("largest", true) ? 1 : 0;
  const Size k = o.size("k", 1);
  a.k = static_cast<int32_t>(std::clamp<int64_t>(k.known, 0, INT32_MAX));
  if (rank_of(x) == 0) {
    o.out(0, x);
    return o.out(1, o.number(0, DType::s64));
  }
  std::vector<Value*> in{x};
  if (k.running != nullptr) in.push_back(o.reshape(k.running, {1}));
  const std::vector<Value*> y = o.b.ok() ? o.b.ops(OpId::top_k, a, in, 2) : std::vector<Value*>{};
  for (size_t i = 0; i < y.size(); ++i) o.out(i, y[i]);
}

std::vector<Value*> sorted(Op& o, Value* x, int axis, bool descending) {
  ops::sort::Attrs a;
  a.axis = axis;
  a.descending = descending ? 1 : 0;
  if (rank_of(x) == 0) return {x, o.number(0, DType::s64)};
  return o.b.ok() ? o.b.ops(OpId::sort, a, {x}, 2) : std::vector<Value*>{};
}

void import_sort(Op& o) {
  Value* x = o.in("self");
  const std::vector<Value*> y = sorted(o, x, o.axis("dim", -1, rank_of(x)), o.flag("descending", false));
  for (size_t i = 0; i < y.size(); ++i) o.out(i, y[i]);
}

void import_argsort(Op& o) {
  Value* x = o.in("self");
  const std::vector<Value*> y = sorted(o, x, o.axis("dim", -1, rank_of(x)), o.flag("descending", false));
  if (y.size() == 2) o.out(y[1]);
}

void import_kthvalue(Op& o) {
  Value* x = o.in("self");
  const int axis = o.axis("dim", -1, rank_of(x));
  const int64_t k = o.integer("k", 1);
  const std::vector<Value*> y = sorted(o, x, axis, false);
  for (size_t i = 0; i < y.size(); ++i) {
    if (rank_of(x) == 0) o.out(i, y[i]);
    else
      o.out(i, o.flag("keepdim", false) ? o.slice(y[i], axis, k - 1, k)
                                        : o.gather(y[i], o.number(static_cast<double>(k - 1), DType::s64), axis));
  }
}

// Sums, means or maxima of rows of a table, by bags.
void import_embedding_bag(Op& o) {
  Value *weight = o.in("weight"), *indices = o.in("indices"), *offsets = o.in("offsets"), *scale = o.tensor("per_sample_weights");
  const int64_t mode = o.integer("mode", 0);
  std::vector<int64_t> begin;
  if (!o.b.ok()) return;
  for (size_t i = 1; i < 4; ++i)
    if (o.wants(i)) return o.refuse("output " + std::to_string(i) + " of embedding bags is for training");
  if (rank_of(indices) != 1 || !indices->type.is_static()) return o.refuse("expected a fixed number of indices");
  const int32_t n = dim_of(indices, 0), bags = dim_of(offsets, 0) - (o.flag("include_last_offset", false) ? 1 : 0);
  if (bags < 1 || n == 0) return o.out(o.fill(0, o.out_type(), o.ints({std::max(bags, 0), dim_of(weight, 1)})));
  // The bag of each index: how many offsets are not behind it, less one.
  Value* place = o.op(OpId::range, {o.number(0, DType::s64), o.number(n, DType::s64), o.number(1, DType::s64)});
  Value* starts = o.slice(o.cast(offsets, DType::s64), 0, 0, bags);
  Value* reached = o.op(OpId::greater_equal, {o.unsqueeze(place, {0}), o.unsqueeze(starts, {1})});  // (bags, n)
  Value* next = o.concat({o.slice(starts, 0, 1, bags), o.ints({n})}, 0);
  Value* member = o.op(OpId::logical_and, {reached, o.op(OpId::less, {o.unsqueeze(place, {0}), o.unsqueeze(next, {1})})});
  const int64_t padding = o.integer("padding_idx", -1);
  if (padding >= 0)
    member = o.op(OpId::logical_and, {member, o.op(OpId::not_equal, {indices, o.number(static_cast<double>(padding), indices)})});
  Value* rows = o.gather(weight, indices, 0);  // (n, D)
  if (scale != nullptr) rows = o.mul(rows, o.unsqueeze(scale, {1}));
  const DType t = dtype_of_value(rows);
  if (mode == 2) {
    Value* all = o.op(OpId::where, {o.unsqueeze(member, {2}), o.unsqueeze(rows, {0}), o.number(-INFINITY, t)});
    Value* most = o.reduce(OpId::reduce_max, all, {1}, false);
    Value* any = o.reduce(OpId::reduce_any, member, {1}, true);
    return o.out(o.op(OpId::where, {any, most, o.number(0, t)}));
  }
  Value* sum = o.matmul(o.cast(member, t), rows);
  if (mode == 1) {
    Value* count = o.reduce(OpId::reduce_sum, o.cast(member, t), {1}, true);
    sum = o.div(sum, o.op(OpId::maximum, {count, o.number(1, t)}));
  }
  o.out(sum);
}

// Rows that are looked up and longer than allowed are shortened.
void import_embedding_renorm(Op& o) {
  Value *weight = o.in("self"), *indices = o.reshape(o.in("indices"), {-1});
  const double most = o.real("max_norm", 1), p = o.real("norm_type", 2);
  const DType t = dtype_of_value(weight);
  Value* sums = o.reduce(OpId::reduce_sum, o.pow(o.op(OpId::abs, {weight}), p), {1}, true);
  Value* norms = o.pow(sums, 1 / p);  // (rows, 1)
  Value* none = o.fill(0, DType::u8, o.size_of(weight, 0));
  Value* used = o.op(OpId::scatter_elements, {none, indices, o.fill(1, DType::u8, o.shape_of(indices))});
  Value* shorten =
      o.op(OpId::logical_and, {o.cast(o.unsqueeze(used, {1}), DType::boolean), o.op(OpId::greater, {norms, o.number(most, t)})});
  Value* factor = o.div(o.number(most, t), o.add(norms, 1e-7));
  o.out(o.op(OpId::where, {shorten, o.mul(weight, factor), weight}));
}

}  // namespace

void add_index_ops(OpTable& t);
void add_index_ops(OpTable& t) {
  add_lines(t, {
                   {"aten.index", "Tensor", &import_index},
                   {"aten._unsafe_index", "Tensor", &import_index},
                   {"aten.gather", "default", &import_gather},
                   {"aten.index_select", "default", &import_index_select},
                   {"aten.embedding", "default", &import_embedding},
                   {"aten.embedding_renorm", "default", &import_embedding_renorm, kFloat},
                   {"aten.take", "default", &import_take},
                   {"aten.nonzero", "default", &import_nonzero},
                   {"aten.masked_select", "default", &import_masked_select},
                   {"aten.topk", "default", &import_topk},
                   {"aten.sort", "default stable", &import_sort},
                   {"aten.argsort", "default stable", &import_argsort},
                   {"aten.kthvalue", "default", &import_kthvalue},
                   {"aten._embedding_bag", "default", &import_embedding_bag, kFloat},
                   {"aten._embedding_bag_forward_only", "default", &import_embedding_bag, kFloat},
               });
}

}  // namespace mote::frontends::torch
