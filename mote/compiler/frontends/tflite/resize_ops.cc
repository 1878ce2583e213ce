// Resizing of images, and changes between real and quantized numbers.

#include <cmath>

#include "mote/compiler/frontends/tflite/moves.h"
#include "mote/compiler/frontends/tflite/quant.h"
#include "mote/ops/clip/clip.h"
#include "mote/ops/dequantize/dequantize.h"
#include "mote/ops/q_resize/q_resize.h"
#include "mote/ops/quantize/quantize.h"
#include "mote/ops/resize/resize.h"

namespace mote::frontends::tflite {
namespace {

void resize(Op& op, bool nearest, bool align_corners, bool half_pixel) {
  Value* x = op.value(0);
  std::vector<int64_t> sizes;
  if (x == nullptr || x->type.rank() != 4) return op.fail("expected an input of 4 dimensions, found " + describe(op.in(0)));
  const bool known = op.ints(1, &sizes) && sizes.size() == 2;
  if (is_8_or_16_bits(x->type.dtype)) {
    if (!known) return op.fail("the size must be known when compiling");
    const Dims d = to_dims(op, sizes);
    const ops::q_resize::Attrs a{d[0], d[1], nearest ? 0u : 1u, align_corners ? 1u : 0u, half_pixel ? 1u : 0u};
    return op.set(op.b.op(OpId::q_resize, a, {x}));
  }
  ops::resize::Attrs a;
  a.mode = nearest ? 0 : 1;
  // Places: align corners 3, half pixel centres 0 (5 for nearest), plain scaling 4.
  a.coordinates = align_corners ? 3 : half_pixel ? (nearest ? 5 : 0) : 4;
  a.nearest = align_corners ? 1 : 2;
  if (align_corners && half_pixel) return op.fail("align_corners and half_pixel_centers together are not supported");
  if (!known) return op.set(declare(op, op.b.op(OpId::resize, a, {x, op.value(1)})));
  const Dims d = to_dims(op, sizes);
  a.sizes[0] = d[0];
  a.sizes[1] = d[1];
  if (d[0] < 1 || d[1] < 1) return op.fail("expected sizes of at least 1, found " + std::to_string(d[0]) + " and " + std::to_string(d[1]));
  op.set(op.b.op(OpId::resize, a, {x}));
}

// Scales and zero points of a tensor as operands. Zero points have type `type`.
std::vector<Value*> quant_operands(Op& op, const Tensor& t, DType type) {
  std::vector<float> scale;
  std::vector<int32_t> zero;
  for (uint32_t i = 0; i < t.quant.count(); ++i) {
    scale.push_back(t.quant.scale_at(i));
    zero.push_back(t.quant.zero_at(i));
  }
  const Dims dims = scale.size() == 1 ? Dims{} : Dims{static_cast<int32_t>(scale.size())};
  ir::Graph& g = op.b.graph();
  return {g.constant<float>(dims, scale), op.b.cast(g.constant<int32_t>(dims, zero), type)};
}

}  // namespace

void import_resize_bilinear(Op& op) {
  const auto& o = op.options<fb::ResizeBilinearOptions>();
  resize(op, false, o.align_corners(), o.half_pixel_centers());
}

void import_resize_nearest(Op& op) {
  const auto& o = op.options<fb::ResizeNearestNeighborOptions>();
  resize(op, true, o.align_corners(), o.half_pixel_centers());
}

void import_quantize(Op& op) {
  const Tensor &x = op.in(0), &y = op.out();
  if (!need_scale(op, y)) return;
  if (op.is_float(0)) {
    // Numbers of 4 bits are kept in 8.
    const bool narrow = y.dtype == DType::s4;
    const DType to = narrow ? DType::s8 : y.dtype;
    const std::vector<Value*> q = quant_operands(op, y, to);
    ops::quantize::Attrs a;
    a.to = static_cast<uint32_t>(to);
    a.axis = y.quant.axis;
    a.rounding = 1;
    Value* v = op.b.op(OpId::quantize, a, {op.b.cast(op.value(0), DType::f32), q[0], q[1]});
    return op.set(narrow ? clip_to(op, v, {-8, 7}) : v);
  }
  if (!need_scale(op, x)) return;
  if (x.quant.count() > 1 || y.quant.count() > 1) return op.fail("scales per channel cannot be changed");
  const Multiplier m = quantize_multiplier(static_cast<double>(x.scale()) / static_cast<double>(y.scale()));
  op.set(requantize(op, op.value(0), x.zero(), m, y.zero(), y.dtype, type_range(y.dtype)));
}

void import_dequantize(Op& op) {
  const Tensor& x = op.in(0);
  if (op.is_float(0)) return op.set(op.b.cast(op.value(0), op.out().dtype));
  if (!need_scale(op, x)) return;
  Value* v = op.value(0);
  if (v == nullptr) return;
  const std::vector<Value*> q = quant_operands(op, x, v->type.dtype);
  ops::dequantize::Attrs a;
  a.to = static_cast<uint32_t>(op.out().dtype);
  a.axis = x.quant.axis;
  op.set(op.b.op(OpId::dequantize, a, {v, q[0], q[1]}));
}

// Rounds to the grid that training with fake quantization saw; the range is moved so that zero lies on it.
void import_fake_quant(Op& op) {
  const auto& o = op.options<fb::FakeQuantOptions>();
  if (o.num_bits() < 2 || o.num_bits() > 16 || !(o.min() < o.max())) return op.fail("expected 2 to 16 bits and a range that is not empty");
  const float least = o.narrow_range() ? 1.0f : 0.0f, most = static_cast<float>((1 << o.num_bits()) - 1);
  const float scale = (o.max() - o.min()) / (most - least), from_min = least - o.min() / scale;
  const float zero = from_min < least ? least : from_min > most ? most : std::round(from_min);
  const float lo = (least - zero) * scale, hi = (most - zero) * scale;
  ir::Graph& g = op.b.graph();
  Value* x = op.b.op(OpId::clip, ops::clip::Attrs{lo, hi}, {op.value(0)});
  Value* steps = op.b.op(OpId::mul, {op.b.op(OpId::sub, {x, g.scalar<float>(lo)}), g.scalar<float>(1.0f / scale)});
  Value* whole = op.b.op(OpId::floor, {op.b.op(OpId::add, {steps, g.scalar<float>(0.5f)})});
  op.set(op.b.op(OpId::add, {op.b.op(OpId::mul, {whole, g.scalar<float>(scale)}), g.scalar<float>(lo)}));
}

}  // namespace mote::frontends::tflite
