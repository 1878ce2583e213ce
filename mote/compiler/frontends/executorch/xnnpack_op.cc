#include "mote/compiler/frontends/executorch/xnnpack_op.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mote/ops/clip/clip.h"
#include "mote/ops/common/activation.h"
#include "mote/ops/dequantize/dequantize.h"
#include "mote/ops/dynamic_quantize/dynamic_quantize.h"
#include "mote/ops/quantize/quantize.h"

namespace mote::frontends::executorch {

bool XnnRange::open() const { return std::isinf(lo) && lo < 0 && std::isinf(hi) && hi > 0; }

XnnHeld* XnnOp::find(uint32_t id) {
  const auto it = scope.model.by_id.find(id);
  if (it != scope.model.by_id.end()) return &scope.held[it->second];
  fail("it names value " + std::to_string(id) + ", which the graph does not define");
  return nullptr;
}

const XnnTensor& XnnOp::tensor(uint32_t id) {
  static const XnnTensor kNone;
  return find(id) == nullptr ? kNone : scope.model.tensors[scope.model.by_id.at(id)];
}

// The file's 4-bit weights are unsigned with zero point 8, and each row begins at a byte.
Value* XnnOp::constant(const XnnTensor& t) {
  const size_t width = dtype_bytes(t.dtype);
  const bool aligned = width == 0 || reinterpret_cast<uintptr_t>(t.data.data) % width == 0;
  if (t.dtype != DType::s4 && aligned) return b.graph().add_constant(t.dtype, t.dims, t.data);
  if (!scope.take_bytes(t.data.size)) {
    fail("the graph uses its constants too often");
    return nullptr;
  }
  std::vector<uint8_t> made(t.data.data, t.data.data + t.data.size);
  if (t.dtype == DType::s4) {
    for (uint8_t& x : made) x ^= 0x88;
    const size_t rows = t.dims.empty() ? 1 : static_cast<size_t>(t.dims[0]),
                 count = static_cast<size_t>(ir::Type{t.dtype, t.dims, 0}.count()), row = rows == 0 ? 0 : count / rows;
    if (row % 2 != 0) {
      std::vector<uint8_t> dense((count + 1) / 2, 0);
      for (size_t i = 0; i < count; ++i) {
        const size_t from = i / row * (row + 1) + i % row;
        dense[i / 2] = static_cast<uint8_t>(dense[i / 2] | ((made[from / 2] >> (from % 2 * 4) & 15) << (i % 2 * 4)));
      }
      made = std::move(dense);
    }
  }
  return b.graph().add_constant(t.dtype, t.dims, ir::Bytes::own(std::move(made)));
}

const XnnHeld& XnnOp::held(uint32_t id) {
  static const XnnHeld kNone;
  XnnHeld* h = find(id);
  if (h == nullptr) return kNone;
  const XnnTensor& t = tensor(id);
  if (h->value == nullptr && t.is_constant()) h->value = constant(t);
  given_up = given_up || (h->value == nullptr && scope.refused);
  if (h->value == nullptr) fail("it reads value " + std::to_string(id) + " before anything computes it");
  return *h;
}

Value* XnnOp::raw(uint32_t id) { return held(id).value; }

Value* XnnOp::dequantize(const XnnTensor& t, const XnnHeld& h) {
  ops::dequantize::Attrs a;
  Value* v = h.value;
  if (v == nullptr || !b.ok()) return nullptr;
  switch (h.scale != nullptr ? XnnQuant::Kind::kToken : t.quant.kind) {
    case XnnQuant::Kind::kTensor:
      if (v->type.dtype == DType::s32) return mul(cast(v, DType::f32), number(static_cast<double>(t.quant.scale), DType::f32));
      return b.op(OpId::dequantize, a, {v, number(static_cast<double>(t.quant.scale), DType::f32), number(t.quant.zero, v->type.dtype)});
    case XnnQuant::Kind::kChannel:
      a.axis = t.quant.axis;
      return b.op(OpId::dequantize, a, {v, floats(*t.quant.scales, {t.dims[static_cast<size_t>(t.quant.axis)]})});
    case XnnQuant::Kind::kGroup:
      a.axis = 1;
      a.block = t.quant.group_size;
      return b.op(OpId::dequantize, a, {v, floats(*t.quant.scales, {t.dims[0], t.dims[1] / t.quant.group_size})});
    case XnnQuant::Kind::kToken: {
      // Rows as the first axis, so that scales run along it.
      std::vector<int64_t> rows{-1};
      for (size_t i = v->type.dims.size() - static_cast<size_t>(t.quant.nonbatch_dims); i < v->type.dims.size(); ++i) {
        if (!is_fixed(v, static_cast<int>(i))) fail("a dimension that shares a scale must have one size");
        rows.push_back(v->type.dims[i]);
      }
      Value* y = b.ok() ? b.op(OpId::dequantize, a, {reshape(v, rows), h.scale, h.zero}) : nullptr;
      return op(OpId::reshape, {y, shape_of(v)});
    }
    default: return v;
  }
}

Value* XnnOp::real(uint32_t id, DType type) {
  const XnnHeld& h = held(id);
  const XnnTensor& t = tensor(id);
  Value* v = t.quant.kind == XnnQuant::Kind::kNone && h.scale == nullptr ? h.value : dequantize(t, h);
  if (v == nullptr || !b.ok()) return nullptr;
  return type == DType::kNone ? v : cast(v, type);
}

DType XnnOp::work_type(uint32_t output, const std::vector<uint32_t>& inputs) {
  const DType y = tensor(output).dtype;
  if (!tensor(output).is_float()) return DType::f32;
  for (const uint32_t id : inputs)
    if (tensor(id).dtype != y) return DType::f32;
  return y;
}

void XnnOp::set_held(uint32_t id, const XnnHeld& h) {
  XnnHeld* to = find(id);
  if (to == nullptr || h.value == nullptr || !b.ok()) return;
  const XnnTensor& t = tensor(id);
  if (to->value != nullptr || t.is_constant() || (t.external_id != kNoValue && (t.flags & kExternalInput) != 0))
    return fail("it writes value " + std::to_string(id) + ", which has contents already");
  *to = h;
}

void XnnOp::set(uint32_t id, Value* v) {
  const XnnTensor& t = tensor(id);
  if (v == nullptr || !b.ok()) return;
  if (t.dynamic()) return fail("value " + std::to_string(id) + " can only be written by a conversion");
  if (t.is_float() && v->type.dtype != t.dtype && (mask_of(v->type.dtype) & kFloat) != 0) v = cast(v, t.dtype);
  if (v != nullptr && v->type.dtype != t.dtype) return fail("it computes another element type than that of " + describe_xnn(t));
  set_held(id, {v});
}

void XnnOp::set_real(uint32_t id, Value* v) {
  const XnnTensor& t = tensor(id);
  if (v == nullptr || !b.ok()) return;
  v = clip(v, range());
  set(id, t.quant.kind == XnnQuant::Kind::kNone ? v : quantize(v, t));
}

XnnRange XnnOp::range() {
  XnnRange r{-std::numeric_limits<float>::infinity(), std::numeric_limits<float>::infinity()};
  if (const xfb::OutputMinMax* m = node.output_min_max(); m != nullptr) r = {m->output_min(), m->output_max()};
  if (r.lo <= r.hi) return r;
  fail("its bounds are " + std::to_string(r.lo) + " to " + std::to_string(r.hi));
  return {0, 0};
}

XnnIntRange XnnOp::quantized_range(const XnnTensor& t) {
  const XnnRange r = range();
  const float lo = t.dtype == DType::u8 ? 0.0f : -128.0f, hi = t.dtype == DType::u8 ? 255.0f : 127.0f;
  const auto of = [&](float v) {
    return static_cast<int32_t>(std::nearbyint(std::clamp(v / t.quant.scale + static_cast<float>(t.quant.zero), lo, hi)));
  };
  return {of(r.lo), of(r.hi)};
}

Value* XnnOp::clip(Value* v, XnnRange r) {
  if (v == nullptr || !b.ok() || r.open()) return v;
  ops::clip::Attrs a;
  a.lo = r.lo;
  a.hi = r.hi;
  return b.op(OpId::clip, a, {v});
}

uint32_t XnnOp::activation_kind(float* a, float* b_) {
  const XnnRange r = range();
  if (r.open()) return static_cast<uint32_t>(ops::Activation::kNone);
  if (r.lo == 0 && std::isinf(r.hi)) return static_cast<uint32_t>(ops::Activation::kRelu);
  if (r.lo == 0 && r.hi == 6) return static_cast<uint32_t>(ops::Activation::kRelu6);
  *a = r.lo;
  *b_ = r.hi;
  return static_cast<uint32_t>(ops::Activation::kClamp);
}

int32_t XnnOp::size(uint32_t v, const char* what) {
  if (v < 1u << 30) return static_cast<int32_t>(v);
  fail(std::string(what) + " is " + std::to_string(v) + "; expected less than 2^30");
  return 0;
}

bool XnnOp::need_rank(Value* v, int rank, const char* what) {
  if (v != nullptr && b.ok() && v->type.rank() == rank) return true;
  fail(std::string(what) + " has " + std::to_string(rank_of(v)) + " dimensions; expected " + std::to_string(rank));
  return false;
}

// XNNPACK multiplies by the reciprocal of the scale.
Value* XnnOp::quantize(Value* v, const XnnTensor& to) {
  if (v == nullptr || !b.ok()) return nullptr;
  if (!to.per_tensor()) {
    fail("cannot compute " + describe_xnn(to));
    return nullptr;
  }
  ops::quantize::Attrs a;
  a.to = static_cast<uint32_t>(to.dtype);
  Value* scaled = mul(cast(v, DType::f32), static_cast<double>(1.0f / to.quant.scale));
  return b.op(OpId::quantize, a, {scaled, number(1, DType::f32), number(to.quant.zero, to.dtype)});
}

Value* XnnOp::floats(const std::vector<float>& v, const ir::Dims& dims) {
  if (scope.take_bytes(v.size() * sizeof(float))) return b.graph().constant<float>(dims, v);
  fail("the graph uses its scales too often");
  return nullptr;
}

XnnHeld quantize_xnn_rows(ir::NodeBuilder& b, Value* v, int nonbatch_dims) {
  if (v == nullptr || !b.ok()) return {};
  if (nonbatch_dims > v->type.rank()) {
    b.fail("more dimensions share a scale than there are");
    return {};
  }
  ops::dynamic_quantize::Attrs a;
  a.mode = static_cast<uint32_t>(ops::dynamic_quantize::Mode::kAsymmetric);
  a.axis = v->type.rank() - nonbatch_dims;
  const std::vector<Value*> out = b.ops(OpId::dynamic_quantize, a, {b.cast(v, DType::f32)}, 3);
  return out.empty() ? XnnHeld{} : XnnHeld{out[0], out[1], out[2]};
}

bool XnnOp::same_quant(const XnnTensor& a, const XnnTensor& c) const {
  if (a.dtype != c.dtype || a.quant.kind != c.quant.kind) return false;
  if (a.quant.kind == XnnQuant::Kind::kTensor) return a.quant.scale == c.quant.scale && a.quant.zero == c.quant.zero;
  return a.quant.kind == XnnQuant::Kind::kNone;
}

}  // namespace mote::frontends::executorch
