// Shapes, and tensors made from them.

#include <algorithm>

#include "mote/compiler/frontends/common/words.h"
#include "mote/compiler/frontends/tflite/moves.h"
#include "mote/ops/bitcast/bitcast.h"
#include "mote/ops/expand/expand.h"
#include "mote/ops/fill/fill.h"
#include "mote/ops/reshape/reshape.h"
#include "mote/ops/shape_of/shape_of.h"

namespace mote::frontends::tflite {

void import_reshape(Op& op) {
  Value* x = op.value(0);
  std::vector<int64_t> shape;
  const auto* wanted = op.options<fb::ReshapeOptions>().new_shape();
  if (op.has(1)) {
    if (op.in(1).dims.size() > 1) return op.fail("expected a vector of sizes, found " + describe(op.in(1)));
    if (!op.ints(1, &shape)) return op.set(declare(op, op.b.op(OpId::reshape, {x, op.value(1)})));
  } else if (wanted != nullptr) {
    shape.assign(wanted->begin(), wanted->end());
  } else {
    return op.fail("the new shape is missing");
  }
  // Old converters write the scalar shape as (0).
  if (!op.has(1) && shape.size() == 1 && shape[0] == 0) shape.clear();
  ops::reshape::Attrs a;
  if (shape.size() > static_cast<size_t>(kMaxRank)) return op.fail("expected at most 8 sizes, found " + std::to_string(shape.size()));
  const Dims dims = to_dims(op, shape);
  a.rank = static_cast<int32_t>(dims.size());
  a.allow_zero = 1;
  std::copy(dims.begin(), dims.end(), a.dims);
  op.set(op.b.op(OpId::reshape, a, {x}));
}

void import_squeeze(Op& op) {
  Value* x = op.value(0);
  if (x == nullptr) return op.fail("the input is missing");
  const auto* wanted = op.options<fb::SqueezeOptions>().squeeze_dims();
  std::vector<int64_t> axes;
  if (wanted != nullptr) axes.assign(wanted->begin(), wanted->end());
  const bool all = axes.empty();
  for (int i = 0; all && i < x->type.rank(); ++i)
    if (x->type.dims[static_cast<size_t>(i)] == 1) axes.push_back(i);
  op.set(op.b.squeeze(x, axes));
}

void import_expand_dims(Op& op) {
  std::vector<int64_t> axis;
  if (op.need_ints(1, "the axis", &axis)) op.set(op.b.unsqueeze(op.value(0), axis));
}

// Sparse constants are dense already (sparse.h).
void import_densify(Op& op) { op.set(op.value(0)); }

void import_shape(Op& op) {
  const bool s32 = op.out().dtype != DType::s64;
  ops::shape_of::Attrs a;
  a.s32 = s32 ? 1 : 0;
  op.set(op.b.op(OpId::shape_of, a, {op.value(0)}));
}

void import_rank(Op& op) {
  const Value* x = op.value(0);
  if (x == nullptr) return op.fail("the input is missing");
  op.set(op.b.graph().scalar<int32_t>(x->type.rank()));
}

void import_fill(Op& op) {
  std::vector<int64_t> dims;
  Value *shape = op.value(0), *value = op.value(1);
  if (shape == nullptr || value == nullptr) return op.fail("an input is missing");
  if (value->type.rank() > 0) value = op.b.reshape(value, {});
  ops::fill::Attrs a;
  if (!op.ints(0, &dims)) return op.set(declare(op, op.b.op(OpId::fill, a, {value, shape})));
  if (dims.size() > static_cast<size_t>(kMaxRank)) return op.fail("expected at most 8 sizes, found " + std::to_string(dims.size()));
  const Dims d = to_dims(op, dims);
  a.rank = static_cast<int32_t>(d.size());
  std::copy(d.begin(), d.end(), a.dims);
  op.set(op.b.op(OpId::fill, a, {value}));
}

void import_zeros_like(Op& op) {
  Value* x = op.value(0);
  if (x == nullptr) return op.fail("the input is missing");
  Value* zero = op.b.cast(op.b.graph().scalar<int32_t>(0), x->type.dtype);
  op.set(op.b.op(OpId::fill, ops::fill::Attrs{}, {zero, op.b.op(OpId::shape_of, ops::shape_of::Attrs{}, {x})}));
}

void import_range(Op& op) {
  std::vector<Value*> in;
  for (uint32_t i = 0; i < 3; ++i) {
    Value* v = op.value(i);
    if (v == nullptr) return op.fail("start, limit or delta is missing");
    in.push_back(v->type.rank() > 0 ? op.b.reshape(v, {}) : v);
  }
  op.set(declare(op, op.b.op(OpId::range, in)));
}

void import_broadcast_to(Op& op) {
  std::vector<int64_t> dims;
  Value* x = op.value(0);
  ops::expand::Attrs a;
  if (!op.ints(1, &dims)) return op.set(declare(op, op.b.op(OpId::expand, a, {x, op.value(1)})));
  if (dims.size() > static_cast<size_t>(kMaxRank)) return op.fail("expected at most 8 sizes, found " + std::to_string(dims.size()));
  const Dims d = to_dims(op, dims);
  a.rank = static_cast<int32_t>(d.size());
  std::copy(d.begin(), d.end(), a.dims);
  op.set(op.b.op(OpId::expand, a, {x}));
}

// The shape two shapes broadcast to.
void import_broadcast_args(Op& op) {
  std::vector<int64_t> a, b;
  if (!op.need_ints(0, "the first shape", &a) || !op.need_ints(1, "the second shape", &b)) return;
  std::vector<int64_t> out(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t p = i < a.size() ? a[a.size() - 1 - i] : 1, q = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (p != q && p != 1 && q != 1) return op.fail("sizes " + std::to_string(p) + " and " + std::to_string(q) + " do not broadcast");
    out[out.size() - 1 - i] = p == 1 ? q : p;
  }
  op.set(op.b.cast(int_vector(op, out), op.out().dtype));
}

void import_cast(Op& op) {
  Value* x = op.value(0);
  if (op.out().dtype != DType::s4) return op.set(op.b.cast(x, op.out().dtype));
  // Numbers of 4 bits are kept in 8.
  Words w(op.b);
  op.set(w.cast(w.op(OpId::minimum, {w.op(OpId::maximum, {x, w.number(-8, x)}), w.number(7, x)}), DType::s8));
}

void import_bitcast(Op& op) { op.set(op.b.op(OpId::bitcast, ops::bitcast::Attrs{static_cast<int32_t>(op.out().dtype)}, {op.value(0)})); }

}  // namespace mote::frontends::tflite
