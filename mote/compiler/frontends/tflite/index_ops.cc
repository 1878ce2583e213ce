// Operators that pick or place elements by index.

#include <algorithm>
#include <limits>

#include "mote/compiler/frontends/common/words.h"
#include "mote/compiler/frontends/tflite/moves.h"
#include "mote/ops/cast/cast.h"
#include "mote/ops/common/reduce.h"
#include "mote/ops/eye/eye.h"
#include "mote/ops/fill/fill.h"
#include "mote/ops/gather/gather.h"
#include "mote/ops/gather_nd/gather_nd.h"
#include "mote/ops/non_zero/non_zero.h"
#include "mote/ops/one_hot/one_hot.h"
#include "mote/ops/scatter_nd/scatter_nd.h"
#include "mote/ops/top_k/top_k.h"
#include "mote/ops/unique/unique.h"

namespace mote::frontends::tflite {
namespace {

// Indices as s32 or s64.
Value* index_value(Op& op, uint32_t i) {
  Value* v = op.value(i);
  if (v == nullptr || v->type.dtype == DType::s32 || v->type.dtype == DType::s64) return v;
  return op.b.cast(v, DType::s32);
}

Value* scalar_of(Op& op, Value* v) { return v == nullptr || v->type.rank() == 0 ? v : op.b.reshape(v, {}); }

// A tensor of the shape in input `i`, or null after fail().
Value* filled(Op& op, uint32_t shape_input, Value* value) {
  std::vector<int64_t> shape;
  ops::fill::Attrs a;
  if (!op.need_ints(shape_input, "the shape", &shape)) return nullptr;
  if (shape.size() > static_cast<size_t>(kMaxRank)) op.fail("expected at most 8 sizes, found " + std::to_string(shape.size()));
  if (!op.ok()) return nullptr;
  const Dims d = to_dims(op, shape);
  a.rank = static_cast<int32_t>(d.size());
  std::copy(d.begin(), d.end(), a.dims);
  return op.b.op(OpId::fill, a, {value});
}

Value* number(Op& op, double v, DType t) { return op.b.cast(op.b.graph().scalar<float>(static_cast<float>(v)), t); }

}  // namespace

void import_gather(Op& op) {
  const auto& o = op.options<fb::GatherOptions>();
  op.set(op.b.op(OpId::gather, ops::gather::Attrs{o.axis(), o.batch_dims()}, {op.value(0), index_value(op, 1)}));
}

void import_gather_nd(Op& op) { op.set(op.b.op(OpId::gather_nd, ops::gather_nd::Attrs{}, {op.value(0), index_value(op, 1)})); }

// inputs: indices, updates, shape. Updates of the same place add up.
void import_scatter_nd(Op& op) {
  Value* updates = op.value(1);
  if (updates == nullptr) return;
  Value* zeros = filled(op, 2, number(op, 0, updates->type.dtype));
  op.set(op.b.op(OpId::scatter_nd, ops::scatter_nd::Attrs{updates->type.dtype == DType::boolean ? 0 : 1},
                 {zeros, index_value(op, 0), updates}));
}

// inputs: indices, shape, values, default.
void import_sparse_to_dense(Op& op) {
  Value *indices = index_value(op, 0), *values = op.value(2);
  Value* base = filled(op, 1, scalar_of(op, op.value(3)));
  if (!op.ok()) return;
  if (indices->type.rank() < 2) indices = op.b.reshape(indices, indices->type.rank() == 0 ? Dims{1, 1} : Dims{-1, 1});
  if (op.ok() && values->type.rank() == 0) {
    ops::fill::Attrs a;
    a.rank = 1;
    a.dims[0] = indices->type.dims[0];
    values = op.b.op(OpId::fill, a, {values});
  }
  op.set(op.b.op(OpId::scatter_nd, ops::scatter_nd::Attrs{}, {base, indices, values}));
}

// Rows of input 0 with the same segment id are put together. Without a number of segments the ids must be known: they decide the output's
// size. Negative ids leave rows out: these go to a segment behind the others, which is cut off.
void import_segments(Op& op) {
  Value *x = op.value(0), *at = index_value(op, 1);
  std::vector<int64_t> ids, count;
  if (x == nullptr || at == nullptr || (!op.has(2) && !op.need_ints(1, "the segment ids", &ids))) return;
  if (op.has(2) && (!op.need_ints(2, "the number of segments", &count) || count.size() != 1))
    return op.fail("expected one number of segments");
  const bool known = op.ints(1, &ids);
  int64_t segments = op.has(2) ? count[0] : ids.empty() ? 0 : *std::max_element(ids.begin(), ids.end()) + 1;
  const size_t lead = op.in(1).dims.size();
  if (lead > x->type.dims.size() || segments < 0 || segments >= INT32_MAX) return op.fail("the segment ids do not fit the input");
  if (known && std::any_of(ids.begin(), ids.end(), [&](int64_t i) { return i >= segments || (i < 0 && !op.has(2)); }))
    return op.fail("segment ids must lie between 0 and the number of segments");
  const bool all = known && std::all_of(ids.begin(), ids.end(), [](int64_t i) { return i >= 0; });
  Words w(op.b);
  if (!all) at = w.op(OpId::where, {w.op(OpId::less, {at, w.number(0, at)}), w.number(static_cast<double>(segments++), at), at});
  Dims dims{static_cast<int32_t>(segments)};
  dims.insert(dims.end(), x->type.dims.begin() + static_cast<std::ptrdiff_t>(lead), x->type.dims.end());
  const bool real = x->type.dtype == DType::f32;
  double start = 0;
  int32_t reduction = 1;
  switch (op.code()) {
    case BuiltinOperator::UNSORTED_SEGMENT_PROD:
      start = 1;
      reduction = 2;
      break;
    case BuiltinOperator::UNSORTED_SEGMENT_MIN:
      start = real ? std::numeric_limits<float>::max() : 2147483647.0;
      reduction = 3;
      break;
    case BuiltinOperator::UNSORTED_SEGMENT_MAX:
      start = real ? std::numeric_limits<float>::lowest() : -2147483648.0;
      reduction = 4;
      break;
    default: break;
  }
  ops::fill::Attrs a;
  a.rank = static_cast<int32_t>(dims.size());
  std::copy(dims.begin(), dims.end(), a.dims);
  Value* base = op.b.op(OpId::fill, a, {number(op, start, x->type.dtype)});
  Value* indices = op.b.unsqueeze(at, {static_cast<int64_t>(lead)});
  Value* y = op.b.op(OpId::scatter_nd, ops::scatter_nd::Attrs{reduction}, {base, indices, x});
  op.set(all ? y : w.slice(y, 0, 0, segments - 1));
}

void import_top_k(Op& op) {
  std::vector<int64_t> k;
  ops::top_k::Attrs a;
  a.index_s32 = op.outputs() > 1 && op.out(1).dtype == DType::s64 ? 0 : 1;
  Value* runtime = nullptr;
  if (op.ints(1, &k) && k.size() == 1) a.k = to_dims(op, k)[0];
  else runtime = op.b.cast(scalar_of(op, index_value(op, 1)), DType::s64);
  const std::vector<Value*> out = op.b.ops(OpId::top_k, a, {op.value(0), runtime}, 2);
  for (uint32_t i = 0; i < out.size(); ++i) op.set(i, declare(op, out[i], i));
}

// inputs: indices, depth, on, off.
void import_one_hot(Op& op) {
  std::vector<int64_t> depth;
  if (!op.need_ints(1, "the depth", &depth) || depth.size() != 1) return op.fail("expected one depth");
  ops::one_hot::Attrs a;
  a.depth = to_dims(op, depth)[0];
  a.axis = op.options<fb::OneHotOptions>().axis();
  a.negative_off = 1;
  Value *on = op.b.reshape(op.value(2), {1}), *off = op.b.reshape(op.value(3), {1});
  op.set(op.b.op(OpId::one_hot, a, {index_value(op, 0), nullptr, op.b.op(OpId::concat, {off, on})}));
}

void import_where(Op& op) { op.set(op.b.op(OpId::non_zero, ops::non_zero::Attrs{1}, {op.value(0)})); }

void import_unique(Op& op) {
  ops::unique::Attrs a;
  a.sorted = 0;
  const std::vector<Value*> out = op.b.ops(OpId::unique, a, {op.value(0)}, 3);
  if (out.empty()) return;
  op.set(0, out[0]);
  if (op.outputs() > 1) op.set(1, op.b.cast(out[2], op.out(1).dtype));
}

void import_dynamic_update_slice(Op& op) { op.set(op.b.op(OpId::update_slice, {op.value(0), op.value(1), op.value(2)})); }

namespace {

// True on the main diagonal of the last two axes.
Value* diagonal(Op& op, int32_t rows, int32_t cols) {
  ops::eye::Attrs a;
  a.rows = rows;
  a.cols = cols;
  a.dtype = static_cast<int32_t>(DType::boolean);
  return op.b.op(OpId::eye, a, {});
}

}  // namespace

void import_matrix_diag(Op& op) {
  Value* x = op.value(0);
  if (x == nullptr || x->type.rank() < 1 || (x->type.dynamic >> (x->type.rank() - 1) & 1) != 0)
    return op.fail("expected a vector of known size");
  const int32_t n = x->type.dims.back();
  op.set(op.b.op(OpId::where, {diagonal(op, n, n), op.b.unsqueeze(x, {-1}), number(op, 0, x->type.dtype)}));
}

void import_matrix_set_diag(Op& op) {
  Value *x = op.value(0), *d = op.value(1);
  if (x == nullptr || d == nullptr || x->type.rank() < 2 || x->type.dynamic != 0) return op.fail("expected a matrix of known size");
  const int32_t rows = x->type.dims[x->type.dims.size() - 2], cols = x->type.dims.back();
  // The diagonal runs along rows or columns, whichever there are fewer of.
  op.set(op.b.op(OpId::where, {diagonal(op, rows, cols), op.b.unsqueeze(d, {rows <= cols ? -1 : -2}), x}));
}

// How many boundaries are not above x.
void import_bucketize(Op& op) {
  const auto* given = op.options<fb::BucketizeOptions>().boundaries();
  Value* x = op.value(0);
  if (given == nullptr || given->size() == 0 || x == nullptr) return op.fail("the boundaries are missing");
  const std::vector<float> bounds(given->begin(), given->end());
  Value* limits = op.b.graph().constant<float>({static_cast<int32_t>(bounds.size())}, bounds);
  Value* reached = op.b.op(OpId::greater_equal, {op.b.unsqueeze(op.b.cast(x, DType::f32), {-1}), limits});
  ops::ReduceAttrs a;
  a.axes[0] = -1;
  a.axis_count = 1;
  a.keep_dims = 0;
  if (reached != nullptr) op.set(op.b.op(OpId::reduce_sum, a, {op.b.cast(reached, DType::s32)}));
}

}  // namespace mote::frontends::tflite
