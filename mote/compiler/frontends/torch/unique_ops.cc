// Different elements, and runs of equal ones.

#include "mote/compiler/frontends/torch/op.h"
#include "mote/ops/cum_sum/cum_sum.h"
#include "mote/ops/non_zero/non_zero.h"
#include "mote/ops/unique/unique.h"

namespace mote::frontends::torch {
namespace {

// What was not asked for has no elements.
void set_asked(Op& o, size_t i, const char* flag, Value* value) {
  if (o.wants(i)) o.out(i, o.flag(flag, false) ? value : o.fill(0, DType::s64, o.ints({0})));
}

void import_unique(Op& o) {
  Value* x = o.in("self");
  const bool by_axis = o.has("dim");
  ops::unique::Attrs a;
  a.has_axis = by_axis ? 1 : 0;
  a.axis = by_axis ? o.axis("dim", 0, rank_of(x)) : 0;
  if (by_axis && rank_of(x) == 0) return o.refuse("expected a tensor with axes");
  const std::vector<Value*> y = o.b.ok() ? o.b.ops(OpId::unique, a, {x}, 4) : std::vector<Value*>{};
  if (y.size() != 4) return;
  o.out(0, y[0]);
  if (o.wants(1)) set_asked(o, 1, "return_inverse", by_axis ? y[2] : o.reshape_to(y[2], o.sizes_of(x)));
  set_asked(o, 2, "return_counts", y[3]);
}

// True at the first element of each run; a vector of n along the axis.
Value* run_starts(Op& o, Value* x, int axis, int64_t n) {
  Value *after = o.slice(x, axis, 1, n), *before = o.slice(x, axis, 0, n - 1);
  Value* differs = o.op(OpId::not_equal, {after, before});
  std::vector<int64_t> others;
  for (int i = 0; i < rank_of(x); ++i)
    if (i != axis) others.push_back(i);
  if (!others.empty()) differs = o.reduce(OpId::reduce_any, differs, others, false);
  return o.concat({o.fill(1, DType::boolean, o.ints({1})), differs}, 0);
}

void import_unique_consecutive(Op& o) {
  Value* given = o.in("self");
  const bool by_axis = o.has("dim");
  const int axis = by_axis ? o.axis("dim", 0, rank_of(given)) : 0;
  Value* x = by_axis ? given : o.reshape(given, {-1});
  if (!o.b.ok() || rank_of(x) == 0 || !is_fixed(x, axis)) return o.refuse("expected an axis of fixed size");
  const int64_t n = dim_of(x, axis);
  if (n == 0) {
    o.out(0, x);
    if (o.wants(1)) set_asked(o, 1, "return_inverse", o.fill(0, DType::s64, by_axis ? o.ints({0}) : o.shape_of(given)));
    return set_asked(o, 2, "return_counts", o.fill(0, DType::s64, o.ints({0})));
  }
  Value* starts = run_starts(o, x, axis, n);
  Value* places = o.squeeze(o.op(OpId::non_zero, {starts}), {0});
  o.out(0, o.gather(x, places, axis));
  if (o.wants(1)) {
    ops::cum_sum::Attrs a;
    Value* run = o.cast(starts, DType::s64);
    run = o.b.ok() ? o.add(o.b.op(OpId::cum_sum, a, {run}), -1) : nullptr;
    set_asked(o, 1, "return_inverse", by_axis ? run : o.reshape_to(run, o.sizes_of(given)));
  }
  if (o.wants(2)) {
    Value* next = o.concat({o.slice(places, 0, 1, INT32_MAX), o.ints({n})}, 0);
    set_asked(o, 2, "return_counts", o.sub(next, places));
  }
}

}  // namespace

void add_unique_ops(OpTable& t);
void add_unique_ops(OpTable& t) {
  add_lines(t, {
                   {"aten._unique2", "default", &import_unique},
                   {"aten.unique_dim", "default", &import_unique},
                   {"aten.unique_consecutive", "default", &import_unique_consecutive},
               });
}

}  // namespace mote::frontends::torch
