// Quantized operators that work element by element, and their sums along axes.

#include <cmath>

#include "mote/compiler/emit/tosa/rescale.h"
#include "mote/compiler/emit/tosa/windows.h"
#include "mote/compiler/ir/infer.h"
#include "mote/ops/dequantize/dequantize.h"
#include "mote/ops/q_add/q_add.h"
#include "mote/ops/q_concat/q_concat.h"
#include "mote/ops/q_lut/q_lut.h"
#include "mote/ops/q_lut16/q_lut16.h"
#include "mote/ops/q_mul/q_mul.h"
#include "mote/ops/q_prelu/q_prelu.h"
#include "mote/ops/q_reduce/q_reduce.h"
#include "mote/ops/quantize/quantize.h"
#include "mote/ops/requantize/requantize.h"

namespace mote::emit::tosa {
namespace {

fb::DType signed_type(DType t) { return t == DType::u8 ? fb::DType::INT8 : type_of(t); }

// The last RESCALE of an operator: to the elements of its output, which are then clamped.
Operand to_output(Writer& w, const Node& n, const Operand& x, Scale s, int32_t zero, int32_t lo, int32_t hi) {
  const DType t = n.outputs[0]->type.dtype;
  s.out_zero = signed_value(zero, t);
  s.to = signed_type(t);
  return w.ok() ? bounded(w, rescale(w, x, s), t, lo, hi) : x;
}

// A table of 256 entries: entry i belongs to the signed element i - 128.
Operand by_table(Writer& w, const Operand& x, const std::function<int32_t(int32_t)>& f) {
  std::vector<double> entries;
  for (int32_t i = -128; i < 128; ++i) entries.push_back(f(i));
  return w.op(fb::Op::TABLE, {x, w.numbers(fb::DType::INT8, {256}, entries)}, fb::DType::INT8, x.dims);
}

int32_t element_of(int32_t signed_element, DType t) { return t == DType::u8 ? signed_element + 128 : signed_element; }

// --- sums and products of two ---

// Whether two functions agree, clamped, on all pairs of elements of 8 bits. False for other types.
bool same_for_all(DType t, int32_t lo, int32_t hi, const std::function<int64_t(int32_t, int32_t)>& f,
                  const std::function<int64_t(int32_t, int32_t)>& g) {
  const ops::IntRange all = ops::int_range(t), range = ops::clamp_range(lo, hi, t);
  if (all.hi - all.lo > 255) return false;
  for (int32_t u = all.lo; u <= all.hi; ++u)
    for (int32_t v = all.lo; v <= all.hi; ++v)
      if (ops::clamp_to(f(u, v), range) != ops::clamp_to(g(u, v), range)) return false;
  return true;
}

Operand q_sum(Writer& w, const Node& n, bool minus) {
  auto a = n.attributes<ops::QuantBinaryAttrs>();
  const int rank = n.outputs[0]->type.rank();
  const auto both = [&](const Operand& x, const Operand& y) { return w.binary(minus ? fb::Op::SUB : fb::Op::ADD, x, y); };
  if (a.mode == static_cast<uint32_t>(ops::QuantMode::kReal)) {
    // Float scales: with as many bits below the point of the output as fit, rounded once. Mote rounds three float results.
    const double p = static_cast<double>(a.a_scale) / static_cast<double>(a.y_scale),
                 q = static_cast<double>(a.b_scale) / static_cast<double>(a.y_scale);
    const double span = n.inputs[0]->type.dtype == DType::s16 ? 65536 : 256;
    const int bits = std::min(22, 29 - static_cast<int>(std::ceil(std::log2(std::max(p, q) * span))));
    if (bits < 2) w.fail("the scales of the operands are too large beside that of the result");
    const auto scaled = [&](const Value* v, int32_t zero, double factor) {
      const Operand x = widened(w, v, zero, rank);
      const Scale s = nearest_scale(w, {std::ldexp(factor, bits)});
      return w.ok() ? rescale(w, x, s) : x;
    };
    const Operand x = scaled(n.inputs[0], a.a_zero, p), y = scaled(n.inputs[1], a.b_zero, q);
    const Scale ps = nearest_scale(w, {std::ldexp(p, bits)}), qs = nearest_scale(w, {std::ldexp(q, bits)});
    if (!w.ok()) return {};
    Scale last = fixed_scale(w, {1 << 30}, {1 - bits});
    last.twice = false;
    const auto here = [&](int32_t u, int32_t v) {
      const int64_t one = rescaled(u - a.a_zero, ps.multiplier[0], ps.shift[0]),
                    two = rescaled(v - a.b_zero, qs.multiplier[0], qs.shift[0]);
      return rescaled(minus ? one - two : one + two, last.multiplier[0], last.shift[0]) + a.y_zero;
    };
    const DType t = n.inputs[0]->type.dtype;
    const ops::QuantSum<1> sum(a);
    const ops::QuantSum<-1> rest(a);
    if (!same_for_all(t, a.clamp_lo, a.clamp_hi, here, [&](int32_t u, int32_t v) { return minus ? rest.of(u, v, t) : sum.of(u, v, t); }))
      w.note_rounding();
    return to_output(w, n, both(x, y), last, a.y_zero, a.clamp_lo, a.clamp_hi);
  }
  const bool shifts = a.mode == static_cast<uint32_t>(ops::QuantMode::kShift);
  const auto scaled = [&](const Value* v, int32_t zero, int64_t multiplier, int64_t shift) {
    const Operand x = widened(w, v, zero, rank, shifts ? 0 : a.left_shift);
    if (shifts && shift == 0) return x;
    // A factor a little above the power of two brings ties away from zero.
    const Scale s = shifts ? fixed_scale(w, {(1 << 30) + 1}, {shift + 1}) : fixed_scale(w, {multiplier}, {shift});
    if (!w.ok()) return x;
    Scale once = s;
    once.twice = once.twice && !shifts;
    return rescale(w, x, once);
  };
  const Operand x = scaled(n.inputs[0], a.a_zero, a.a_multiplier, a.a_shift), y = scaled(n.inputs[1], a.b_zero, a.b_multiplier, a.b_shift);
  if (!w.ok()) return {};
  const Scale last = shifts ? fixed_scale(w, {1 << 30}, {1}) : fixed_scale(w, {a.y_multiplier}, {a.y_shift});
  return to_output(w, n, both(x, y), last, a.y_zero, a.clamp_lo, a.clamp_hi);
}

Operand q_product(Writer& w, const Node& n) {
  const auto a = n.attributes<ops::q_mul::Attrs>();
  const int rank = n.outputs[0]->type.rank();
  const Operand x = widened(w, n.inputs[0], a.a_zero, rank), y = widened(w, n.inputs[1], a.b_zero, rank);
  if (!w.ok()) return {};
  const double factor = static_cast<double>(a.a_scale) * static_cast<double>(a.b_scale) / static_cast<double>(a.y_scale);
  const Scale s = a.mode == 0 ? fixed_scale(w, {a.multiplier}, {a.shift}) : nearest_scale(w, {factor});
  if (!w.ok()) return {};
  const auto here = [&](int32_t u, int32_t v) {
    return rescaled(int64_t{u - a.a_zero} * (v - a.b_zero), s.multiplier[0], s.shift[0]) + a.y_zero;
  };
  const auto in_floats = [&](int32_t u, int32_t v) {
    const float p = static_cast<float>(u - a.a_zero) * a.a_scale, q = static_cast<float>(v - a.b_zero) * a.b_scale;
    return int64_t{ops::round_to_s32(p * q / a.y_scale)} + a.y_zero;
  };
  if (a.mode != 0 && !same_for_all(n.inputs[0]->type.dtype, a.clamp_lo, a.clamp_hi, here, in_floats)) w.note_rounding();
  return w.ok() ? to_output(w, n, w.binary(fb::Op::MUL, x, y), s, a.y_zero, a.clamp_lo, a.clamp_hi) : x;
}

Operand q_prelu(Writer& w, const Node& n) {
  const auto a = n.attributes<ops::q_prelu::Attrs>();
  const int rank = n.outputs[0]->type.rank();
  const Operand x = widened(w, n.inputs[0], a.input_zero, rank), alpha = widened(w, n.inputs[1], a.alpha_zero, rank);
  const Scale up = fixed_scale(w, {a.positive_multiplier}, {a.positive_shift}),
              down = fixed_scale(w, {a.negative_multiplier}, {a.negative_shift});
  if (!w.ok()) return {};
  const Operand positive = rescale(w, x, up), negative = rescale(w, w.binary(fb::Op::MUL, x, alpha), down);
  const Operand at = w.binary(fb::Op::GREATER_EQUAL, x, w.number(fb::DType::INT32, 0, rank));
  const Operand v = w.op(fb::Op::SELECT, {at, positive, negative}, fb::DType::INT32, n.outputs[0]->type.dims);
  return to_output(w, n, v, fixed_scale(w, {1 << 30}, {1}), a.output_zero, ops::kNoClampLo, ops::kNoClampHi);
}

// --- of one ---

Operand requantize(Writer& w, const Node& n) {
  const auto a = n.attributes<ops::requantize::Attrs>();
  const Value *in = n.inputs[0], *out = n.outputs[0];
  std::vector<double> real;
  Scale s;
  Operand x = w.signed_of(in);
  if (in->type.dtype == DType::u16 || out->type.dtype == DType::u16) w.fail("RESCALE of 16 bits is signed here");
  if (!w.ok()) return {};
  if (n.input(2) != nullptr) {
    if (!read_scale(w, n.input(1), n.input(2), false, &s)) return {};
  } else if (!ir::known_floats(*n.inputs[1], &real)) {
    w.fail("TOSA scales with constants");
  } else {
    s = fitted_scale(w, real,
                     [&](int64_t v, size_t i) { return int64_t{ops::round_to_s32(static_cast<float>(v) * static_cast<float>(real[i]))}; },
                     {-(1 << 16), 1 << 16});
  }
  if (s.shift.size() > 1 && a.axis != in->type.rank() - 1 && a.axis != -1) w.fail("TOSA scales along the last dimension");
  s.in_zero = signed_value(a.input_zero, in->type.dtype);
  // RESCALE has zero points of 8 bits: others are taken off before and added behind.
  if (w.ok() && x.type != fb::DType::INT8 && s.in_zero != 0) {
    x = w.binary(fb::Op::SUB, w.cast(x, fb::DType::INT32), w.number(fb::DType::INT32, s.in_zero, in->type.rank()));
    s.in_zero = 0;
  }
  if (out->type.dtype != DType::s32 || a.output_zero == 0) return to_output(w, n, x, s, a.output_zero, a.clamp_lo, a.clamp_hi);
  s.to = fb::DType::INT32;
  const Operand y = rescale(w, x, s);
  if (!w.ok()) return {};
  return bounded(w, w.binary(fb::Op::ADD, y, w.number(fb::DType::INT32, a.output_zero, in->type.rank())), DType::s32, a.clamp_lo,
                 a.clamp_hi);
}

Operand q_lut(Writer& w, const Node& n) {
  const ir::Bytes* data = ir::known_data(*n.inputs[1]);
  const Operand x = w.signed_of(n.inputs[0]);
  if (data == nullptr || data->size != 256) w.fail("TOSA has constant tables");
  if (!w.ok()) return {};
  const DType from = n.inputs[0]->type.dtype, to = n.outputs[0]->type.dtype;
  return by_table(w, x, [&](int32_t i) {
    const uint8_t entry = data->data[static_cast<uint8_t>(element_of(i, from))];
    return to == DType::u8 ? entry - 128 : static_cast<int8_t>(entry);
  });
}

// TABLE of 16 bits leaves 7 bits of fraction, which are rounded off.
Operand q_lut16(Writer& w, const Node& n) {
  std::vector<int64_t> entries;
  const Operand x = w.of(n.inputs[0]);
  if (n.attributes<ops::q_lut16::Attrs>().kind != static_cast<uint32_t>(ops::q_lut16::Kind::kTable))
    w.fail("TFLite's LOGISTIC and TANH of 16 bits do not interpolate as TABLE does");
  if (w.ok() && !ir::known_ints(*n.inputs[1], &entries)) w.fail("TOSA has constant tables");
  if (!w.ok()) return {};
  const Operand table = w.numbers(fb::DType::INT16, {513}, {entries.begin(), entries.end()});
  Scale s = fixed_scale(w, {1 << 30}, {-6});
  s.twice = false;
  s.to = fb::DType::INT16;
  return rescale(w, w.op(fb::Op::TABLE, {x, table}, fb::DType::INT32, x.dims), s);
}

Operand q_concat(Writer& w, const Node& n) {
  const auto a = n.attributes<ops::q_concat::Attrs>();
  const DType t = n.outputs[0]->type.dtype;
  std::vector<double> scales;
  std::vector<int64_t> zeros;
  if (!ir::known_floats(*n.inputs[0], &scales) || !ir::known_ints(*n.inputs[1], &zeros)) w.fail("TOSA scales with constants");
  std::vector<Operand> parts;
  for (size_t i = 2; w.ok() && i < n.inputs.size(); ++i) {
    const Operand x = w.signed_of(n.inputs[i]);
    const float scale = static_cast<float>(scales[i - 2]);
    const int32_t zero = static_cast<int32_t>(zeros[i - 2]);
    const bool same = scale == a.output_scale && zero == a.output_zero;
    if (!same && t == DType::s16) w.fail("rescaling INT16 by float scales is not exact in TOSA");
    if (!w.ok()) return {};
    const auto entry = [&](int32_t v) {
      return static_cast<int32_t>(signed_value(ops::q_concat::convert(a, scale, zero, element_of(v, t), ops::int_range(t)), t));
    };
    parts.push_back(same ? x : by_table(w, x, entry));
  }
  const int rank = n.outputs[0]->type.rank();
  return w.ok() ? joined(w, parts, static_cast<size_t>(a.axis < 0 ? a.axis + rank : a.axis)) : Operand{};
}

Operand reduce_axes(Writer& w, Operand x, const std::vector<int>& axes, ops::q_reduce::Kind kind) {
  for (const int axis : axes) {
    Dims dims = x.dims;
    dims[static_cast<size_t>(axis)] = 1;
    const auto propagate = fb::NanPropagationMode::PROPAGATE;
    if (kind == ops::q_reduce::Kind::kMax)
      x = w.op(fb::Op::REDUCE_MAX, fb::Attribute::ReduceMaxAttribute, fb::CreateReduceMaxAttribute(w.b, axis, propagate).Union(), {x},
               x.type, dims);
    else if (kind == ops::q_reduce::Kind::kMin)
      x = w.op(fb::Op::REDUCE_MIN, fb::Attribute::ReduceMinAttribute, fb::CreateReduceMinAttribute(w.b, axis, propagate).Union(), {x},
               x.type, dims);
    else
      x = w.op(fb::Op::REDUCE_SUM, fb::Attribute::ReduceSumAttribute, fb::CreateReduceSumAttribute(w.b, axis).Union(), {x}, x.type, dims);
  }
  return x;
}

Operand q_reduce(Writer& w, const Node& n) {
  namespace op = ops::q_reduce;
  const auto a = n.attributes<op::Attrs>();
  const Value* in = n.inputs[0];
  const auto kind = static_cast<op::Kind>(a.kind);
  std::vector<int64_t> given(a.axes, a.axes + std::clamp(a.axis_count, 0, 8));
  if (n.input(1) != nullptr && !ir::known_ints(*n.inputs[1], &given)) w.fail("axes must be known when compiling");
  std::vector<int> axes;
  int64_t count = 1;
  for (int i = 0; given.empty() && i < in->type.rank(); ++i) axes.push_back(i);
  for (const int64_t axis : given) axes.push_back(static_cast<int>(axis < 0 ? axis + in->type.rank() : axis));
  for (const int axis : axes) {
    if (axis < 0 || axis >= in->type.rank()) w.fail("axis " + std::to_string(axis) + " is outside of the tensor");
    else count *= in->type.dims[static_cast<size_t>(axis)];
  }
  if (count == 0) w.fail("no elements are reduced");
  if (!w.ok()) return {};
  const Dims& out = n.outputs[0]->type.dims;
  if (kind == op::Kind::kMax || kind == op::Kind::kMin) return w.reshape(reduce_axes(w, w.signed_of(in), axes, kind), out);
  const Operand sums = reduce_axes(w, widened(w, in, a.input_zero, in->type.rank()), axes, kind);
  Scale s;
  if (a.mode == 0) {
    const op::Scaling f = op::scaling(a, count);
    s = fixed_scale(w, {f.multiplier}, {f.shift});
  } else {
    op::Attrs plain = a;
    plain.output_zero = 0;
    const double divisor = kind == op::Kind::kMean ? static_cast<double>(count) : 1;
    s = fitted_scale(
        w, {static_cast<double>(a.real_multiplier) / divisor}, [&](int64_t v, size_t) { return op::scaled(plain, v, count); },
        in->type.dtype == DType::s16 ? ops::IntRange{-(1 << 16), 1 << 16} : ops::IntRange{-512, 512});
  }
  return w.ok() ? w.reshape(to_output(w, n, sums, s, a.output_zero, ops::kNoClampLo, ops::kNoClampHi), out) : sums;
}

// --- to floats and back ---

// Scale and zero point as constants that broadcast over x, one or one for each index of an axis.
bool read_grid(Writer& w, const Node& n, int axis, int32_t block, std::vector<double>* scale, std::vector<int64_t>* zero, Dims* dims) {
  const int rank = n.inputs[0]->type.rank();
  if (block != 0) w.fail("scales of blocks have no form in TOSA");
  if (!ir::known_floats(*n.inputs[1], scale) || (n.input(2) != nullptr && !ir::known_ints(*n.inputs[2], zero)))
    w.fail("scales and zero points must be known when compiling");
  if (n.input(2) == nullptr) zero->assign(scale->size(), 0);
  dims->assign(static_cast<size_t>(rank), 1);
  if (axis < 0) axis += rank;
  if (scale->size() > 1 && (axis < 0 || axis >= rank)) w.fail("axis " + std::to_string(axis) + " is outside of the tensor");
  else if (scale->size() > 1) (*dims)[static_cast<size_t>(axis)] = static_cast<int32_t>(scale->size());
  return w.ok();
}

Operand dequantize(Writer& w, const Node& n) {
  const auto a = n.attributes<ops::dequantize::Attrs>();
  const Value* in = n.inputs[0];
  std::vector<double> scale;
  std::vector<int64_t> zero;
  Dims dims;
  if (!read_grid(w, n, a.axis, a.block, &scale, &zero, &dims)) return {};
  const fb::DType to = type_of(n.outputs[0]->type.dtype);
  if (in->type.dtype == DType::u16 || in->type.dtype == DType::u4) w.fail("TOSA has no unsigned integers of this type");
  Operand x = w.signed_of(in);
  if (!w.ok()) return {};
  x = w.cast(x, fb::DType::FP32);
  std::vector<double> middle;
  for (const int64_t z : zero) middle.push_back(signed_value(static_cast<double>(z), in->type.dtype));
  if (std::any_of(middle.begin(), middle.end(), [](double z) { return z != 0; }))
    x = w.binary(fb::Op::SUB, x, w.numbers(fb::DType::FP32, dims, middle));
  return w.cast(w.binary(fb::Op::MUL, x, w.numbers(fb::DType::FP32, dims, scale)), to);
}

// x / scale as a product, rounded by the cast (ties to even) or away from zero.
Operand quantize(Writer& w, const Node& n) {
  const auto a = n.attributes<ops::quantize::Attrs>();
  const DType t = n.outputs[0]->type.dtype;
  std::vector<double> scale, inverse, middle;
  std::vector<int64_t> zero;
  Dims dims;
  if (!read_grid(w, n, a.axis, a.block, &scale, &zero, &dims)) return {};
  if (t == DType::u16) w.fail("TOSA has no unsigned integers of 16 bits");
  Operand x = w.of(n.inputs[0]);
  if (!w.ok()) return {};
  x = w.cast(x, fb::DType::FP32);
  bool exact = true;
  for (size_t i = 0; i < scale.size(); ++i) {
    inverse.push_back(1 / scale[i]);
    middle.push_back(signed_value(static_cast<double>(zero[i]), t));
    int exponent;
    exact = exact && std::frexp(scale[i], &exponent) == 0.5;
  }
  if (!exact) w.note_rounding();
  x = w.binary(fb::Op::MUL, x, w.numbers(fb::DType::FP32, dims, inverse));
  const int rank = static_cast<int>(x.dims.size());
  if (a.rounding == static_cast<uint32_t>(ops::Rounding::kHalfAway)) {
    const Operand half = w.number(fb::DType::FP32, 0.5, rank);
    const Operand up = w.binary(fb::Op::ADD, x, half), down = w.binary(fb::Op::SUB, x, half);
    const Operand positive = w.binary(fb::Op::GREATER_EQUAL, x, w.number(fb::DType::FP32, 0, rank));
    x = w.op(fb::Op::SELECT, {positive, w.op(fb::Op::FLOOR, {up}, up.type, up.dims), w.op(fb::Op::CEIL, {down}, down.type, down.dims)},
             x.type, x.dims);
  }
  if (t == DType::s32) return w.cast(x, fb::DType::INT32);
  const Operand whole =
      w.binary(fb::Op::ADD, w.cast(w.clamp(x, -(1 << 20), 1 << 20), fb::DType::INT32), w.numbers(fb::DType::INT32, dims, middle));
  Scale s = fixed_scale(w, {1 << 30}, {1});
  s.to = signed_type(t);
  return rescale(w, whole, s);
}

}  // namespace

bool lower_quantized(Writer& w, const Node& n) {
  Operand y;
  switch (static_cast<OpId>(n.op)) {
    case OpId::q_add: y = q_sum(w, n, false); break;
    case OpId::q_sub: y = q_sum(w, n, true); break;
    case OpId::q_mul: y = q_product(w, n); break;
    case OpId::q_prelu: y = q_prelu(w, n); break;
    case OpId::q_lut: y = q_lut(w, n); break;
    case OpId::q_lut16: y = q_lut16(w, n); break;
    case OpId::q_concat: y = q_concat(w, n); break;
    case OpId::q_reduce: y = q_reduce(w, n); break;
    case OpId::requantize: y = requantize(w, n); break;
    case OpId::dequantize: y = dequantize(w, n); break;
    case OpId::quantize: y = quantize(w, n); break;
    default: return false;
  }
  if (w.ok()) w.bind_signed(n.outputs[0], y);
  return true;
}

}  // namespace mote::emit::tosa
