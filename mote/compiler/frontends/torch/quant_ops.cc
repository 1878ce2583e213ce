// PT2E quantization: pairs of quantize and dequantize, from which the passes make integer operators.

#include <algorithm>

#include "mote/compiler/frontends/torch/op.h"
#include "mote/ops/dequantize/dequantize.h"
#include "mote/ops/quantize/quantize.h"

namespace mote::frontends::torch {
namespace {

struct Grid {
  Value *scale = nullptr, *zero = nullptr;
  int32_t axis = 0;
};

// Scale and zero point, numbers or tensors; the zero point in the type of the integers.
bool read_grid(Op& o, bool per_channel, int rank, DType type, Grid* g) {
  const char* scale = per_channel ? "scales" : "scale";
  const char* zero = per_channel ? "zero_points" : "zero_point";
  g->scale = o.scalar(scale, DType::f32);
  if (o.has(zero)) g->zero = o.scalar(zero, type);
  if (per_channel) g->axis = o.axis("axis", 0, rank);
  else {
    g->scale = o.reshape(g->scale, {});
    g->zero = g->zero == nullptr ? nullptr : o.reshape(g->zero, {});
  }
  return o.b.ok();
}

struct Limits {
  int64_t lo, hi;
};
Limits limits_of(DType t) {
  const int64_t bits = dtype_bits(t);
  if (t == DType::u8 || t == DType::u16) return {0, (int64_t{1} << bits) - 1};
  return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
}

template <bool per_channel>
void import_quantize(Op& o) {
  Value* x = o.in("input");
  const DType to = o.out_type();
  Grid g;
  if (!read_grid(o, per_channel, rank_of(x), to, &g)) return;
  ops::quantize::Attrs a;
  a.to = static_cast<uint32_t>(to);
  a.axis = g.axis;
  Value* q = g.zero == nullptr ? o.b.op(OpId::quantize, a, {x, g.scale}) : o.b.op(OpId::quantize, a, {x, g.scale, g.zero});
  const Limits all = limits_of(to);
  const int64_t lo = o.integer("quant_min", all.lo), hi = o.integer("quant_max", all.hi);
  if (lo > all.lo || hi < all.hi) q = o.op(OpId::clip, {q, o.number(static_cast<double>(lo), to), o.number(static_cast<double>(hi), to)});
  o.out(q);
}

template <bool per_channel>
void import_dequantize(Op& o) {
  Value* x = o.in("input");
  Grid g;
  if (!read_grid(o, per_channel, rank_of(x), dtype_of_value(x), &g)) return;
  ops::dequantize::Attrs a;
  a.to = static_cast<uint32_t>(o.out_type());
  a.axis = g.axis;
  o.out(g.zero == nullptr ? o.b.op(OpId::dequantize, a, {x, g.scale}) : o.b.op(OpId::dequantize, a, {x, g.scale, g.zero}));
}

}  // namespace

void add_quant_ops(OpTable& t);
void add_quant_ops(OpTable& t) {
  constexpr DTypeMask kNarrow = mask_of(DType::s8) | mask_of(DType::u8) | mask_of(DType::s16) | mask_of(DType::u16) | mask_of(DType::s32);
  add_lines(t, {
                   {"quantized_decomposed.quantize_per_tensor", "default tensor tensor2", &import_quantize<false>, kFloat},
                   {"quantized_decomposed.quantize_per_channel", "default", &import_quantize<true>, kFloat},
                   {"quantized_decomposed.dequantize_per_tensor", "default tensor tensor2", &import_dequantize<false>, kNarrow},
                   {"quantized_decomposed.dequantize_per_channel", "default", &import_dequantize<true>, kNarrow},
               });
}

}  // namespace mote::frontends::torch
