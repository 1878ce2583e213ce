// Operators that give a tensor another shape, or a shape a tensor.

#include "mote/compiler/frontends/onnx/narrow_words.h"
#include "mote/compiler/frontends/onnx/op_support.h"
#include "mote/ops/expand/expand.h"
#include "mote/ops/fill/fill.h"
#include "mote/ops/reduce_prod/reduce_prod.h"
#include "mote/ops/reshape/reshape.h"
#include "mote/ops/shape_of/shape_of.h"
#include "mote/ops/slice/slice.h"
#include "mote/ops/sort/sort.h"
#include "mote/ops/tile/tile.h"

namespace mote::frontends::onnx {
namespace {

void import_reshape(NodeContext& c) {
  ops::reshape::Attrs a;
  a.allow_zero = static_cast<int32_t>(c.attr_int("allowzero", 0));
  std::vector<int64_t> dims;
  if (!known_list(c.in(1), &dims)) return c.out(0, c.b.op(OpId::reshape, a, {c.in(0), c.in(1)}));
  a.rank = static_cast<int32_t>(dims.size());
  if (to_list(c, dims, a.dims)) c.out(0, c.b.op(OpId::reshape, a, {c.in(0)}));
}

// Number of elements along axes [begin, end); -1 where one of them is dynamic.
int64_t fixed_product(const Value& x, int begin, int end) {
  int64_t n = 1;
  for (int i = begin; i < end; ++i) {
    if ((x.type.dynamic >> i & 1) != 0) return -1;
    n *= x.type.dims[static_cast<size_t>(i)];
    if (n > INT32_MAX) n = int64_t{INT32_MAX} + 1;  // more than a tensor can have, however many follow
  }
  return n;
}

void import_flatten(NodeContext& c) {
  Value* x = c.in(0);
  const int rank = x->type.rank();
  int64_t axis = c.attr_int("axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis > rank) return c.fail("axis must be in [-rank, rank]; the tensor has rank " + std::to_string(rank));
  const int cut = static_cast<int>(axis);
  const int64_t rows = fixed_product(*x, 0, cut), columns = fixed_product(*x, cut, rank);
  if (rows >= 0 && columns >= 0) return c.out(0, Decompose(c).reshape(x, {rows, columns}));
  if (rows > 0 || columns > 0) return c.out(0, c.b.reshape(x, {to_s32(rows), to_s32(columns)}));
  ops::shape_of::Attrs front, back;
  front.end = cut;
  back.start = cut;
  Value* first = c.b.op(OpId::reduce_prod, {c.b.op(OpId::shape_of, front, {x})});
  Value* second = c.b.op(OpId::reduce_prod, {c.b.op(OpId::shape_of, back, {x})});
  if (c.b.ok()) c.out(0, reshape_by(c, x, c.b.op(OpId::concat, {first, second})));
}

// 1 at the axes that a vector names at run time (negative ones too), 0 elsewhere, as s64.
Value* mark_axes(NodeContext& c, Value* axes, int rank) {
  Value* marked = c.b.cast(axes, DType::s64);
  if (marked != nullptr && marked->type.rank() == 0) marked = c.b.reshape(marked, {1});
  if (!c.b.ok()) return nullptr;
  const std::vector<int64_t> ones(static_cast<size_t>(marked->type.count()), 1);
  return c.b.op(OpId::scatter_elements,
                {Decompose(c).ints(std::vector<int64_t>(static_cast<size_t>(rank), 0)), marked, Decompose(c).ints(ones)});
}

// Axes that only running tells: the kept ones come first in a stable sort of the marks.
void squeeze_by(NodeContext& c, Value* axes) {
  Value* x = c.in(0);
  const int64_t kept = x->type.rank() - axes->type.count();
  if (!axes->type.is_static() || kept < 0) return c.fail("more axes to remove than the tensor has, or an unknown number of them");
  Value* marks = mark_axes(c, axes, x->type.rank());
  if (marks == nullptr) return;
  ops::sort::Attrs ascending;
  ascending.axis = 0;
  const auto sorted = c.b.ops(OpId::sort, ascending, {marks}, 2);
  if (sorted.empty()) return;
  ops::slice::Attrs front;
  front.count = 1;
  front.steps[0] = 1;
  front.ends[0] = static_cast<int32_t>(kept);
  Value* order = c.b.op(OpId::slice, front, {sorted[1]});
  if (order != nullptr) c.out(0, reshape_by(c, x, c.b.op(OpId::gather, {Decompose(c).shape_of(x), order})));
}

void import_squeeze(NodeContext& c) {
  Value* x = c.in(0);
  std::vector<int64_t> axes;
  if (c.in(1) != nullptr && !known_list(c.in(1), &axes)) return squeeze_by(c, c.in(1));
  if (c.in(1) == nullptr) axes = c.attr_ints("axes");
  if (axes.empty() && c.in(1) == nullptr && c.attr("axes") == nullptr)
    for (int i = 0; i < x->type.rank(); ++i)
      if (x->type.dims[static_cast<size_t>(i)] == 1) axes.push_back(i);
  c.out(0, axes.empty() ? x : c.b.squeeze(x, axes));
}

// Axes that only running tells: sizes of x in order where no axis is new, 1 where one is.
void unsqueeze_by(NodeContext& c, Value* axes) {
  Value* x = c.in(0);
  const int64_t rank = x->type.rank() + axes->type.count();
  if (!axes->type.is_static() || rank > kMaxRank)
    return c.fail("the result would have more than 8 dimensions, or an unknown number of them");
  if (x->type.rank() == 0) return c.out(0, Decompose(c).reshape(x, std::vector<int64_t>(static_cast<size_t>(rank), 1)));
  Value* marks = mark_axes(c, axes, static_cast<int>(rank));
  Value* one = Decompose(c).ints({1});
  Value* old = binary(c, OpId::sub, one, marks);
  Value* place = old == nullptr ? nullptr : c.b.op(OpId::cum_sum, {old});
  place = binary(c, OpId::maximum, binary(c, OpId::sub, place, one), Decompose(c).ints({0}));
  if (place == nullptr) return;
  Value* sizes = c.b.op(OpId::gather, {Decompose(c).shape_of(x), place});
  Value* shape = c.b.ok() ? c.b.op(OpId::where, {c.b.cast(marks, DType::boolean), one, sizes}) : nullptr;
  c.out(0, reshape_by(c, x, shape));
}

void import_unsqueeze(NodeContext& c) {
  std::vector<int64_t> axes;
  if (c.in(1) != nullptr && !known_list(c.in(1), &axes)) return unsqueeze_by(c, c.in(1));
  if (c.in(1) == nullptr) axes = c.attr_ints("axes");
  c.out(0, c.b.unsqueeze(c.in(0), axes));
}

void import_expand(NodeContext& c) {
  std::vector<int64_t> dims;
  if (!known_list(c.in(1), &dims)) return c.out(0, c.b.op(OpId::expand, {c.in(0), c.in(1)}));
  ops::expand::Attrs a;
  a.rank = static_cast<int32_t>(dims.size());
  if (to_list(c, dims, a.dims)) c.out(0, c.b.op(OpId::expand, a, {c.in(0)}));
}

void import_tile(NodeContext& c) {
  std::vector<int64_t> repeats;
  if (!known_list(c.in(1), &repeats)) return c.out(0, c.b.op(OpId::tile, {c.in(0), c.in(1)}));
  ops::tile::Attrs a;
  if (static_cast<int>(repeats.size()) != c.in(0)->type.rank()) return c.fail("expected one repeat count for each axis");
  if (to_list(c, repeats, a.repeats)) c.out(0, c.b.op(OpId::tile, a, {c.in(0)}));
}

void import_shape(NodeContext& c) {
  ops::shape_of::Attrs a;
  a.start = to_s32(c.attr_int("start", 0));
  a.end = to_s32(c.attr_int("end", a.end));
  c.out(0, c.b.op(OpId::shape_of, a, {c.in(0)}));
}

void import_size(NodeContext& c) {
  ops::reduce_prod::Attrs a;
  a.keep_dims = 0;
  Value* shape = Decompose(c).shape_of(c.in(0));
  if (shape != nullptr) c.out(0, c.b.op(OpId::reduce_prod, a, {shape}));
}

void import_constant_of_shape(NodeContext& c) {
  const auto* given = c.attr("value");
  Value* value = given != nullptr && given->has_t() ? c.constant(given->t()) : Decompose(c).number(0, DType::f32);
  const int element = given != nullptr && given->has_t() ? narrow_element(given->t().data_type()) : 0;
  Decompose d(c);
  if (element != 0) value = spread_codes(d, value, *narrow_type(element));
  std::vector<int64_t> dims;
  if (value == nullptr) return;
  if (!known_list(c.in(0), &dims)) return c.out(0, c.b.op(OpId::fill, {value, c.in(0)}), element);
  ops::fill::Attrs a;
  a.rank = static_cast<int32_t>(dims.size());
  if (to_list(c, dims, a.dims)) c.out(0, c.b.op(OpId::fill, a, {value}), element);
}

}  // namespace

void add_shape_ops(OpTable& table);
void add_shape_ops(OpTable& table) {
  add_lines(table, {{"Reshape", import_reshape, 1, 2},
                    {"Flatten", import_flatten},
                    {"Squeeze", import_squeeze},
                    {"Unsqueeze", import_unsqueeze},
                    {"Expand", import_expand, 1, 2},
                    {"Tile", import_tile, 1, 2},
                    {"Shape", import_shape},
                    {"Size", import_size},
                    {"ConstantOfShape", import_constant_of_shape}});
}

}  // namespace mote::frontends::onnx
