// SLICE and STRIDED_SLICE.

#include <algorithm>

#include "mote/compiler/frontends/common/words.h"
#include "mote/compiler/frontends/tflite/moves.h"
#include "mote/ops/slice/slice.h"

namespace mote::frontends::tflite {
namespace {

constexpr int32_t kToEnd = INT32_MAX, kToStart = -INT32_MAX;

// What STRIDED_SLICE does, worked out against the rank of x.
struct Cut {
  ops::slice::Attrs attrs;
  std::vector<int64_t> removed, added;  // axes of the cut tensor that go; axes of the result that come
};

int32_t narrow(int64_t v) { return static_cast<int32_t>(std::max<int64_t>(kToStart, std::min<int64_t>(kToEnd, v))); }

bool plan_cut(Op& op, int rank, const std::vector<int64_t>& begin, const std::vector<int64_t>& end, const std::vector<int64_t>& stride,
              Cut* c) {
  const auto& o = op.options<fb::StridedSliceOptions>();
  const int specs = static_cast<int>(begin.size());
  int new_axes = 0;
  for (int i = 0; i < specs; ++i) new_axes += (o.new_axis_mask() >> i & 1) != 0 && (o.ellipsis_mask() >> i & 1) == 0 ? 1 : 0;
  int axis = 0, result = 0;
  for (int i = 0; i < specs; ++i) {
    const size_t s = static_cast<size_t>(i);
    if ((o.ellipsis_mask() >> i & 1) != 0) {
      const int skipped = rank - (specs - 1 - new_axes);
      if (skipped < 0) return false;
      axis += skipped;
      result += skipped;
      continue;
    }
    if ((o.new_axis_mask() >> i & 1) != 0) {
      c->added.push_back(result++);
      continue;
    }
    if (axis >= rank || c->attrs.count >= kMaxRank || stride[s] == 0) return false;
    const bool shrink = (o.shrink_axis_mask() >> i & 1) != 0, back = stride[s] < 0;
    const size_t k = static_cast<size_t>(c->attrs.count++);
    c->attrs.axes[k] = axis;
    c->attrs.steps[k] = shrink ? 1 : narrow(stride[s]);
    c->attrs.starts[k] = (o.begin_mask() >> i & 1) != 0 && !shrink ? (back ? kToEnd : 0) : narrow(begin[s]);
    const int64_t stop = o.offset() ? begin[s] + end[s] : end[s];
    c->attrs.ends[k] = (o.end_mask() >> i & 1) != 0 ? (back ? kToStart : kToEnd) : narrow(stop);
    if (shrink) {
      c->attrs.ends[k] = begin[s] == -1 ? kToEnd : narrow(begin[s] + 1);
      c->removed.push_back(axis);
    } else {
      ++result;
    }
    ++axis;
  }
  return true;
}

}  // namespace

void import_strided_slice(Op& op) {
  Value* x = op.value(0);
  std::vector<int64_t> begin, end, stride;
  if (!op.need_ints(3, "the strides", &stride) || x == nullptr) return op.fail("the input is missing");
  const auto& o = op.options<fb::StridedSliceOptions>();
  const bool known = op.ints(1, &begin) && op.ints(2, &end);
  if (!op.ok()) return;
  if (!known) {
    const bool plain =
        o.begin_mask() == 0 && o.end_mask() == 0 && o.ellipsis_mask() == 0 && o.new_axis_mask() == 0 && o.shrink_axis_mask() == 0;
    if (!plain) return op.fail("begin and end must be known when compiling where masks are used");
    std::vector<int64_t> axes;
    for (size_t i = 0; i < stride.size(); ++i) axes.push_back(static_cast<int64_t>(i));
    Value* stop = o.offset() ? op.b.op(OpId::add, {op.value(1), op.value(2)}) : op.value(2);
    return op.set(
        declare(op, op.b.op(OpId::slice, ops::slice::Attrs{}, {x, op.value(1), stop, int_vector(op, axes), int_vector(op, stride)})));
  }
  Cut c;
  if (begin.size() != stride.size() || end.size() != stride.size() || begin.size() > 31 ||
      !plan_cut(op, x->type.rank(), begin, end, stride, &c))
    return op.fail("begin, end and strides do not fit an input of " + std::to_string(x->type.rank()) + " dimensions");
  Value* y = c.attrs.count > 0 ? op.b.op(OpId::slice, c.attrs, {x}) : x;
  if (!c.removed.empty()) y = op.b.squeeze(y, c.removed);
  // New axes count in the result, after the removed ones are gone.
  if (!c.added.empty()) y = op.b.unsqueeze(y, c.added);
  op.set(y);
}

// Where each axis ends; a size of -1 means all that is left.
Value* ends_of(Op& op, Value* starts, Value* sizes) {
  const auto row = [&](int64_t v) { return op.b.cast(int_vector(op, {v}), dtype_of_value(sizes)); };
  Value* rest = op.b.op(OpId::equal, {sizes, row(-1)});
  return op.b.op(OpId::where, {rest, row(kToEnd), op.b.op(OpId::add, {starts, sizes})});
}

void import_slice(Op& op) {
  Value* x = op.value(0);
  std::vector<int64_t> begin, size;
  const bool begin_known = op.ints(1, &begin), size_known = op.ints(2, &size);
  if (!op.ok() || x == nullptr) return op.fail("the input is missing");
  const size_t rank = x->type.dims.size();
  if ((begin_known && begin.size() != rank) || (size_known && size.size() != rank))
    return op.fail("expected one begin and size for each dimension");
  if (begin_known && size_known) {
    ops::slice::Attrs a;
    a.count = static_cast<int32_t>(rank);
    for (size_t i = 0; i < rank; ++i) {
      if (begin[i] < 0 || begin[i] > INT32_MAX || size[i] < -1) return op.fail("expected begins of at least 0 and sizes of at least -1");
      a.axes[i] = static_cast<int32_t>(i);
      a.steps[i] = 1;
      a.starts[i] = static_cast<int32_t>(begin[i]);
      a.ends[i] = size[i] == -1 ? kToEnd : narrow(begin[i] + size[i]);
    }
    return op.set(op.b.op(OpId::slice, a, {x}));
  }
  Value *starts = op.value(1), *sizes = op.value(2);
  const bool may_be_rest = !size_known || std::find(size.begin(), size.end(), -1) != size.end();
  Value* ends = may_be_rest ? ends_of(op, starts, sizes) : op.b.op(OpId::add, {starts, sizes});
  Value* y = op.b.op(OpId::slice, ops::slice::Attrs{}, {x, starts, ends});
  if (y == nullptr || !size_known) return op.set(declare(op, y));
  Dims most = to_dims(op, size);
  for (size_t i = 0; i < rank; ++i)
    if (most[i] == -1) most[i] = x->type.dims[i];
  y->declared = ir::Type{x->type.dtype, most, 0};
  std::string error;
  if (!ir::infer(*y->producer, &error)) return op.fail(error);
  op.set(y);
}

}  // namespace mote::frontends::tflite
