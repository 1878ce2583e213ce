#include "mote/compiler/frontends/common/words.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "mote/ops/common/reduce.h"
#include "mote/ops/concat/concat.h"
#include "mote/ops/expand/expand.h"
#include "mote/ops/gather/gather.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/pad/pad.h"
#include "mote/ops/reshape/reshape.h"
#include "mote/ops/slice/slice.h"
#include "mote/ops/softmax/softmax.h"

namespace mote::frontends {
namespace {

template <class T>
Value* typed_number(ir::Graph& g, double v) {
  if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    if (std::isnan(v)) v = 0;
    if (v >= static_cast<double>(Limits::max())) return g.constant<T>({}, {Limits::max()});
    if (v <= static_cast<double>(Limits::min())) return g.constant<T>({}, {Limits::min()});
  }
  return g.constant<T>({}, {static_cast<T>(v)});
}

}  // namespace

int rank_of(const Value* v) { return v == nullptr ? 0 : v->type.rank(); }

const ir::Dims& dims_of(const Value* v) {
  static const ir::Dims kNoDims;
  return v == nullptr ? kNoDims : v->type.dims;
}

DType dtype_of_value(const Value* v) { return v == nullptr ? DType::kNone : v->type.dtype; }

bool is_fixed(const Value* v, int axis) { return v != nullptr && axis < v->type.rank() && (v->type.dynamic >> axis & 1) == 0; }

bool Words::copy_dims(const std::vector<int64_t>& from, int32_t* to) {
  if (from.size() > static_cast<size_t>(kMaxRank)) {
    fail("expected at most " + std::to_string(kMaxRank) + " dimensions, found " + std::to_string(from.size()));
    return false;
  }
  for (size_t i = 0; i < from.size(); ++i) to[i] = static_cast<int32_t>(std::clamp<int64_t>(from[i], INT32_MIN, INT32_MAX));
  return true;
}

Value* Words::number(double v, DType dtype) {
  ir::Graph& g = b.graph();
  switch (dtype) {
    case DType::f32: return typed_number<float>(g, v);
    case DType::f64: return typed_number<double>(g, v);
    case DType::f16: return g.constant<f16>({}, {f16(v)});
    case DType::bf16: return g.constant<bf16>({}, {bf16(v)});
    case DType::s8: return typed_number<int8_t>(g, v);
    case DType::u8: return typed_number<uint8_t>(g, v);
    case DType::s16: return typed_number<int16_t>(g, v);
    case DType::u16: return typed_number<uint16_t>(g, v);
    case DType::s32: return typed_number<int32_t>(g, v);
    case DType::u32: return typed_number<uint32_t>(g, v);
    case DType::s64: return typed_number<int64_t>(g, v);
    case DType::u64: return typed_number<uint64_t>(g, v);
    case DType::boolean: return g.add_constant(DType::boolean, {}, ir::Bytes::own({static_cast<uint8_t>(v != 0)}));
    default: fail("no number of this element type"); return nullptr;
  }
}

Value* Words::ints(const std::vector<int64_t>& values) {
  return b.graph().constant<int64_t>({static_cast<int32_t>(values.size())}, values);
}

Value* Words::matmul(Value* x, Value* y, bool transpose_x, bool transpose_y, float alpha, Value* bias) {
  if (!b.ok()) return nullptr;
  ops::matmul::Attrs a;
  a.transpose_a = transpose_x ? 1 : 0;
  a.transpose_b = transpose_y ? 1 : 0;
  a.alpha = alpha;
  if (bias != nullptr) return b.op(OpId::matmul, a, {x, y, bias});
  return b.op(OpId::matmul, a, {x, y});
}

Value* Words::reduce(OpId id, Value* x, const std::vector<int64_t>& axes, bool keep) {
  ops::ReduceAttrs a;
  if (!b.ok() || !copy_dims(axes, a.axes)) return nullptr;
  if (axes.empty()) return x;
  a.axis_count = static_cast<int32_t>(axes.size());
  a.keep_dims = keep ? 1 : 0;
  return b.op(id, a, {x});
}

Value* Words::softmax(Value* x, int axis) {
  ops::softmax::Attrs a;
  a.axis = axis;
  return b.ok() ? b.op(OpId::softmax, a, {x}) : nullptr;
}

Value* Words::concat(const std::vector<Value*>& parts, int axis) {
  ops::concat::Attrs a;
  a.axis = axis;
  if (!b.ok()) return nullptr;
  return parts.size() == 1 ? parts[0] : b.op(OpId::concat, a, parts);
}

Value* Words::slice(Value* x, int axis, int64_t begin, int64_t end, int64_t step) {
  ops::slice::Attrs a;
  a.count = 1;
  a.axes[0] = axis;
  a.starts[0] = static_cast<int32_t>(std::clamp<int64_t>(begin, INT32_MIN, INT32_MAX));
  a.ends[0] = static_cast<int32_t>(std::clamp<int64_t>(end, INT32_MIN, INT32_MAX));
  a.steps[0] = static_cast<int32_t>(step);
  return b.ok() ? b.op(OpId::slice, a, {x}) : nullptr;
}

Value* Words::gather(Value* x, Value* indices, int axis) {
  ops::gather::Attrs a;
  a.axis = axis;
  return b.ok() ? b.op(OpId::gather, a, {x, indices}) : nullptr;
}

Value* Words::pad(Value* x, const std::vector<int64_t>& begin, const std::vector<int64_t>& end, float value) {
  ops::pad::Attrs a;
  if (!b.ok() || !copy_dims(begin, a.begin) || !copy_dims(end, a.end)) return nullptr;
  a.value = value;
  return b.op(OpId::pad, a, {x});
}

Value* Words::expand(Value* x, const std::vector<int64_t>& dims) {
  ops::expand::Attrs a;
  if (!b.ok() || !copy_dims(dims, a.dims)) return nullptr;
  a.rank = static_cast<int32_t>(dims.size());
  return b.op(OpId::expand, a, {x});
}

Value* Words::reshape(Value* x, const std::vector<int64_t>& dims) {
  ops::reshape::Attrs a;
  if (!b.ok() || !copy_dims(dims, a.dims)) return nullptr;
  a.rank = static_cast<int32_t>(dims.size());
  a.allow_zero = 1;
  return b.op(OpId::reshape, a, {x});
}

Value* Words::transpose(Value* x, const std::vector<int>& perm) {
  if (x == nullptr) return nullptr;
  bool same = true;
  for (size_t i = 0; i < perm.size(); ++i) same = same && perm[i] == static_cast<int>(i);
  return same ? x : b.transpose(x, perm);
}

Value* Words::shape_of(Value* x) { return op(OpId::shape_of, {x}); }

Value* Words::size_of(Value* x, int axis) { return slice(shape_of(x), 0, axis, axis + 1); }

Value* Words::fill(double v, DType dtype, Value* shape) { return op(OpId::fill, {number(v, dtype), shape}); }

Value* Words::channels_last(Value* x) {
  const int rank = rank_of(x);
  if (rank < 3) return x;
  std::vector<int> perm{0};
  for (int i = 2; i < rank; ++i) perm.push_back(i);
  perm.push_back(1);
  return transpose(x, perm);
}

Value* Words::channels_first(Value* x) {
  const int rank = rank_of(x);
  if (rank < 3) return x;
  std::vector<int> perm{0, rank - 1};
  for (int i = 1; i < rank - 1; ++i) perm.push_back(i);
  return transpose(x, perm);
}

}  // namespace mote::frontends
