#include "mote/compiler/passes/quantized.h"

#include <algorithm>
#include <cmath>

#include "mote/compiler/ir/infer.h"
#include "mote/ops/clip/clip.h"
#include "mote/ops/common/activation.h"
#include "mote/ops/common/quant.h"
#include "mote/ops/dequantize/dequantize.h"
#include "mote/ops/quantize/quantize.h"

namespace mote::passes {
namespace {

using Kind = ops::Activation;

// Scales and zero points as numbers, as many of one as of the other.
bool read_grid(const Node& n, std::vector<double>* scales, std::vector<double>* zeros) {
  *scales = constant_numbers(n.input(1), 1 << 20);
  if (scales->empty() || n.inputs[1]->type.rank() > 1) return false;
  if (std::any_of(scales->begin(), scales->end(), [](double s) { return !(s > 0) || !std::isfinite(s); })) return false;
  zeros->assign(scales->size(), 0);
  if (n.input(2) == nullptr) return true;
  *zeros = constant_numbers(n.inputs[2], 1 << 20);
  return zeros->size() == scales->size();
}

}  // namespace

std::optional<Quant> quant_of(const Node& n) {
  const bool down = n.is(OpId::quantize), up = n.is(OpId::dequantize);
  if (!down && !up) return {};
  if (down && (n.attributes<ops::quantize::Attrs>().block != 0 || n.attributes<ops::quantize::Attrs>().rounding != 0)) return {};
  if (up && n.attributes<ops::dequantize::Attrs>().block != 0) return {};
  std::vector<double> scales, zeros;
  if (!read_grid(n, &scales, &zeros) || scales.size() != 1) return {};
  return Quant{static_cast<float>(scales[0]), static_cast<int32_t>(zeros[0]), (down ? n.outputs[0] : n.inputs[0])->type.dtype};
}

Node* dequantized(const Value* v) {
  Node* n = made_by(v, OpId::dequantize);
  return n != nullptr && v->type.dtype == DType::f32 && reads_no_state(*n) && quant_of(*n) ? n : nullptr;
}

std::optional<QuantWeights> dequantized_weights(const Value* v) {
  const Node* n = made_by(v, OpId::dequantize);
  if (n == nullptr || v->type.dtype != DType::f32 || !reads_no_state(*n)) return {};
  const auto a = n->attributes<ops::dequantize::Attrs>();
  QuantWeights w;
  if (a.block != 0 || !read_grid(*n, &w.scales, &w.zeros)) return {};
  w.values = n->inputs[0];
  w.axis = axis_of(a.axis, v->type.rank());
  return w;
}

bool is_byte(DType t) { return t == DType::s8 || t == DType::u8; }

int32_t quantized(double x, const Quant& q) { return ops::quantize_value(static_cast<float>(x) / q.scale, q.zero, ops::int_range(q.type)); }

std::optional<Clamp> clamp_of(uint32_t activation, float a, float b, const Quant& y) {
  const auto at = [&](double v) { return quantized(v, y); };
  switch (static_cast<Kind>(activation)) {
    case Kind::kNone: return Clamp{};
    case Kind::kRelu: return Clamp{at(0), INT32_MAX};
    case Kind::kRelu6: return Clamp{at(0), at(6)};
    case Kind::kClamp: {
      const double lo = static_cast<double>(a), hi = static_cast<double>(b);
      return Clamp{std::isinf(lo) ? INT32_MIN : at(lo), std::isinf(hi) ? INT32_MAX : at(hi)};
    }
    default: return {};
  }
}

std::optional<Stage> stage_of(const Node& quantize) {
  const std::optional<Quant> y = quantize.is(OpId::quantize) ? quant_of(quantize) : std::nullopt;
  if (!y || (mask_of(y->type) & ops::kQuant) == 0) return {};
  const auto only_for = [](const Value* v, const Node& user) -> Node* {
    Node* n = v->producer;
    return n != nullptr && n->is_operator() && n->block == user.block && v->has_one_use() && reads_no_state(*n) &&
                   v->type.dtype == DType::f32
               ? n
               : nullptr;
  };
  Stage s;
  s.y = *y;
  s.op = only_for(quantize.inputs[0], quantize);
  s.name = quantize.name;
  if (s.op == nullptr) return {};
  std::optional<Clamp> clamp;
  if (s.op->is(OpId::relu)) clamp = clamp_of(static_cast<uint32_t>(Kind::kRelu), 0, 0, *y);
  if (s.op->is(OpId::clip) && s.op->inputs.size() == 1) {
    const auto a = s.op->attributes<ops::clip::Attrs>();
    if (a.lo <= a.hi) clamp = clamp_of(static_cast<uint32_t>(Kind::kClamp), a.lo, a.hi, *y);
  }
  Node* inner = clamp ? only_for(s.op->inputs[0], *s.op) : nullptr;
  if (inner != nullptr && !inner->is(OpId::dequantize)) {
    s.clamp = *clamp;
    s.name = joined_name(s.op->name, s.name);
    s.op = inner;
  }
  s.name = joined_name(s.op->name, s.name);
  return s;
}

}  // namespace mote::passes
