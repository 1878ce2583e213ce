#include "mote/compiler/frontends/onnx/decompose.h"

#include <algorithm>

#include "mote/ops/common/reduce.h"
#include "mote/ops/concat/concat.h"
#include "mote/ops/expand/expand.h"
#include "mote/ops/gather/gather.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/pad/pad.h"
#include "mote/ops/reshape/reshape.h"
#include "mote/ops/slice/slice.h"
#include "mote/ops/softmax/softmax.h"

namespace mote::frontends::onnx {
namespace {

template <class T>
Value* typed_number(ir::Graph& g, double v) {
  return g.constant<T>({}, {static_cast<T>(v)});
}

bool copy_dims(NodeContext& c, const std::vector<int64_t>& from, int32_t* to) {
  if (from.size() > static_cast<size_t>(kMaxRank)) {
    c.fail("expected at most " + std::to_string(kMaxRank) + " dimensions, found " + std::to_string(from.size()));
    return false;
  }
  for (size_t i = 0; i < from.size(); ++i) to[i] = static_cast<int32_t>(std::clamp<int64_t>(from[i], INT32_MIN, INT32_MAX));
  return true;
}

}  // namespace

Value* Decompose::number(double v, DType dtype) {
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
    default: c.fail("no number of this element type"); return nullptr;
  }
}

Value* Decompose::ints(const std::vector<int64_t>& values) {
  return b.graph().constant<int64_t>({static_cast<int32_t>(values.size())}, values);
}

Value* Decompose::matmul(Value* x, Value* y, bool transpose_x, bool transpose_y, float alpha, Value* bias) {
  if (!b.ok()) return nullptr;
  ops::matmul::Attrs a;
  a.transpose_a = transpose_x ? 1 : 0;
  a.transpose_b = transpose_y ? 1 : 0;
  a.alpha = alpha;
  if (bias != nullptr) return b.op(OpId::matmul, a, {x, y, bias});
  return b.op(OpId::matmul, a, {x, y});
}

Value* Decompose::reduce(OpId id, Value* x, const std::vector<int64_t>& axes, bool keep) {
  ops::ReduceAttrs a;
  if (!b.ok() || !copy_dims(c, axes, a.axes)) return nullptr;
  if (axes.empty()) return x;
  a.axis_count = static_cast<int32_t>(axes.size());
  a.keep_dims = keep ? 1 : 0;
  return b.op(id, a, {x});
}

Value* Decompose::softmax(Value* x, int axis) {
  ops::softmax::Attrs a;
  a.axis = axis;
  return b.ok() ? b.op(OpId::softmax, a, {x}) : nullptr;
}

Value* Decompose::concat(const std::vector<Value*>& parts, int axis) {
  ops::concat::Attrs a;
  a.axis = axis;
  if (!b.ok()) return nullptr;
  return parts.size() == 1 ? parts[0] : b.op(OpId::concat, a, parts);
}

Value* Decompose::slice(Value* x, int axis, int64_t begin, int64_t end, int64_t step) {
  ops::slice::Attrs a;
  a.count = 1;
  a.axes[0] = axis;
  a.starts[0] = static_cast<int32_t>(std::clamp<int64_t>(begin, INT32_MIN, INT32_MAX));
  a.ends[0] = static_cast<int32_t>(std::clamp<int64_t>(end, INT32_MIN, INT32_MAX));
  a.steps[0] = static_cast<int32_t>(step);
  return b.ok() ? b.op(OpId::slice, a, {x}) : nullptr;
}

Value* Decompose::gather(Value* x, Value* indices, int axis) {
  ops::gather::Attrs a;
  a.axis = axis;
  return b.ok() ? b.op(OpId::gather, a, {x, indices}) : nullptr;
}

Value* Decompose::pad(Value* x, const std::vector<int64_t>& begin, const std::vector<int64_t>& end, float value) {
  ops::pad::Attrs a;
  if (!b.ok() || !copy_dims(c, begin, a.begin) || !copy_dims(c, end, a.end)) return nullptr;
  a.value = value;
  return b.op(OpId::pad, a, {x});
}

Value* Decompose::expand(Value* x, const std::vector<int64_t>& dims) {
  ops::expand::Attrs a;
  if (!b.ok() || !copy_dims(c, dims, a.dims)) return nullptr;
  a.rank = static_cast<int32_t>(dims.size());
  return b.op(OpId::expand, a, {x});
}

Value* Decompose::reshape(Value* x, const std::vector<int64_t>& dims) {
  ops::reshape::Attrs a;
  if (!b.ok() || !copy_dims(c, dims, a.dims)) return nullptr;
  a.rank = static_cast<int32_t>(dims.size());
  a.allow_zero = 1;
  return b.op(OpId::reshape, a, {x});
}

Value* Decompose::transpose(Value* x, const std::vector<int>& perm) {
  if (x == nullptr) return nullptr;
  bool same = true;
  for (size_t i = 0; i < perm.size(); ++i) same = same && perm[i] == static_cast<int>(i);
  return same ? x : b.transpose(x, perm);
}

Value* Decompose::shape_of(Value* x) { return op(OpId::shape_of, {x}); }

Value* Decompose::size_of(Value* x, int axis) { return slice(shape_of(x), 0, axis, axis + 1); }

Value* Decompose::fill(double v, DType dtype, Value* shape) { return op(OpId::fill, {number(v, dtype), shape}); }

Value* Decompose::channels_last(Value* x) {
  const int rank = rank_of(x);
  if (rank < 3) return x;
  std::vector<int> perm{0};
  for (int i = 2; i < rank; ++i) perm.push_back(i);
  perm.push_back(1);
  return transpose(x, perm);
}

Value* Decompose::channels_first(Value* x) {
  const int rank = rank_of(x);
  if (rank < 3) return x;
  std::vector<int> perm{0, rank - 1};
  for (int i = 1; i < rank - 1; ++i) perm.push_back(i);
  return transpose(x, perm);
}

bool is_fixed(const Value* v, int axis) { return v != nullptr && axis < v->type.rank() && (v->type.dynamic >> axis & 1) == 0; }

int axis_of(NodeContext& c, int64_t axis, int rank) {
  const int64_t from_front = axis < 0 ? axis + rank : axis;
  if (from_front >= 0 && from_front < std::max(rank, 1)) return static_cast<int>(from_front);
  c.fail("axis " + std::to_string(axis) + " does not exist in a tensor of rank " + std::to_string(rank));
  return 0;
}

namespace {

bool read_list(NodeContext& c, const char* name, int spatial, int32_t* out) {
  const std::vector<int64_t> given = c.attr_ints(name);
  if (given.empty()) return true;
  if (static_cast<int>(given.size()) != spatial) {
    c.fail(std::string(name) + ": expected " + std::to_string(spatial) + " values, found " + std::to_string(given.size()));
    return false;
  }
  for (int i = 0; i < spatial; ++i) out[i] = static_cast<int32_t>(std::clamp<int64_t>(given[static_cast<size_t>(i)], INT32_MIN, INT32_MAX));
  return true;
}

// SAME_UPPER and SAME_LOWER: as much padding as makes ceil(in / stride) outputs.
bool pad_same(NodeContext& c, const Value* x, bool upper, WindowSpec* w) {
  for (int i = 0; i < w->rank; ++i) {
    const int axis = i + 2;
    const int64_t extent = (int64_t{w->kernel[i]} - 1) * w->dilations[i] + 1, stride = std::max(w->strides[i], 1);
    if (!is_fixed(x, axis) && stride != 1) {
      c.fail("auto_pad SAME with stride " + std::to_string(stride) + " needs a fixed size in dimension " + std::to_string(axis),
             "fix it with --dim or --shape");
      return false;
    }
    const int64_t in = x->type.dims[static_cast<size_t>(axis)];
    const int64_t out = (in + stride - 1) / stride;
    const int64_t total = std::max<int64_t>(stride == 1 ? extent - 1 : (out - 1) * stride + extent - in, 0);
    const int64_t less = total / 2, more = total - less;
    w->begin[i] = static_cast<int32_t>(upper ? less : more);
    w->end[i] = static_cast<int32_t>(upper ? more : less);
  }
  return true;
}

}  // namespace

bool read_steps(NodeContext& c, int spatial, const std::vector<int64_t>& kernel, WindowSpec* w) {
  if (spatial < 1 || spatial > 3) {
    c.fail("expected 1 to 3 spatial dimensions, found " + std::to_string(spatial));
    return false;
  }
  if (static_cast<int>(kernel.size()) != spatial) {
    c.fail("kernel_shape: expected " + std::to_string(spatial) + " sizes, found " + std::to_string(kernel.size()));
    return false;
  }
  w->rank = spatial;
  for (size_t i = 0; i < kernel.size(); ++i) w->kernel[i] = static_cast<int32_t>(std::clamp<int64_t>(kernel[i], 0, INT32_MAX));
  return read_list(c, "strides", spatial, w->strides) && read_list(c, "dilations", spatial, w->dilations);
}

bool read_window(NodeContext& c, const Value* x, const std::vector<int64_t>& kernel, WindowSpec* w) {
  if (!c.b.ok() || !read_steps(c, rank_of(x) - 2, kernel, w)) return false;
  const std::string auto_pad = c.attr_string("auto_pad", "NOTSET");
  if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") return pad_same(c, x, auto_pad == "SAME_UPPER", w);
  if (auto_pad == "VALID") return true;
  if (auto_pad != "NOTSET" && !auto_pad.empty()) {
    c.fail("auto_pad: expected NOTSET, VALID, SAME_UPPER or SAME_LOWER, found " + auto_pad);
    return false;
  }
  int32_t pads[6] = {};
  if (!c.attr_ints("pads").empty()) {
    const std::vector<int64_t> given = c.attr_ints("pads");
    if (static_cast<int>(given.size()) != 2 * w->rank) {
      c.fail("pads: expected " + std::to_string(2 * w->rank) + " values, found " + std::to_string(given.size()));
      return false;
    }
    for (size_t i = 0; i < given.size(); ++i) pads[i] = static_cast<int32_t>(std::clamp<int64_t>(given[i], INT32_MIN, INT32_MAX));
  }
  for (int i = 0; i < w->rank; ++i) {
    w->begin[i] = pads[i];
    w->end[i] = pads[w->rank + i];
  }
  return true;
}

}  // namespace mote::frontends::onnx
