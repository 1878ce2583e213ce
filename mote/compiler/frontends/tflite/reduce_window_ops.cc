// Dilation, padding also between the elements, and reductions of sliding windows.

#include <algorithm>
#include <limits>

#include "mote/compiler/frontends/tflite/stablehlo.h"

namespace mote::frontends::tflite {
namespace {

struct Windows {
  Int64s sizes, strides, dilations;
};

// Windows of `width` elements, `gap` apart, at every place of an axis. Those of doubled width are put together from two halves, so that the
// work grows with the width's logarithm.
Value* slide(Words& w, Value* x, int axis, int64_t width, int64_t gap, OpId combine) {
  const int64_t places = dims_of(x)[static_cast<size_t>(axis)] - (width - 1) * gap;
  Value *whole = nullptr, *doubled = x;
  for (int64_t span = 1, covered = 0; w.b.ok(); span *= 2) {
    if ((width & span) != 0) {
      Value* part = w.slice(doubled, axis, covered * gap, covered * gap + places);
      whole = whole == nullptr ? part : w.op(combine, {whole, part});
      covered += span;
    }
    if (covered == width) break;
    const int64_t size = dims_of(doubled)[static_cast<size_t>(axis)];
    doubled = w.op(combine, {w.slice(doubled, axis, 0, size - span * gap), w.slice(doubled, axis, span * gap, size)});
    if (doubled == nullptr) break;
  }
  return whole;
}

// Windows that hardly overlap: element by element, at the places that stay alone.
Value* step(Words& w, Value* x, int axis, int64_t width, int64_t gap, int64_t stride, OpId combine) {
  const int64_t places = dims_of(x)[static_cast<size_t>(axis)] - (width - 1) * gap;
  Value* whole = nullptr;
  for (int64_t k = 0; k < width; ++k) {
    Value* part = w.slice(x, axis, k * gap, k * gap + places, stride);
    whole = whole == nullptr ? part : w.op(combine, {whole, part});
  }
  return whole;
}

Value* reduce_axis(Op& op, Value* x, int axis, const Windows& windows, OpId combine) {
  Words w(op.b);
  const size_t i = static_cast<size_t>(axis);
  const int64_t width = windows.sizes[i], stride = windows.strides[i], gap = windows.dilations[i];
  if (x == nullptr || (width == 1 && stride == 1)) return x;
  if (!is_fixed(x, axis)) {
    op.fail("the size of axis " + std::to_string(axis) + ", along which windows move, must be known when compiling");
    return nullptr;
  }
  const int64_t size = dims_of(x)[i];
  if (width > size || (width > 1 && gap > (size - 1) / (width - 1))) return w.slice(x, axis, 0, 0);  // no window fits
  if (width <= 2 * stride && width <= 32) return step(w, x, axis, width, gap, stride, combine);
  Value* y = slide(w, x, axis, width, gap, combine);
  return stride == 1 || y == nullptr ? y : w.slice(y, axis, 0, dims_of(y)[i], stride);
}

// Whether combining with `v` changes nothing.
bool is_neutral(Op& op, const Value* v, Combiner c) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (v == nullptr || !v->is_constant()) return false;
  double neutral = 0;
  if (c == Combiner::kMul || c == Combiner::kAnd) neutral = 1;
  if (c == Combiner::kMin) neutral = kInfinity;
  if (c == Combiner::kMax) neutral = -kInfinity;
  const Value* n = Words(op.b).number(neutral, v);
  return n != nullptr && n->data.size == v->data.size && std::equal(n->data.data, n->data.data + n->data.size, v->data.data);
}

bool fit(Op& op, const Windows& w, int rank) {
  for (const Int64s* list : {&w.sizes, &w.strides, &w.dilations}) {
    const bool inside = std::all_of(list->begin(), list->end(), [](int64_t v) { return v >= 1 && v <= INT32_MAX; });
    if (list->size() != static_cast<size_t>(rank) || !inside)
      op.fail("expected a window size, a stride and a dilation of at least 1 for each of " + std::to_string(rank) + " axes");
  }
  return op.ok();
}

// Sums and the like do not depend on their order (float sums up to rounding), so each axis has its turn.
Value* reduce_windows(Op& op, Value* x, Value* init, const Windows& windows, Combiner c) {
  Words w(op.b);
  const DType type = dtype_of_value(x);
  if (!op.ok() || x == nullptr || init == nullptr || c == Combiner::kNone || !fit(op, windows, rank_of(x))) return nullptr;
  const bool as_bool = (c == Combiner::kAnd || c == Combiner::kOr) && type != DType::boolean;
  if (as_bool) {
    x = w.op(OpId::not_equal, {x, w.number(0, x)});
    init = w.op(OpId::not_equal, {init, w.number(0, init)});
  }
  const OpId combine = combiner_op(c, dtype_of_value(x));
  for (int axis = 0; axis < rank_of(x); ++axis) x = reduce_axis(op, x, axis, windows, combine);
  if (!is_neutral(op, init, c)) x = w.op(combine, {w.reshape(init, {}), x});
  return as_bool ? w.cast(x, type) : x;
}

}  // namespace

// inputs: x, how far elements are put apart along each axis, what is put between them.
void import_dilate(Op& op) {
  Value *x = op.value(0), *filler = op.value(2);
  Int64s steps;
  if (!op.need_ints(1, "the dilations", &steps)) return;
  if (steps.size() != static_cast<size_t>(rank_of(x))) return op.fail("expected one dilation for each axis of " + describe(op.in(0)));
  for (int axis = 0; axis < rank_of(x); ++axis) x = spread(op, x, axis, steps[static_cast<size_t>(axis)], filler);
  op.set(x);
}

void import_stablehlo_pad(Op& op) {
  const auto* o = op.source.table->builtin_options2_as_StablehloPadOptions();
  if (o == nullptr) return op.fail("the options are missing");
  const Int64s low = list_of(o->edge_padding_low()), high = list_of(o->edge_padding_high()), interior = list_of(o->interior_padding());
  Value *x = op.value(0), *filler = op.value(1);
  const size_t rank = static_cast<size_t>(rank_of(x));
  if (low.size() != rank || high.size() != rank || interior.size() != rank)
    return op.fail("expected three paddings for each axis of " + describe(op.in(0)));
  for (size_t i = 0; i < rank; ++i) {
    if (interior[i] < 0 || interior[i] >= INT32_MAX) return op.fail("expected interior paddings of at least 0");
    x = spread(op, x, static_cast<int>(i), interior[i] + 1, filler);
  }
  op.set(pad_by(op, x, low, high, filler));
}

// inputs: x, what each window starts from, sizes, strides and dilations of the windows.
void import_reduce_window(Op& op) {
  const auto* o = op.source.table->builtin_options2_as_ReduceWindowOptions();
  Windows w;
  if (!op.need_ints(2, "the window", &w.sizes) || !op.need_ints(3, "the strides", &w.strides) ||
      !op.need_ints(4, "the dilations", &w.dilations))
    return;
  Combiner c = Combiner::kNone;
  switch (o == nullptr ? fb::ReduceWindowFunction::UNSUPPORTED : o->reduce_function()) {
    case fb::ReduceWindowFunction::ADD: c = Combiner::kAdd; break;
    case fb::ReduceWindowFunction::MUL: c = Combiner::kMul; break;
    case fb::ReduceWindowFunction::MINIMUM: c = Combiner::kMin; break;
    case fb::ReduceWindowFunction::MAXIMUM: c = Combiner::kMax; break;
    case fb::ReduceWindowFunction::ALL: c = Combiner::kAnd; break;
    case fb::ReduceWindowFunction::ANY: c = Combiner::kOr; break;
    default: return op.fail("the options name no function to reduce with");
  }
  op.set(reduce_windows(op, op.value(0), op.value(1), w, c));
}

void import_stablehlo_reduce_window(Op& op) {
  const auto* o = op.source.table->builtin_options2_as_StablehloReduceWindowOptions();
  if (o == nullptr) return op.fail("the options are missing");
  if (op.inputs() != 2 || op.outputs() != 1) return op.fail("windows of several tensors at once are not supported");
  const Combiner c = combiner_of(op, o->body_subgraph_index());
  if (c == Combiner::kSecond) return op.fail("the body must be one ADD, MUL, MINIMUM, MAXIMUM, AND or OR; found none");
  Value *x = op.value(0), *init = op.value(1);
  const size_t rank = static_cast<size_t>(rank_of(x));
  Windows w{list_of(o->window_dimensions()), list_of(o->window_strides()), list_of(o->window_dilations())};
  Int64s apart = list_of(o->base_dilations()), padding = list_of(o->padding()), low(rank, 0), high(rank, 0);
  for (Int64s* list : {&w.strides, &w.dilations, &apart})
    if (list->empty()) list->assign(rank, 1);
  if (padding.empty()) padding.assign(2 * rank, 0);
  if (apart.size() != rank || padding.size() != 2 * rank || !fit(op, w, static_cast<int>(rank)))
    return op.fail("expected a base dilation and two paddings for each axis of " + describe(op.in(0)));
  for (size_t i = 0; i < rank; ++i) {
    low[i] = padding[2 * i];
    high[i] = padding[2 * i + 1];
    x = spread(op, x, static_cast<int>(i), apart[i], init);
  }
  op.set(reduce_windows(op, pad_by(op, x, low, high, init), init, w, c));
}

}  // namespace mote::frontends::tflite
