// StableHLO's gather and scatter: windows of a tensor whose places index tuples name, as gathers and scatters of single elements.

#include <algorithm>
#include <cstring>

#include "mote/compiler/frontends/tflite/import.h"
#include "mote/compiler/frontends/tflite/stablehlo.h"
#include "mote/ops/gather_nd/gather_nd.h"
#include "mote/ops/scatter_nd/scatter_nd.h"

namespace mote::frontends::tflite {
namespace {

bool contains(const Int64s& list, int64_t v) { return std::find(list.begin(), list.end(), v) != list.end(); }

// Index tuples as rows, (tuples, length), and the sizes of what the rows count through.
struct Rows {
  Value* values = nullptr;
  Int64s batch;
  int64_t count = -1;  // -1: open
};

Rows rows_of(Op& op, uint32_t input, int64_t vector_dim, size_t length) {
  Words w(op.b);
  Rows rows;
  Value* v = op.value(input);
  const int rank = rank_of(v);
  if (v == nullptr || (v->type.dtype != DType::s32 && v->type.dtype != DType::s64)) op.fail("expected indices of 32 or 64 bits");
  else if (vector_dim < 0 || vector_dim > rank || length == 0) op.fail("the options do not fit indices " + describe(op.in(input)));
  if (!op.ok()) return rows;
  if (vector_dim == rank) v = w.unsqueeze(v, {rank});
  std::vector<int> perm;
  for (int i = 0; i < rank_of(v); ++i)
    if (i != vector_dim) perm.push_back(i);
  perm.push_back(static_cast<int>(vector_dim));
  v = w.transpose(v, perm);
  rows.batch = sizes_of(v);
  if (rows.batch.empty() || rows.batch.back() != static_cast<int64_t>(length)) {
    op.fail("expected index tuples of " + std::to_string(length) + ", found " + describe(op.in(input)));
    return rows;
  }
  rows.batch.pop_back();
  if (!contains(rows.batch, -1)) {
    rows.count = 1;
    for (const int64_t size : rows.batch) rows.count *= size;
  }
  rows.values = w.reshape(v, {rows.count, static_cast<int64_t>(length)});
  return rows;
}

// A constant of index numbers.
Value* numbers(Op& op, const Int64s& values, DType t) {
  const Dims dims{static_cast<int32_t>(values.size())};
  if (t == DType::s64) return op.b.graph().constant<int64_t>(dims, values);
  return op.b.graph().constant<int32_t>(dims, std::vector<int32_t>(values.begin(), values.end()));
}

Value* clamp(Op& op, Value* v, const Int64s& lo, const Int64s& hi) {
  if (v == nullptr) return nullptr;
  Words w(op.b);
  return w.op(OpId::minimum, {w.op(OpId::maximum, {v, numbers(op, lo, v->type.dtype)}), numbers(op, hi, v->type.dtype)});
}

// (tuples, k) to (tuples, window..., k): every element's place in the windows, whose first elements the rows name.
Value* places(Op& op, const Rows& rows, const Int64s& window) {
  Words w(op.b);
  const size_t k = window.size();
  int64_t count = 1;
  for (const int64_t size : window) count = size > 0 && count > INT32_MAX / size ? INT32_MAX : count * size;
  std::vector<uint8_t> bytes;
  std::string error;
  if (rows.values == nullptr || !op.ok()) return nullptr;
  if (!op.importer.take_bytes(static_cast<uint64_t>(count) * k * sizeof(int32_t), &bytes, &error)) {
    op.fail(error);
    return nullptr;
  }
  Int64s at(k, 0);
  for (int64_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < k; ++j) {
      const int32_t v = static_cast<int32_t>(at[j]);
      std::memcpy(bytes.data() + (static_cast<size_t>(i) * k + j) * sizeof v, &v, sizeof v);
    }
    for (size_t j = k; j-- > 0 && ++at[j] == window[j];) at[j] = 0;
  }
  Dims dims(window.begin(), window.end());
  dims.push_back(static_cast<int32_t>(k));
  Int64s spaced{rows.count};
  spaced.insert(spaced.end(), k, 1);
  spaced.push_back(static_cast<int64_t>(k));
  if (dims.size() + 1 > static_cast<size_t>(kMaxRank)) op.fail("windows along " + std::to_string(k) + " axes are not supported");
  if (!op.ok()) return nullptr;
  Value* steps = op.b.graph().add_constant(DType::s32, dims, ir::Bytes::own(std::move(bytes)));
  Value* first = w.reshape(rows.values, spaced);
  return count == 1 ? first : w.add(first, w.cast(steps, dtype_of_value(first)));
}

// `first` axes, then the others.
std::vector<int> axes_first(const Int64s& first, int rank) {
  std::vector<int> out(first.begin(), first.end());
  for (int i = 0; i < rank; ++i)
    if (!contains(first, i)) out.push_back(i);
  return out;
}

std::vector<int> inverse(const std::vector<int>& perm) {
  std::vector<int> out(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) out[static_cast<size_t>(perm[i])] = static_cast<int>(i);
  return out;
}

// The same below a leading axis that stays.
std::vector<int> shifted(std::vector<int> perm) {
  for (int& axis : perm) ++axis;
  perm.insert(perm.begin(), 0);
  return perm;
}

bool is_static(Op& op, const Value* v, uint32_t input) {
  if (v != nullptr && v->type.is_static() && v->type.rank() > 0) return true;
  op.fail("input " + std::to_string(input) + " must have a known shape; found " + describe(op.in(input)));
  return false;
}

struct GatherPlan {
  Int64s offset, collapsed, map, sizes;
};

bool read_plan(Op& op, const fb::StablehloGatherOptions& o, const Value* x, GatherPlan* p) {
  *p = {list_of(o.offset_dims()), list_of(o.collapsed_slice_dims()), list_of(o.start_index_map()), list_of(o.slice_sizes())};
  const int rank = rank_of(x);
  if (!are_axes(op, p->collapsed, rank, "collapsed_slice_dims") || !are_axes(op, p->map, rank, "start_index_map")) return false;
  bool fits = p->sizes.size() == static_cast<size_t>(rank) && p->offset.size() + p->collapsed.size() == p->sizes.size();
  for (size_t i = 0; fits && i < p->sizes.size(); ++i)
    fits = p->sizes[i] >= 0 && p->sizes[i] <= dims_of(x)[i] && (p->sizes[i] == 1 || !contains(p->collapsed, static_cast<int64_t>(i)));
  if (!fits) op.fail("slice sizes and dimensions in the options do not fit an input " + describe(op.in(0)));
  return fits;
}

}  // namespace

// A window begins where all of it is inside: its tuple is clamped.
void import_stablehlo_gather(Op& op) {
  const auto* o = op.source.table->builtin_options2_as_StablehloGatherOptions();
  Value* x = op.value(0);
  GatherPlan p;
  if (o == nullptr) return op.fail("the options are missing");
  if (!is_static(op, x, 0) || !read_plan(op, *o, x, &p)) return;
  Rows rows = rows_of(op, 1, o->index_vector_dim(), p.map.size());
  if (!op.ok()) return;
  Words w(op.b);
  Int64s last, window;
  for (const int64_t axis : p.map) {
    window.push_back(p.sizes[static_cast<size_t>(axis)]);
    last.push_back(dims_of(x)[static_cast<size_t>(axis)] - window.back());
  }
  rows.values = clamp(op, rows.values, Int64s(p.map.size(), 0), last);
  const int rank = rank_of(x);
  for (int i = 0; i < rank && op.ok(); ++i)  // what no index moves along begins at 0
    if (!contains(p.map, i) && p.sizes[static_cast<size_t>(i)] < dims_of(x)[static_cast<size_t>(i)])
      x = w.slice(x, i, 0, p.sizes[static_cast<size_t>(i)]);
  const std::vector<int> order = axes_first(p.map, rank);
  Value *base = w.transpose(x, order), *at = places(op, rows, window);
  if (!op.ok()) return;
  Value* y = w.transpose(op.b.op(OpId::gather_nd, ops::gather_nd::Attrs{}, {base, at}), shifted(inverse(order)));
  Int64s sizes = rows.batch;
  for (int i = 0; i < rank; ++i)
    if (!contains(p.collapsed, i)) sizes.push_back(p.sizes[static_cast<size_t>(i)]);
  if (!are_axes(op, p.offset, static_cast<int>(sizes.size()), "offset_dims")) return;
  std::vector<int> perm;
  for (int i = 0, batch = 0, offset = static_cast<int>(rows.batch.size()); i < static_cast<int>(sizes.size()); ++i)
    perm.push_back(contains(p.offset, i) ? offset++ : batch++);
  op.set(w.transpose(w.reshape(y, sizes), perm));
}

namespace {

struct ScatterPlan {
  Int64s window, inserted, map;  // as the options have them
  Int64s axes;                   // of x, that a tuple names; then those whose windows are narrower than x
  Int64s sizes;                  // of a window, by axis of x
  std::vector<int> updates;      // permutation of the updates: what tuples count through, then the window
  int32_t reduction = ops::kScatterSet;
};

bool read_plan(Op& op, const fb::StablehloScatterOptions& o, const Value* x, const Value* updates, ScatterPlan* p) {
  p->window = list_of(o.update_window_dims());
  p->inserted = list_of(o.inserted_window_dims());
  p->axes = p->map = list_of(o.scatter_dims_to_operand_dims());
  const int rank = rank_of(x);
  if (!are_axes(op, p->window, rank_of(updates), "update_window_dims") || !are_axes(op, p->inserted, rank, "inserted_window_dims") ||
      !are_axes(op, p->map, rank, "scatter_dims_to_operand_dims"))
    return false;
  bool fits = p->window.size() + p->inserted.size() == static_cast<size_t>(rank);
  for (const int64_t axis : p->window) fits = fits && is_fixed(updates, static_cast<int>(axis));
  for (int i = 0, next = 0; fits && i < rank; ++i) {
    const bool inserted = contains(p->inserted, i);
    const int32_t whole = dims_of(x)[static_cast<size_t>(i)];
    p->sizes.push_back(inserted ? 1 : dims_of(updates)[static_cast<size_t>(p->window[static_cast<size_t>(next++)])]);
    fits = p->sizes.back() <= whole;
    if (p->sizes.back() < whole && !contains(p->map, i)) p->axes.push_back(i);
  }
  if (!fits) op.fail("the dimensions in the options do not fit updates " + describe(op.in(2)));
  for (int i = 0; i < rank_of(updates); ++i)
    if (!contains(p->window, i)) p->updates.push_back(i);
  p->updates.insert(p->updates.end(), p->window.begin(), p->window.end());
  switch (combiner_of(op, o.update_computation_subgraph_index())) {
    case Combiner::kSecond: p->reduction = ops::kScatterSet; break;
    case Combiner::kAdd: p->reduction = ops::kScatterAdd; break;
    case Combiner::kMul: p->reduction = ops::kScatterMul; break;
    case Combiner::kMin: p->reduction = ops::kScatterMin; break;
    case Combiner::kMax: p->reduction = ops::kScatterMax; break;
    default: op.fail("the body must give the update, or be one ADD, MUL, MINIMUM or MAXIMUM; found AND or OR");
  }
  return op.ok();
}

// Whether all windows lie inside x, known from constant indices.
bool all_inside(Op& op, const ScatterPlan& p, const Value* x, int64_t vector_dim) {
  Int64s at;
  const bool plain = vector_dim + 1 == static_cast<int64_t>(op.in(1).dims.size()) || p.map.size() == 1;
  if (!plain || !op.ints(1, &at)) return false;
  for (size_t i = 0; i < at.size(); ++i) {
    const size_t axis = static_cast<size_t>(p.map[i % p.map.size()]);
    if (at[i] < 0 || at[i] > dims_of(x)[axis] - p.sizes[axis]) return false;
  }
  return true;
}

}  // namespace

// Updates that fall outside are left out: they go to a border around x, which is cut off again.
void import_stablehlo_scatter(Op& op) {
  const auto* o = op.source.table->builtin_options2_as_StablehloScatterOptions();
  Value *x = op.value(0), *updates = op.value(2);
  ScatterPlan p;
  if (o == nullptr || op.inputs() != 3) return op.fail(o == nullptr ? "the options are missing" : "expected one tensor to scatter into");
  if (!is_static(op, x, 0) || updates == nullptr || !read_plan(op, *o, x, updates, &p)) return;
  Words w(op.b);
  Rows rows = rows_of(op, 1, o->index_vector_dim(), p.map.size());
  if (!op.ok()) return;
  const size_t moved = p.axes.size(), rank = static_cast<size_t>(rank_of(x));
  const int64_t border = all_inside(op, p, x, o->index_vector_dim()) ? 0 : 1;
  rows.values = pad_by(op, rows.values, {0, 0}, {0, static_cast<int64_t>(moved - p.map.size())}, w.number(0, rows.values));
  Int64s window, lo, hi, around(rank, 0);
  for (const int64_t axis : p.axes) {
    window.push_back(p.sizes[static_cast<size_t>(axis)]);
    lo.push_back(-window.back());
    hi.push_back(dims_of(x)[static_cast<size_t>(axis)]);
    around[lo.size() - 1] = border;
  }
  if (border != 0) rows.values = clamp(op, rows.values, lo, hi);
  Value* at = places(op, rows, window);
  if (border != 0) at = w.add(clamp(op, at, Int64s(moved, -1), hi), 1);
  const std::vector<int> order = axes_first(p.axes, rank_of(x));
  Value* base = pad_by(op, w.transpose(x, order), around, around, w.number(0, x));
  Int64s sizes{rows.count};
  sizes.insert(sizes.end(), p.sizes.begin(), p.sizes.end());
  updates = w.transpose(w.reshape(w.transpose(updates, p.updates), sizes), shifted(order));
  if (!op.ok()) return;
  Value* y = op.b.op(OpId::scatter_nd, ops::scatter_nd::Attrs{p.reduction}, {base, at, updates});
  for (int64_t& v : around) v = -v;
  op.set(w.transpose(pad_by(op, y, around, around, nullptr), inverse(order)));
}

}  // namespace mote::frontends::tflite
