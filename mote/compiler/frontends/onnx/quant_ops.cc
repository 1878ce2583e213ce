#include <algorithm>

#include "mote/compiler/frontends/onnx/op_support.h"
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

void import_quantize(NodeContext& c) {
  Decompose d(c);
  Grid g;
  if (!read_grid(c, &g)) return;
  const int asked = static_cast<int>(c.attr_int("output_dtype", 0));
  ops::quantize::Attrs a;
  const DType to = g.zero != nullptr ? dtype_of_value(g.zero) : asked != 0 ? to_dtype(asked) : DType::u8;
  if (to == DType::kNone) return c.fail("quantizes to " + onnx_type_name(asked) + ", which Mote does not have");
  a.to = static_cast<uint32_t>(to);
  a.axis = g.axis;
  a.block = g.block;
  Value* x = (mask_of(dtype_of_value(c.in(0))) & kFloat) != 0 ? c.in(0) : d.cast(c.in(0), DType::f32);
  if (!c.b.ok()) return;
  c.out(0, g.zero != nullptr ? c.b.op(OpId::quantize, a, {x, g.scale, g.zero}) : c.b.op(OpId::quantize, a, {x, g.scale}));
}

void import_dequantize(NodeContext& c) {
  Grid g;
  if (!read_grid(c, &g)) return;
  const int asked = static_cast<int>(c.attr_int("output_dtype", 0));
  ops::dequantize::Attrs a;
  a.to = static_cast<uint32_t>(asked != 0 ? to_dtype(asked) : dtype_of_value(c.in(1)));
  a.axis = g.axis;
  a.block = g.block;
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
