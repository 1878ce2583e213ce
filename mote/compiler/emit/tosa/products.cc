// Convolutions and matrix products with what follows their sums.

#include "mote/compiler/emit/tosa/products.h"

#include "mote/compiler/emit/tosa/match.h"
#include "mote/compiler/emit/tosa/rescale.h"
#include "mote/compiler/ir/infer.h"
#include "mote/ops/common/quant_epilogue.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/conv_transpose/conv_transpose.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/q_conv/q_conv.h"
#include "mote/ops/q_conv_transpose/q_conv_transpose.h"
#include "mote/ops/q_matmul/q_matmul.h"

namespace mote::emit::tosa {
namespace {

void check_plain(Writer& w, const Node& n, size_t first) {
  for (size_t i = first; i < n.inputs.size(); ++i)
    if (n.inputs[i] != nullptr) w.fail("operand " + std::to_string(i) + " has no form in TOSA");
}

template <class A>
Window window_for(const Node& n, const A& a) {
  const Dims& k = n.inputs[1]->type.dims;
  Window g = window_of(a, std::vector<int32_t>(k.begin() + 1, k.end() - 1));
  g.groups = a.groups;
  return g;
}

template <class A>
Operand sums_under(Writer& w, const Node& n, const A& a, const Terms& t) {
  const Window g = window_for(n, a);
  if constexpr (std::is_same_v<A, ops::conv_transpose::Attrs> || std::is_same_v<A, ops::q_conv_transpose::Attrs>)
    return convolve_back(w, t, g, a.output_padding, n.outputs[0]->type.dims);
  else return convolve(w, t, g, n.outputs[0]->type.dims);
}

template <class A>
Operand float_window(Writer& w, const Node& n) {
  const A a = n.attributes<A>();
  check_plain(w, n, 3);
  const Terms t{w.of(n.inputs[0]), w.of(n.inputs[1]), 0, 0, n.input(2)};
  const Operand y = sums_under(w, n, a, t);
  return w.ok() ? activate(w, y, a.activation, a.act_a, a.act_b) : y;
}

Operand matmul(Writer& w, const Node& n) {
  const auto a = n.attributes<ops::matmul::Attrs>();
  check_plain(w, n, 3);
  const Terms t{w.of(n.inputs[0]), w.of(n.inputs[1]), 0, 0, nullptr};
  if (!is_float(t.x.type) || t.x.type != t.weights.type) w.fail("TOSA has matrix products of floats of one type");
  Operand z = multiply(w, t, a.transpose_a != 0, a.transpose_b != 0, n.outputs[0]->type.dims);
  const int rank = n.outputs[0]->type.rank();
  if (w.ok() && a.alpha != 1.0f) z = w.binary(fb::Op::MUL, z, w.number(z.type, static_cast<double>(a.alpha), rank));
  if (w.ok() && n.input(2) != nullptr) z = w.binary(fb::Op::ADD, z, w.of(n.inputs[2], rank));
  return w.ok() ? activate(w, z, a.activation, a.act_a, a.act_b) : z;
}

// --- integers ---

// An operand with zero points: one that is known, of all elements.
double constant_zero(Writer& w, const Value* v, DType t, int32_t attribute, const char* what) {
  std::vector<int64_t> all;
  if (v == nullptr) return signed_value(attribute, t);
  if (!ir::known_ints(*v, &all) || all.empty() || std::any_of(all.begin(), all.end(), [&](int64_t z) { return z != all[0]; })) {
    w.fail(std::string("TOSA has one constant zero point of the ") + what +
           "; this one is computed while running, or differs between channels");
    return 0;
  }
  return signed_value(static_cast<double>(all[0]), t);
}

template <class A>
Terms quant_terms(Writer& w, const Node& n, const A& a, const Value* bias) {
  const Value* weights = n.inputs[1];
  Terms t;
  t.weights = w.signed_of(weights);
  t.x = w.signed_of(n.inputs[0]);
  t.x_zero = constant_zero(w, n.input(ops::kEpilogueXZero), n.inputs[0]->type.dtype, a.input_zero, "input");
  t.w_zero = constant_zero(w, n.input(ops::kEpilogueWZero), weights->type.dtype, a.weight_zero, "weights");
  t.bias = bias;
  if (w.ok() && (t.x.type == fb::DType::INT16 && t.x_zero != 0)) w.fail("TOSA has no zero points of INT16");
  if (n.input(8) != nullptr) w.fail("operand 8 has no form in TOSA");
  return t;
}

// float(sum) * (x_scale * multiplier) + bias.
Operand to_floats(Writer& w, const Node& n, const Operand& sums) {
  const int rank = static_cast<int>(sums.dims.size());
  if (sums.type != fb::DType::INT32) w.fail("sums of 48 bits do not become floats in TOSA");
  const Value* x_scale = n.input(ops::kEpilogueXScale);
  Operand factor = w.of(n.inputs[ops::kEpilogueMultiplier], rank);
  if (!w.ok()) return {};
  if (x_scale != nullptr) {
    Operand rows = w.of(x_scale);
    if (!w.ok()) return {};
    Dims dims(sums.dims.size(), 1);
    const int64_t count = x_scale->type.count();
    if (count != 1 && n.is(OpId::q_matmul)) std::copy(sums.dims.begin(), sums.dims.end() - 1, dims.begin());
    else if (count != 1) dims[0] = sums.dims[0];
    int64_t expected = 1;
    for (const int32_t d : dims) expected *= d;
    if (expected != count) w.fail("a scale for each row of a broadcast operand has no form in TOSA");
    if (!w.ok()) return {};
    factor = w.binary(fb::Op::MUL, w.reshape(rows, dims), factor);
  }
  Operand y = w.binary(fb::Op::MUL, w.cast(sums, fb::DType::FP32), factor);
  if (n.input(ops::kEpilogueBias) != nullptr) y = w.binary(fb::Op::ADD, y, w.of(n.inputs[ops::kEpilogueBias], rank));
  return y;
}

// The factors of a multiplier of floats: f32 rounds ties of a float product to even, f64 those of a double product away from zero.
Scale real_scale(Writer& w, const Value& multiplier, ops::IntRange range) {
  std::vector<double> real;
  if (!ir::known_floats(multiplier, &real)) w.fail("TOSA scales with constants");
  if (!w.ok()) return {};
  const bool exact = multiplier.type.dtype == DType::f64;
  return fitted_scale(
      w, real,
      [&](int64_t sum, size_t i) -> int64_t {
        if (exact) return ops::round_to_s32(static_cast<double>(sum) * real[i], ops::Rounding::kHalfAway);
        return ops::round_to_s32(static_cast<float>(sum) * static_cast<float>(real[i]));
      },
      range);
}

// What becomes of the sums of a q_ operator.
template <class A>
Operand finish(Writer& w, const Node& n, const A& a, Operand sums) {
  const DType to = n.outputs[0]->type.dtype;
  if (!w.ok()) return {};
  if (to == DType::s32 && sums.type != fb::DType::INT32) w.fail("sums of 48 bits do not leave TOSA unscaled");
  if (to == DType::s32 || !w.ok()) return sums;
  if (to == DType::f32) return to_floats(w, n, sums);
  const Value* multiplier = n.inputs[ops::kEpilogueMultiplier];
  const bool wide = sums.type == fb::DType::INT48;
  Scale s;
  if (multiplier->type.dtype == DType::s32) {
    // Accumulators of 32 bits: those of 48 are brought there, and have 32-bit multipliers then.
    Scale narrowed{{1 << 14}, {14}};
    narrowed.wide = true;
    if (wide && a.wide == 0) sums = rescale(w, sums, narrowed);
    if (!w.ok() || !read_scale(w, multiplier, n.input(ops::kEpilogueShift), wide && a.wide != 0, &s)) return {};
  } else {
    if (wide) w.fail("RESCALE of INT48 has multipliers of 16 bits: float scales lose too much");
    if (!w.ok()) return {};
    const ops::IntRange all = ops::int_range(to);
    s = real_scale(w, *multiplier, {all.lo - a.output_zero, all.hi - a.output_zero});
  }
  s.to = to == DType::s16 ? fb::DType::INT16 : fb::DType::INT8;
  s.out_zero = signed_value(a.output_zero, to);
  return w.ok() ? bounded(w, rescale(w, sums, s), to, a.clamp_lo, a.clamp_hi) : sums;
}

template <class A>
Operand quant_window(Writer& w, const Node& n) {
  const auto a = n.attributes<A>();
  const bool real = n.outputs[0]->type.dtype == DType::f32;
  const Terms t = quant_terms(w, n, a, real ? nullptr : n.input(ops::kEpilogueBias));
  return w.ok() ? finish(w, n, a, sums_under(w, n, a, t)) : Operand{};
}

// With weights of rank 2 it is a convolution whose window is one element: that has a bias, and INT16 with INT8.
Operand q_matmul(Writer& w, const Node& n) {
  const auto a = n.attributes<ops::q_matmul::Attrs>();
  const Dims& out = n.outputs[0]->type.dims;
  const bool real = n.outputs[0]->type.dtype == DType::f32;
  const Value* bias = real ? nullptr : n.input(ops::kEpilogueBias);
  Terms t = quant_terms(w, n, a, bias);
  if (!w.ok()) return {};
  if (t.weights.dims.size() == 2) {
    const int32_t depth = t.x.dims.back(), channels = t.weights.dims[0];
    int32_t rows = 1;
    for (size_t i = 0; i + 1 < t.x.dims.size(); ++i) rows *= t.x.dims[i];
    t.x = w.reshape(t.x, {rows, 1, 1, depth});
    t.weights = w.reshape(t.weights, {channels, 1, 1, depth});
    const Window g{{1, 1}, {0, 0, 0, 0}, {1, 1}, {1, 1}, 1};
    const Operand sums = convolve(w, t, g, {rows, 1, 1, channels});
    return w.ok() ? finish(w, n, a, w.reshape(sums, out)) : sums;
  }
  if (t.x.type != fb::DType::INT8 || t.weights.type != fb::DType::INT8) w.fail("TOSA has matrix products of INT8");
  Operand z = multiply(w, t, false, true, out);
  if (w.ok() && bias != nullptr) z = w.binary(fb::Op::ADD, z, w.of(bias, static_cast<int>(out.size())));
  return w.ok() ? finish(w, n, a, z) : z;
}

template <class A>
Operand wide_window(Writer& w, const WideSums& s) {
  const A a = s.product->attributes<A>();
  Terms t{w.of(s.x), w.of(s.weights), s.x_zero, s.w_zero, s.bias};
  Window g = window_for(*s.product, a);
  if constexpr (std::is_same_v<A, ops::q_conv::Attrs> || std::is_same_v<A, ops::q_conv_transpose::Attrs>) {
    t.x_zero = a.input_zero;
    t.w_zero = a.weight_zero;
  }
  const Dims& out = (s.pad != nullptr ? s.pad : s.product)->outputs[0]->type.dims;
  for (size_t i = 0; i < g.kernel.size(); ++i) {
    g.pad[2 * i] -= s.before[i];
    g.pad[2 * i + 1] -= s.behind[i];
  }
  if constexpr (std::is_same_v<A, ops::conv_transpose::Attrs> || std::is_same_v<A, ops::q_conv_transpose::Attrs>)
    return convolve_back(w, t, g, a.output_padding, out);
  else return convolve(w, t, g, out);
}

}  // namespace

Operand wide_sums(Writer& w, const WideSums& s) {
  switch (static_cast<OpId>(s.product->op)) {
    case OpId::q_conv: return wide_window<ops::q_conv::Attrs>(w, s);
    case OpId::q_conv_transpose: return wide_window<ops::q_conv_transpose::Attrs>(w, s);
    case OpId::conv: return wide_window<ops::conv::Attrs>(w, s);
    default: return wide_window<ops::conv_transpose::Attrs>(w, s);
  }
}

Operand wide_product(Writer& w, const Node& product, const Value* x, const Value* y) {
  return multiply(w, {w.of(x), w.of(y), 0, 0, nullptr}, false, false, product.outputs[0]->type.dims);
}

bool lower_products(Writer& w, const Node& n) {
  Operand y;
  switch (static_cast<OpId>(n.op)) {
    case OpId::conv: y = float_window<ops::conv::Attrs>(w, n); break;
    case OpId::conv_transpose: y = float_window<ops::conv_transpose::Attrs>(w, n); break;
    case OpId::q_conv: y = quant_window<ops::q_conv::Attrs>(w, n); break;
    case OpId::q_conv_transpose: y = quant_window<ops::q_conv_transpose::Attrs>(w, n); break;
    case OpId::matmul: y = matmul(w, n); break;
    case OpId::q_matmul: y = q_matmul(w, n); break;
    default: return false;
  }
  if (w.ok()) w.bind_signed(n.outputs[0], y);
  return true;
}

}  // namespace mote::emit::tosa
