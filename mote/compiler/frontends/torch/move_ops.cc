// Parts of tensors, and tensors made of parts.

#include <algorithm>

#include "mote/compiler/frontends/torch/op.h"
#include "mote/ops/pad/pad.h"
#include "mote/ops/reverse/reverse.h"
#include "mote/ops/slice/slice.h"
#include "mote/ops/split/split.h"
#include "mote/ops/tile/tile.h"
#include "mote/ops/trilu/trilu.h"

namespace mote::frontends::torch {
namespace {

constexpr int64_t kToTheEnd = INT32_MAX;

// A range of one axis whose ends may be known only when running.
Value* range_of(Op& o, Value* x, int axis, const Size& begin, const Size& end, int64_t step, size_t output = 0) {
  if (begin.running == nullptr && end.running == nullptr) return o.slice(x, axis, begin.known, std::min(end.known, kToTheEnd), step);
  const auto vector = [&](const Size& s) {
    return s.running == nullptr ? o.ints({std::min(s.known, kToTheEnd)}) : o.reshape(s.running, {1});
  };
  ops::slice::Attrs a;
  Value *from = vector(begin), *to = vector(end);
  return o.bounded(output, [&] { return o.b.ok() ? o.b.op(OpId::slice, a, {x, from, to, o.ints({axis}), o.ints({step})}) : nullptr; });
}

void import_slice(Op& o) {
  Value* x = o.in("self");
  const int axis = o.axis("dim", 0, rank_of(x));
  const int64_t step = o.integer("step", 1);
  if (rank_of(x) == 0 || step < 1) return o.refuse("expected a tensor with axes and a step above 0");
  const Size begin = o.size("start", 0), end = o.size("end", kToTheEnd);
  if (begin.running == nullptr && end.running == nullptr && begin.known == 0 && end.known >= kToTheEnd && step == 1) return o.out(x);
  o.out(range_of(o, x, axis, begin, end, step));
}

void import_narrow(Op& o) {
  Value* x = o.in("self");
  const int axis = o.axis("dim", 0, rank_of(x));
  Size begin = o.size("start", 0);
  const Size length = o.size("length", 0);
  if (begin.running == nullptr && begin.known < 0 && is_fixed(x, axis)) begin.known += dim_of(x, axis);
  const bool known = begin.running == nullptr && length.running == nullptr;
  const Size end = known ? Size{begin.known + length.known, nullptr} : Size{0, o.add(o.as_scalar(begin), o.as_scalar(length))};
  o.out(range_of(o, x, axis, begin, end, 1));
}

void import_select(Op& o) {
  Value* x = o.in("self");
  const int axis = o.axis("dim", 0, rank_of(x));
  if (rank_of(x) == 0) return o.refuse("expected a tensor with axes");
  o.out(o.gather(x, o.as_scalar(o.size("index", 0)), axis));
}

void import_cat(Op& o) {
  std::vector<Value*> parts;
  for (Value* v : o.tensors("tensors")) {
    if (v == nullptr) return o.refuse("expected tensors");
    // Empty tensors of rank 1 may stand between others.
    if (rank_of(v) == 1 && v->type.is_static() && dim_of(v, 0) == 0 && o.out_rank() != 1) continue;
    parts.push_back(o.cast(v, o.out_type()));
  }
  if (parts.empty()) return o.refuse("expected at least one tensor that is not empty");
  o.out(o.concat(parts, o.axis("dim", 0, rank_of(parts[0]))));
}

void import_stack(Op& o) {
  std::vector<Value*> parts;
  const int axis = o.axis("dim", 0, o.out_rank());
  for (Value* v : o.tensors("tensors")) parts.push_back(o.unsqueeze(o.cast(v, o.out_type()), {axis}));
  if (parts.empty()) return o.refuse("expected at least one tensor");
  o.out(o.concat(parts, axis));
}

// Cuts an axis at fixed sizes.
void cut(Op& o, Value* x, int axis, const std::vector<int64_t>& sizes) {
  ops::split::Attrs a;
  a.axis = axis;
  if (sizes.size() == 1) return o.out(x);
  if (sizes.empty()) return o.refuse("cuts into nothing");
  const std::vector<Value*> parts = o.b.ok() ? o.b.ops(OpId::split, a, {x, o.ints(sizes)}, sizes.size()) : std::vector<Value*>{};
  for (size_t i = 0; i < parts.size(); ++i) o.out(i, parts[i]);
}

void import_split(Op& o) {
  Value* x = o.in("self");
  const int axis = o.axis("dim", 0, rank_of(x));
  const bool by_size = o.has("split_size") && o.node.find("split_size")->kind == Arg::Kind::kOne;
  if (!by_size) {
    const char* name = o.has("split_sizes") ? "split_sizes" : "split_size";
    const std::vector<Size> sizes = o.sizes(name);
    if (std::all_of(sizes.begin(), sizes.end(), [](const Size& s) { return s.running == nullptr; }))
      return cut(o, x, axis, o.integers(name));
    // Sizes that only running tells: one range after the other.
    Size begin{0, nullptr};
    for (size_t i = 0; i < sizes.size(); ++i) {
      const bool known = begin.running == nullptr && sizes[i].running == nullptr;
      const Size end = known ? Size{begin.known + sizes[i].known, nullptr} : Size{0, o.add(o.as_scalar(begin), o.as_scalar(sizes[i]))};
      o.out(i, range_of(o, x, axis, begin, end, 1, i));
      begin = end;
    }
    return;
  }
  const int64_t size = o.integer("split_size", 1);
  const int64_t most = static_cast<int64_t>(o.node.outputs.size());
  if (!is_fixed(x, axis) || size < 0 || rank_of(x) == 0 || (size > 0 && dim_of(x, axis) / size > most))
    return o.refuse("the axis that is cut must have a fixed size");
  const int64_t whole = dim_of(x, axis);
  std::vector<int64_t> sizes;
  for (int64_t left = whole; left > 0 && size > 0; left -= size) sizes.push_back(std::min(left, size));
  if (sizes.empty()) sizes.push_back(whole);
  cut(o, x, axis, sizes);
}

void import_chunk(Op& o) {
  Value* x = o.in("self");
  const int axis = o.axis("dim", 0, rank_of(x));
  const int64_t chunks = o.integer("chunks", 1);
  if (!is_fixed(x, axis) || chunks < 1 || chunks > (1 << 16)) return o.refuse("the axis that is cut must have a fixed size");
  const int64_t whole = dim_of(x, axis), size = std::max<int64_t>((whole + chunks - 1) / chunks, 1);
  std::vector<int64_t> sizes;
  for (int64_t left = whole; left > 0; left -= size) sizes.push_back(std::min(left, size));
  if (whole == 0) sizes.assign(static_cast<size_t>(std::min<int64_t>(chunks, 4096)), 0);
  cut(o, x, axis, sizes);
}

void import_tensor_split(Op& o) {
  Value* x = o.in("self");
  const int axis = o.axis("dim", 0, rank_of(x));
  if (!is_fixed(x, axis) || rank_of(x) == 0) return o.refuse("the axis that is cut must have a fixed size");
  const int64_t whole = dim_of(x, axis);
  std::vector<int64_t> at = o.integers("indices");
  if (o.has("sections")) {
    const int64_t n = std::clamp<int64_t>(o.integer("sections", 1), 1, 1 << 16);
    for (int64_t i = 1; i < n; ++i) at.push_back(i * (whole / n) + std::min(i, whole % n));
  }
  int64_t begin = 0;
  for (size_t i = 0; i <= at.size(); ++i) {
    int64_t end = i < at.size() ? at[i] : whole;
    if (end < 0) end += whole;
    end = std::clamp<int64_t>(end, 0, whole);
    o.out(i, o.slice(x, axis, begin, std::max(begin, end)));
    begin = end;
  }
}

void import_unbind(Op& o) {
  Value* x = o.in("self");
  const int axis = o.axis("dim", 0, rank_of(x));
  if (!is_fixed(x, axis) || rank_of(x) == 0 || dim_of(x, axis) != static_cast<int64_t>(o.node.outputs.size()))
    return o.refuse("the axis that is taken apart must have a fixed size");
  const int32_t n = dim_of(x, axis);
  for (int32_t i = 0; i < n && o.b.ok(); ++i) o.out(static_cast<size_t>(i), o.gather(x, o.b.graph().scalar<int64_t>(i), axis));
}

void import_flip(Op& o) {
  Value* x = o.in("self");
  ops::reverse::Attrs a;
  const std::vector<int64_t> axes = o.axes("dims", rank_of(x));
  if (axes.empty() || rank_of(x) == 0) return o.out(x);
  a.count = static_cast<int32_t>(std::min<size_t>(axes.size(), 8));
  for (int i = 0; i < a.count; ++i) a.axes[i] = static_cast<int32_t>(axes[static_cast<size_t>(i)]);
  if (o.b.ok()) o.out(o.b.op(OpId::reverse, a, {x}));
}

void import_roll(Op& o) {
  Value* x = o.in("self");
  const std::vector<int64_t> shifts = o.integers("shifts"), axes = o.axes("dims", rank_of(x));
  if (x == nullptr || !x->type.is_static()) return o.refuse("rolling needs a tensor of fixed shape");
  const auto rolled = [&](Value* v, int axis, int64_t shift) {
    const int64_t n = dim_of(v, axis);
    const int64_t by = n == 0 ? 0 : ((shift % n) + n) % n;
    return by == 0 ? v : o.concat({o.slice(v, axis, n - by, n), o.slice(v, axis, 0, n - by)}, axis);
  };
  if (axes.empty()) {
    const std::vector<Size> sizes = o.sizes_of(x);
    return o.out(o.reshape_to(rolled(o.reshape(x, {x->type.count()}), 0, shifts.empty() ? 0 : shifts[0]), sizes));
  }
  for (size_t i = 0; i < axes.size() && i < shifts.size() && o.b.ok() && rank_of(x) > 0; ++i)
    x = rolled(x, static_cast<int>(axes[i]), shifts[i]);
  o.out(x);
}

void import_repeat(Op& o) {
  Value* x = o.in("self");
  const std::vector<Size> repeats = o.sizes(o.has("dims") ? "dims" : "repeats");
  const size_t rank = std::max(repeats.size(), static_cast<size_t>(rank_of(x)));
  std::vector<int64_t> added;
  for (size_t i = static_cast<size_t>(rank_of(x)); i < rank; ++i) added.push_back(static_cast<int64_t>(added.size()));
  if (!added.empty()) x = o.unsqueeze(x, added);
  std::vector<Size> all(rank - repeats.size(), Size{1, nullptr});
  all.insert(all.end(), repeats.begin(), repeats.end());
  o.out(o.bounded(0, [&] { return o.op(OpId::tile, {x, o.shape_vector(all)}); }));
}

void import_repeat_interleave(Op& o) {
  Value* x = o.in("self");
  const int64_t n = o.integer("repeats", 1);
  if (!o.has("dim")) x = o.reshape(x, {-1});
  const int axis = o.has("dim") ? o.axis("dim", 0, rank_of(x)) : 0;
  if (rank_of(x) == 0 || n < 0) return o.refuse("expected a tensor with axes and a count");
  std::vector<Size> sizes = o.sizes_of(x), spread = sizes;
  const size_t at = static_cast<size_t>(axis);
  spread.insert(spread.begin() + axis + 1, Size{n, nullptr});
  Size& joined = sizes[at];
  joined = joined.running == nullptr ? Size{joined.known * n, nullptr} : Size{0, o.mul(joined.running, static_cast<double>(n))};
  o.out(o.reshape_to(o.expand_to(o.unsqueeze(x, {axis + 1}), spread), sizes));
}

// The edge is repeated, or cut where a padding is negative, even to nothing and beyond: element j comes from a place PyTorch computes.
Value* replicated(Op& o, Value* x, int axis, int64_t before, int64_t after) {
  const int64_t in = dim_of(x, axis), out = in + before + after;
  if (!is_fixed(x, axis) || in < 1 || out < 0 || out > kMostPlaces) {
    o.refuse("expected an axis of fixed size that is not empty, and no more than " + std::to_string(kMostPlaces) + " places");
    return nullptr;
  }
  std::vector<int64_t> places;
  for (int64_t j = 0; j < out; ++j) {
    const int64_t place = j < before ? before : std::min(j, in + before - 1);
    places.push_back(std::clamp<int64_t>(place - before, 0, in - 1));
  }
  return o.gather(x, o.ints(places), axis);
}

// torch counts paddings from the last axis: (before, after) of it first.
void pad_with(Op& o, const std::vector<int64_t>& pads, int mode) {
  Value* x = o.in("self");
  ops::pad::Attrs a;
  a.mode = mode;
  const int rank = rank_of(x);
  if (pads.size() % 2 != 0 || static_cast<int>(pads.size()) > 2 * rank || rank > 8) return o.refuse("paddings do not fit the tensor");
  bool any = false;
  for (size_t i = 0; i < pads.size() / 2; ++i) {
    const int axis = rank - 1 - static_cast<int>(i);
    int64_t before = pads[2 * i], after = pads[2 * i + 1];
    // Negative sizes cut, and what is repeated or reflected is what the cut leaves.
    if (mode == 2 && (before < 0 || after < 0)) {
      x = replicated(o, x, axis, before, after);
      before = after = 0;
    } else if (mode != 0 && (before < 0 || after < 0)) {
      x = o.slice(x, axis, std::max<int64_t>(-before, 0), after < 0 ? after : kToTheEnd);
      before = std::max<int64_t>(before, 0);
      after = std::max<int64_t>(after, 0);
    }
    a.begin[axis] = static_cast<int32_t>(std::clamp<int64_t>(before, INT32_MIN, INT32_MAX));
    a.end[axis] = static_cast<int32_t>(std::clamp<int64_t>(after, INT32_MIN, INT32_MAX));
    any = any || before != 0 || after != 0;
  }
  if (!any) return o.out(x);
  Value* value = mode == 0 && o.has("value") ? o.scalar("value", dtype_of_value(x)) : nullptr;
  if (o.b.ok()) o.out(value == nullptr ? o.b.op(OpId::pad, a, {x}) : o.b.op(OpId::pad, a, {x, value}));
}

void import_constant_pad(Op& o) { pad_with(o, o.integers("pad"), 0); }
void import_reflection_pad(Op& o) { pad_with(o, o.integers("padding"), 1); }
void import_replication_pad(Op& o) { pad_with(o, o.integers("padding"), 2); }

void import_pad(Op& o) {
  const std::string mode = o.text("mode", "constant");
  const int m = mode == "constant" ? 0 : mode == "reflect" ? 1 : mode == "replicate" ? 2 : mode == "circular" ? 3 : -1;
  if (m < 0) return o.refuse("mode '" + mode + "' is unknown");
  pad_with(o, o.integers("pad"), m);
}

template <int upper>
void import_triangle(Op& o) {
  ops::trilu::Attrs a;
  a.upper = upper;
  a.k = static_cast<int32_t>(std::clamp<int64_t>(o.integer("diagonal", 0), -INT32_MAX, INT32_MAX));
  Value* x = o.in("self");
  if (o.b.ok()) o.out(o.b.op(OpId::trilu, a, {x}));
}

void import_unfold(Op& o) {
  Value* x = o.in("self");
  const int axis = o.axis("dimension", 0, rank_of(x));
  const int64_t size = o.integer("size", 1), step = o.integer("step", 1);
  if (rank_of(x) == 0) return o.out(o.reshape(x, {1}));
  if (!is_fixed(x, axis) || size < 0 || step < 1 || size > dim_of(x, axis))
    return o.refuse("expected a fixed axis at least as long as the window");
  const int64_t count = (dim_of(x, axis) - size) / step + 1;
  if (count * size > kMostPlaces) return o.refuse("the result is too large");
  std::vector<int64_t> at;
  for (int64_t i = 0; i < count; ++i)
    for (int64_t k = 0; k < size; ++k) at.push_back(i * step + k);
  Value* index = o.reshape(o.ints(at), {count, size});
  Value* y = o.gather(x, index, axis);  // (..., count, size, ...)
  std::vector<int> perm;
  for (int i = 0; i < rank_of(y); ++i)
    if (i != axis + 1) perm.push_back(i);
  perm.push_back(axis + 1);
  o.out(o.transpose(y, perm));
}

void import_diagonal(Op& o) {
  Value* x = o.in("self");
  const int rank = rank_of(x), a = o.axis("dim1", 0, rank), b = o.axis("dim2", 1, rank);
  const int64_t k = o.integer("offset", 0);
  if (a == b || !is_fixed(x, a) || !is_fixed(x, b) || rank < 2 || dim_of(x, a) > kMostPlaces)
    return o.refuse("expected two different axes of fixed size");
  const int64_t rows = dim_of(x, a), cols = dim_of(x, b);
  const int64_t length = std::max<int64_t>(k >= 0 ? std::min(rows, cols - k) : std::min(rows + k, cols), 0);
  std::vector<int> perm;
  for (int i = 0; i < rank; ++i)
    if (i != a && i != b) perm.push_back(i);
  perm.push_back(a);
  perm.push_back(b);
  Value* y = o.transpose(x, perm);
  std::vector<Size> flat = o.sizes_of(y);
  flat.pop_back();
  flat.back() = {rows * cols, nullptr};
  std::vector<int64_t> at;
  for (int64_t i = 0; i < length; ++i) at.push_back((i + std::max<int64_t>(-k, 0)) * cols + i + std::max<int64_t>(k, 0));
  if (at.empty()) return o.out(o.slice(o.reshape_to(y, flat), rank - 2, 0, 0));
  o.out(o.gather(o.reshape_to(y, flat), o.ints(at), rank - 2));
}

}  // namespace

void add_move_ops(OpTable& t);
void add_move_ops(OpTable& t) {
  add_lines(t, {
                   {"aten.slice", "Tensor", &import_slice},
                   {"aten.slice_copy", "Tensor", &import_slice},
                   {"aten.narrow", "default", &import_narrow},
                   {"aten.narrow_copy", "default", &import_narrow},
                   {"aten.select", "int", &import_select},
                   {"aten.select_copy", "int", &import_select},
                   {"aten.cat", "default", &import_cat},
                   {"aten.concat", "default", &import_cat},
                   {"aten.stack", "default", &import_stack},
                   {"aten.split", "Tensor sizes", &import_split},
                   {"aten.split_copy", "Tensor", &import_split},
                   {"aten.split_with_sizes", "default", &import_split},
                   {"aten.split_with_sizes_copy", "default", &import_split},
                   {"aten.chunk", "default", &import_chunk},
                   {"aten.tensor_split", "sections indices", &import_tensor_split},
                   {"aten.unbind", "int", &import_unbind},
                   {"aten.unbind_copy", "int", &import_unbind},
                   {"aten.flip", "default", &import_flip},
                   {"aten.roll", "default", &import_roll},
                   {"aten.repeat", "default", &import_repeat},
                   {"aten.tile", "default", &import_repeat},
                   {"aten.repeat_interleave", "self_int", &import_repeat_interleave},
                   {"aten.constant_pad_nd", "default", &import_constant_pad},
                   {"aten.pad", "default", &import_pad},
                   {"aten.reflection_pad1d", "default", &import_reflection_pad},
                   {"aten.reflection_pad2d", "default", &import_reflection_pad},
                   {"aten.reflection_pad3d", "default", &import_reflection_pad},
                   {"aten.replication_pad1d", "default", &import_replication_pad},
                   {"aten.replication_pad2d", "default", &import_replication_pad},
                   {"aten.replication_pad3d", "default", &import_replication_pad},
                   {"aten.tril", "default", &import_triangle<0>},
                   {"aten.triu", "default", &import_triangle<1>},
                   {"aten.unfold", "default", &import_unfold},
                   {"aten.unfold_copy", "default", &import_unfold},
                   {"aten.diagonal", "default", &import_diagonal},
                   {"aten.diagonal_copy", "default", &import_diagonal},
               });
}

}  // namespace mote::frontends::torch
