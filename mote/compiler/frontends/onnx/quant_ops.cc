#include <algorithm>

#include "mote/compiler/frontends/onnx/narrow_words.h"
#include "mote/compiler/frontends/onnx/op_support.h"
#include "mote/ops/clip/clip.h"
#include "mote/ops/dequantize/dequantize.h"
#include "mote/ops/dynamic_quantize/dynamic_quantize.h"
#include "mote/ops/quantize/quantize.h"

namespace mote::frontends::onnx {
namespace {

// Scale, zero point and where they lie: one for all, one along an axis, or one a block.
struct Grid {
  Value *scale = nullptr, *zero = nullptr;
  int32_t axis = 0, block = 0;
};

bool read_grid(NodeContext& c, Grid* g) {
  Decompose d(c);
  g->scale = d.cast(c.in(1), DType::f32);
  g->zero = c.in(2);
  if (!c.b.ok()) return false;
  const int rank = rank_of(c.in(0));
  const bool single = g->scale->type.count() == 1 && rank_of(g->scale) <= 1;
  g->block = single ? 0 : to_s32(std::max<int64_t>(c.attr_int("block_size", 0), 0));
  if (!single) g->axis = axis_of(c, c.attr_int("axis", 1), rank);
  // A scalar scale may come with a zero point of shape (1), and the other way around.
  if (g->zero != nullptr && single && rank_of(g->zero) != rank_of(g->scale)) {
    const ir::Dims& dims = dims_of(g->zero);
    g->scale = d.reshape(g->scale, {dims.begin(), dims.end()});
  }
  return c.b.ok();
}

// Scales or zero points laid so that they broadcast with x.
Value* along(NodeContext& c, Value* v, const Value* x, const Grid& g) {
  Decompose d(c);
  const int rank = rank_of(x);
  if (v == nullptr || x == nullptr || rank_of(v) > rank) return d.reshape(v, {});
  if (v->type.count() == 1 && rank_of(v) <= 1) return d.reshape(v, {});
  if (g.block == 0) {
    std::vector<int64_t> dims(static_cast<size_t>(rank), 1);
    dims[static_cast<size_t>(g.axis)] = -1;
    return d.reshape(v, dims);
  }
  const int64_t block = g.block, size = dims_of(x)[static_cast<size_t>(g.axis)];
  if (!is_fixed(x, g.axis) || rank_of(v) != rank || dims_of(v)[static_cast<size_t>(g.axis)] != (size + block - 1) / block) {
    c.fail("scales in blocks: expected a fixed size on axis " + std::to_string(g.axis) + " and a scale for every " + std::to_string(block) +
           " elements of it");
    return nullptr;
  }
  std::vector<int64_t> of;
  for (int64_t i = 0; i < size; ++i) of.push_back(i / block);
  return d.gather(v, d.ints(of), g.axis);
}

// Floats have no zero point: where one is given it is the number 0.
bool no_zero_point(NodeContext& c, const Value* zero, const NarrowType& t) {
  if (zero == nullptr || !zero->is_constant() || t.kind == NarrowKind::kFinite) return true;
  for (size_t i = 0; i < zero->data.size; ++i) {
    if (decode(t, zero->data.data[i]) == 0) continue;
    c.fail("the zero point of " + onnx_type_name(t.onnx) + " must be 0");
    return false;
  }
  return true;
}

void quantize_to_float(NodeContext& c, const NarrowType& t, const Grid& g) {
  Decompose d(c);
  EncodeRule rule;
  rule.saturate = c.attr_int("saturate", 1) != 0;
  if (!no_zero_point(c, g.zero, t)) return;
  Value* y = d.div(d.cast(c.in(0), DType::f32), along(c, g.scale, c.in(0), g));
  const NarrowType* of_zero = narrow_operand(c, 2);
  if (g.zero != nullptr && of_zero != nullptr && t.kind == NarrowKind::kFinite)
    y = d.add(y, along(c, numbers_of(d, g.zero, *of_zero), c.in(0), g));
  c.out(0, codes_of(d, y, t, rule), t.onnx);
}

void import_quantize(NodeContext& c) {
  Decompose d(c);
  Grid g;
  if (!read_grid(c, &g)) return;
  const int asked = static_cast<int>(c.attr_int("output_dtype", 0));
  const NarrowType* narrow = g.zero != nullptr ? narrow_operand(c, 2) : narrow_type(asked);
  if (narrow != nullptr && narrow->is_float()) return quantize_to_float(c, *narrow, g);
  ops::quantize::Attrs a;
  const DType to = g.zero != nullptr ? dtype_of_value(g.zero) : asked != 0 ? storage_of(asked) : DType::u8;
  if (to == DType::kNone) return c.fail("quantizes to " + onnx_type_name(asked) + ", which Mote does not have");
  a.to = static_cast<uint32_t>(to);
  a.axis = g.axis;
  a.block = g.block;
  Value* x = (mask_of(dtype_of_value(c.in(0))) & kFloat) != 0 ? c.in(0) : d.cast(c.in(0), DType::f32);
  if (!c.b.ok()) return;
  Value* y = g.zero != nullptr ? c.b.op(OpId::quantize, a, {x, g.scale, g.zero}) : c.b.op(OpId::quantize, a, {x, g.scale});
  if (narrow == nullptr) return c.out(0, y);
  ops::clip::Attrs range;
  range.lo = static_cast<float>(narrow->low());
  range.hi = static_cast<float>(narrow->high());
  if (y != nullptr) c.out(0, c.b.op(OpId::clip, range, {y}), narrow->onnx);
}

// A zero point of 4 bits comes packed or as codes, like x: they need not be the same.
Value* matching_zero(NodeContext& c, Value* zero) {
  Decompose d(c);
  const NarrowType* t = narrow_operand(c, 2);
  if (zero == nullptr || t == nullptr || dtype_of_value(zero) == dtype_of_value(c.in(0))) return zero;
  return d.cast(spread_codes(d, zero, *t), dtype_bytes(dtype_of_value(c.in(0))) == 0 ? DType::s32 : t->storage());
}

void import_dequantize(NodeContext& c) {
  Decompose d(c);
  Grid g;
  if (!read_grid(c, &g)) return;
  const int asked = static_cast<int>(c.attr_int("output_dtype", 0));
  ops::dequantize::Attrs a;
  a.to = static_cast<uint32_t>(asked != 0 ? to_dtype(asked) : dtype_of_value(c.in(1)));
  a.axis = g.axis;
  a.block = g.block;
  if (const NarrowType* t = narrow_operand(c, 0); t != nullptr && t->is_float()) {
    if (!no_zero_point(c, g.zero, *t)) return;
    Value* y = d.mul(numbers_of(d, c.in(0), *t), along(c, g.scale, c.in(0), g));
    return c.out(0, d.cast(y, static_cast<DType>(a.to)));
  }
  g.zero = matching_zero(c, g.zero);
  if (!c.b.ok()) return;
  c.out(0, g.zero != nullptr ? c.b.op(OpId::dequantize, a, {c.in(0), g.scale, g.zero}) : c.b.op(OpId::dequantize, a, {c.in(0), g.scale}));
}

void import_dynamic_quantize(NodeContext& c) {
  const std::vector<Value*> y = c.b.ops(OpId::dynamic_quantize, ops::dynamic_quantize::Attrs{}, {c.in(0)}, 3);
  for (size_t i = 0; i < y.size(); ++i) c.out(static_cast<int>(i), y[i]);
}

}  // namespace

void add_quant_ops(OpTable& table);
void add_quant_ops(OpTable& table) {
  add_lines(table, {{"QuantizeLinear", import_quantize, 10, 2},
                    {"DequantizeLinear", import_dequantize, 10, 2},
                    {"DynamicQuantizeLinear", import_dynamic_quantize, 11}});
}

}  // namespace mote::frontends::onnx
