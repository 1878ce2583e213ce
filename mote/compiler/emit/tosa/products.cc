// Convolutions, matrix products, pools, and requantization behind the integer ones.

#include <limits>

#include "mote/compiler/emit/tosa/match.h"
#include "mote/compiler/ir/infer.h"
#include "mote/ops/avg_pool/avg_pool.h"
#include "mote/ops/common/activation.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/conv_transpose/conv_transpose.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/max_pool/max_pool.h"
#include "mote/ops/q_conv/q_conv.h"
#include "mote/ops/q_conv_transpose/q_conv_transpose.h"
#include "mote/ops/q_matmul/q_matmul.h"
#include "mote/ops/requantize/requantize.h"

namespace mote::emit::tosa {
namespace {

constexpr double kMostFloat = 3.4028234663852886e38;

Operand activate(Writer& w, const Operand& x, uint32_t kind) {
  switch (static_cast<ops::Activation>(kind)) {
    case ops::Activation::kRelu: return w.clamp(x, 0, kMostFloat);
    case ops::Activation::kRelu6: return w.clamp(x, 0, 6);
    default: break;
  }
  if (kind != 0) w.fail("the activation has no form in TOSA");
  return x;
}

// What RESCALE does between two types.
struct Scale {
  std::vector<int32_t> multiplier, shift;  // x * multiplier / 2^(31 - shift), one or one for each channel
  double in_zero = 0, out_zero = 0;
  DType from = DType::s32, to = DType::s8;
  int32_t lo = ops::kNoClampLo, hi = ops::kNoClampHi;
};

bool read_scale(Writer& w, const Value* multiplier, const Value* shift, Scale* s) {
  std::vector<int64_t> m, k;
  if (multiplier == nullptr || shift == nullptr || multiplier->type.dtype != DType::s32 || !ir::known_ints(*multiplier, &m) ||
      !ir::known_ints(*shift, &k) || m.size() != k.size() || m.empty()) {
    w.fail("TOSA scales with constant integers");
    return false;
  }
  for (size_t i = 0; i < m.size(); ++i) {
    if (m[i] < 0 || k[i] > 29 || k[i] < -31) w.fail("a multiplier or shift is outside of what RESCALE takes");
    s->multiplier.push_back(static_cast<int32_t>(m[i]));
    s->shift.push_back(static_cast<int32_t>(31 - k[i]));
  }
  return w.ok();
}

// Rounding twice is what scale_by does: shifts up to 31 round the same way once.
Operand rescale(Writer& w, const Operand& x, const Scale& s) {
  const int32_t n = static_cast<int32_t>(s.shift.size());
  const bool twice = std::any_of(s.shift.begin(), s.shift.end(), [](int32_t k) { return k > 31; });
  const auto mode = twice ? fb::RoundingMode::DOUBLE_ROUND : fb::RoundingMode::SINGLE_ROUND;
  const fb::DType to = type_of(s.to);
  const auto kind = fb::CreateRescaleAttribute(w.b, true, mode, n > 1, is_unsigned(s.from), is_unsigned(s.to)).Union();
  const auto stored = [](double zero, fb::DType t) { return t == fb::DType::INT8 && zero > 127 ? zero - 256 : zero; };
  const Operand y = w.op(fb::Op::RESCALE, fb::Attribute::RescaleAttribute, kind,
                         {x, w.numbers(fb::DType::INT32, {n}, {s.multiplier.begin(), s.multiplier.end()}),
                          w.numbers(fb::DType::INT8, {n}, {s.shift.begin(), s.shift.end()}), w.zero(x.type, stored(s.in_zero, x.type)),
                          w.zero(to, stored(s.out_zero, to))},
                         to, x.dims);
  const double top = s.to == DType::s8 ? 127 : s.to == DType::u8 ? 255 : s.to == DType::s16 ? 32767 : 2147483647.0;
  const double bottom = s.to == DType::u8 ? 0 : -top - 1;
  if (s.lo <= bottom && s.hi >= top) return y;
  if (is_unsigned(s.to)) w.fail("TOSA clamps no unsigned integers");
  return w.ok() ? w.clamp(y, std::max<double>(s.lo, bottom), std::min<double>(s.hi, top)) : y;
}

struct Window {
  std::vector<int32_t> pad, stride, dilation;
  int32_t groups = 1;
};

template <class A>
Window window_of(const A& a, int spatial) {
  Window g;
  for (int i = 0; i < spatial; ++i) {
    g.pad.push_back(a.pads_begin[i]);
    g.pad.push_back(a.pads_end[i]);
    g.stride.push_back(a.strides[i]);
    g.dilation.push_back(a.dilations[i]);
  }
  return g;
}

// Positions behind the last window are cut off: TOSA wants none.
void trim(Writer& w, Window* g, Operand* x, const std::vector<int32_t>& kernel) {
  std::vector<int64_t> start(x->dims.size(), 0);
  Dims size = x->dims;
  for (size_t i = 0; i < kernel.size(); ++i) {
    const int32_t dilation = g->dilation.empty() ? 1 : g->dilation[i];
    const int32_t room = x->dims[i + 1] + g->pad[2 * i] + g->pad[2 * i + 1] - (kernel[i] - 1) * dilation - 1;
    int32_t rest = room < 0 ? 0 : room % g->stride[i];
    const int32_t from_pad = std::min(rest, g->pad[2 * i + 1]);
    g->pad[2 * i + 1] -= from_pad;
    size[i + 1] -= rest - from_pad;
  }
  if (size != x->dims) *x = w.op(fb::Op::SLICE, {*x, w.shape(start), w.shape({size.begin(), size.end()})}, x->type, size);
}

fb::DType sum_of(fb::DType t) { return t == fb::DType::INT8 ? fb::DType::INT32 : t == fb::DType::INT16 ? fb::DType::INT48 : t; }
fb::DType accumulator_of(fb::DType t) { return is_float(t) ? fb::DType::FP32 : sum_of(t); }

// In the type of the sums, of rank 1.
Operand bias_of(Writer& w, const Value* v, fb::DType sum) {
  Operand x;
  std::vector<int64_t> wide;
  if (sum == fb::DType::INT48 && v->is_constant() && ir::known_ints(*v, &wide))
    x = w.numbers(sum, v->type.dims, {wide.begin(), wide.end()});
  else x = w.of(v);
  if (w.ok() && x.type != sum) w.fail("the bias has another type than the sums");
  return w.ok() && x.dims.empty() ? w.reshape(x, {1}) : x;
}

// x (N, spatial, C), weights (O, kernel, C / groups), zero points: the sums with a bias.
Operand convolve(Writer& w, const Node& n, Window g, double x_zero, double w_zero, const Value* given_bias) {
  Operand x = w.of(n.inputs[0]), weights = w.of(n.inputs[1]);
  if (!w.ok()) return {};
  const int spatial = static_cast<int>(x.dims.size()) - 2;
  const int32_t channels = weights.dims[0], deep = x.dims.back();
  const std::vector<int32_t> kernel(weights.dims.begin() + 1, weights.dims.end() - 1);
  Dims out = n.outputs[0]->type.dims;
  fb::Op code = spatial == 3 ? fb::Op::CONV3D : fb::Op::CONV2D;
  if (spatial == 1 || spatial > 3 || (g.groups != 1 && (g.groups != deep || spatial != 2)))
    w.fail("TOSA has convolutions over 2 or 3 dimensions, dense or depthwise");
  if (!w.ok()) return {};
  trim(w, &g, &x, kernel);
  const fb::DType sum = sum_of(x.type);
  const Operand bias = given_bias != nullptr ? bias_of(w, given_bias, sum) : w.numbers(sum, {1}, {0});
  const auto acc = accumulator_of(x.type);
  flatbuffers::Offset<void> a;
  fb::Attribute kind = fb::Attribute::Conv2dAttribute;
  if (g.groups != 1) {
    const int32_t m = channels / deep;
    weights = w.reshape(weights, {deep, m, kernel[0], kernel[1]});
    weights = w.transpose(weights, {2, 3, 0, 1});
    code = fb::Op::DEPTHWISE_CONV2D;
    kind = fb::Attribute::DepthwiseConv2dAttribute;
    a = fb::CreateDepthwiseConv2dAttributeDirect(w.b, &g.pad, &g.stride, &g.dilation, false, acc).Union();
  } else if (spatial == 3) {
    kind = fb::Attribute::Conv3dAttribute;
    a = fb::CreateConv3dAttributeDirect(w.b, &g.pad, &g.stride, &g.dilation, false, acc).Union();
  } else {
    a = fb::CreateConv2dAttributeDirect(w.b, &g.pad, &g.stride, &g.dilation, false, acc).Union();
  }
  return w.ok() ? w.op(code, kind, a, {x, weights, bias, w.zero(x.type, x_zero), w.zero(weights.type, w_zero)}, sum, out) : x;
}

Operand convolve_back(Writer& w, const Node& n, const Window& g, const int32_t* extra, double x_zero, double w_zero,
                      const Value* given_bias) {
  const Operand x = w.of(n.inputs[0]), weights = w.of(n.inputs[1]);
  if (!w.ok()) return {};
  if (x.dims.size() != 4 || g.groups != 1 || g.dilation != std::vector<int32_t>{1, 1})
    w.fail("TOSA has dense transposed convolutions over 2 dimensions");
  std::vector<int32_t> out_pad;
  for (size_t i = 0; i < g.pad.size(); ++i) out_pad.push_back(-g.pad[i] + (i % 2 != 0 ? extra[i / 2] : 0));
  const fb::DType sum = sum_of(x.type);
  const Operand bias = given_bias != nullptr ? bias_of(w, given_bias, sum) : w.numbers(sum, {1}, {0});
  if (!w.ok()) return {};
  const auto a = fb::CreateTransposeConv2dAttributeDirect(w.b, &out_pad, &g.stride, false, accumulator_of(x.type)).Union();
  return w.op(fb::Op::TRANSPOSE_CONV2D, fb::Attribute::TransposeConv2dAttribute, a,
              {x, weights, bias, w.zero(x.type, x_zero), w.zero(weights.type, w_zero)}, sum, n.outputs[0]->type.dims);
}

// The sums of a q_ operator in its output's type.
template <class A>
Operand finish(Writer& w, const Node& n, const A& a, const Operand& sums) {
  const DType to = n.outputs[0]->type.dtype;
  if (to == DType::s32 && sums.type == fb::DType::INT32) return sums;
  Scale s;
  if (to == DType::s32 || to == DType::f32 || sums.type != fb::DType::INT32) w.fail("sums of this kind have no form in TOSA");
  if (!w.ok() || !read_scale(w, n.input(3), n.input(4), &s)) return {};
  s.to = to;
  s.out_zero = a.output_zero;
  s.lo = a.clamp_lo;
  s.hi = a.clamp_hi;
  return rescale(w, sums, s);
}

void check_plain(Writer& w, const Node& n, size_t first) {
  for (size_t i = first; i < n.inputs.size(); ++i)
    if (n.inputs[i] != nullptr) w.fail("operand " + std::to_string(i) + " has no form in TOSA");
  if (n.inputs[0]->type.dtype == DType::u8) w.fail("TOSA has no products of unsigned integers");
}

template <class A>
Operand float_window(Writer& w, const Node& n) {
  const A a = n.attributes<A>();
  Window g = window_of(a, n.inputs[0]->type.rank() - 2);
  g.groups = a.groups;
  check_plain(w, n, 3);
  Operand y;
  if constexpr (std::is_same_v<A, ops::conv_transpose::Attrs>) y = convolve_back(w, n, g, a.output_padding, 0, 0, n.input(2));
  else y = convolve(w, n, g, 0, 0, n.input(2));
  return w.ok() ? activate(w, y, a.activation) : y;
}

template <class A>
Operand quant_sums(Writer& w, const Node& n, const Value* bias) {
  const A a = n.attributes<A>();
  Window g = window_of(a, n.inputs[0]->type.rank() - 2);
  g.groups = a.groups;
  check_plain(w, n, 5);
  Operand y;
  if constexpr (std::is_same_v<A, ops::q_conv_transpose::Attrs>)
    y = convolve_back(w, n, g, a.output_padding, a.input_zero, a.weight_zero, bias);
  else y = convolve(w, n, g, a.input_zero, a.weight_zero, bias);
  return y;
}

template <class A>
Operand quant_window(Writer& w, const Node& n) {
  const Operand y = quant_sums<A>(w, n, n.input(2));
  return w.ok() ? finish(w, n, n.attributes<A>(), y) : y;
}

// (..., M, K) by (..., K, N) as (N, H, C) by (N, C, W).
Operand multiply(Writer& w, const Node& n, Operand x, Operand y, bool turn_x, bool turn_y, double x_zero, double y_zero) {
  if (!w.ok()) return {};
  const Dims& out = n.outputs[0]->type.dims;
  const size_t rank = out.size();
  int32_t batch = 1;
  for (size_t i = 0; i + 2 < rank; ++i) batch *= out[i];
  const auto three = [&](Operand v, bool turn) {
    int32_t own = 1;
    for (size_t i = 0; i + 2 < v.dims.size(); ++i) own *= v.dims[i];
    v = w.reshape(v, {own, v.dims[v.dims.size() - 2], v.dims.back()});
    if (turn) v = w.transpose(v, {0, 2, 1});
    if (own == batch) return v;
    if (own != 1) w.fail("batches that are broadcast in part have no form in TOSA");
    return w.op(fb::Op::TILE, {v, w.shape({batch, 1, 1})}, v.type, {batch, v.dims[1], v.dims[2]});
  };
  x = three(x, turn_x);
  y = three(y, turn_y);
  if (!w.ok()) return {};
  const fb::DType sum = x.type == fb::DType::BF16 ? fb::DType::FP32 : sum_of(x.type);
  Operand z = w.op(fb::Op::MATMUL, {x, y, w.zero(x.type, x_zero), w.zero(y.type, y_zero)}, sum, {batch, x.dims[1], y.dims[2]});
  return w.reshape(x.type == fb::DType::BF16 ? w.cast(z, fb::DType::BF16) : z, out);
}

Operand matmul(Writer& w, const Node& n) {
  const auto a = n.attributes<ops::matmul::Attrs>();
  check_plain(w, n, 3);
  const Operand x = w.of(n.inputs[0]), y = w.of(n.inputs[1]);
  if (a.alpha != 1.0f || !is_float(x.type) || x.type != y.type) w.fail("TOSA has matrix products of floats of one type, unscaled");
  Operand z = multiply(w, n, x, y, a.transpose_a != 0, a.transpose_b != 0, 0, 0);
  if (w.ok() && n.input(2) != nullptr) z = w.binary(fb::Op::ADD, z, w.of(n.inputs[2], static_cast<int>(z.dims.size())));
  return w.ok() ? activate(w, z, a.activation) : z;
}

Operand q_matmul(Writer& w, const Node& n) {
  const auto a = n.attributes<ops::q_matmul::Attrs>();
  check_plain(w, n, 5);
  const Operand x = w.of(n.inputs[0]), y = w.of(n.inputs[1]);
  if (x.type != fb::DType::INT8 || y.type != fb::DType::INT8) w.fail("TOSA has matrix products of INT8");
  Operand z = multiply(w, n, x, y, false, true, a.input_zero, a.weight_zero);
  if (w.ok() && n.input(2) != nullptr) z = w.binary(fb::Op::ADD, z, w.of(n.inputs[2], static_cast<int>(z.dims.size())));
  return w.ok() ? finish(w, n, a, z) : z;
}

Operand requantize(Writer& w, const Node& n) {
  const auto a = n.attributes<ops::requantize::Attrs>();
  Scale s;
  const Operand x = w.of(n.inputs[0]);
  if (!w.ok() || !read_scale(w, n.input(1), n.input(2), &s)) return {};
  if (s.shift.size() > 1 && a.axis != n.inputs[0]->type.rank() - 1) w.fail("TOSA scales along the last dimension");
  s.from = n.inputs[0]->type.dtype;
  s.to = n.outputs[0]->type.dtype;
  s.in_zero = a.input_zero;
  s.out_zero = a.output_zero;
  s.lo = a.clamp_lo;
  s.hi = a.clamp_hi;
  return w.ok() ? rescale(w, x, s) : x;
}

Operand max_pool(Writer& w, const Node& n) {
  const auto a = n.attributes<ops::max_pool::Attrs>();
  Operand x = w.of(n.inputs[0]);
  Window g = window_of(a, 2);
  const std::vector<int32_t> kernel(a.kernel, a.kernel + 2);
  if (n.outputs.size() > 1 || x.dims.size() != 4 || a.ceil_mode != 0 || g.dilation != std::vector<int32_t>{1, 1} ||
      x.type == fb::DType::INT32 || is_unsigned(n.inputs[0]->type.dtype))
    w.fail("TOSA has pools over 2 dimensions, without dilation");
  if (!w.ok()) return {};
  trim(w, &g, &x, kernel);
  const auto kind = fb::CreateMaxPool2dAttributeDirect(w.b, &kernel, &g.stride, &g.pad, fb::NanPropagationMode::PROPAGATE).Union();
  return w.op(fb::Op::MAX_POOL2D, fb::Attribute::MaxPool2dAttribute, kind, {x}, x.type, n.outputs[0]->type.dims);
}

Operand avg_pool(Writer& w, const Node& n) {
  const auto a = n.attributes<ops::avg_pool::Attrs>();
  Operand x = w.of(n.inputs[0]);
  Window g = window_of(a, 2);
  const std::vector<int32_t> kernel(a.kernel, a.kernel + 2);
  const bool padded = std::any_of(g.pad.begin(), g.pad.end(), [](int32_t p) { return p != 0; });
  if (x.dims.size() != 4 || a.ceil_mode != 0 || g.dilation != std::vector<int32_t>{1, 1} || a.divisor_override != 0 ||
      (padded && a.count_include_pad != 0))
    w.fail("TOSA has pools over 2 dimensions that count what lies inside");
  if (!w.ok()) return {};
  trim(w, &g, &x, kernel);
  const auto kind = fb::CreateAvgPool2dAttributeDirect(w.b, &kernel, &g.stride, &g.pad, fb::DType::FP32).Union();
  return w.op(fb::Op::AVG_POOL2D, fb::Attribute::AvgPool2dAttribute, kind, {x, w.zero(x.type), w.zero(x.type)}, x.type,
              n.outputs[0]->type.dims);
}

}  // namespace

Operand wide_sums(Writer& w, const Node& product, const Value* bias) {
  return product.is(OpId::q_conv) ? quant_sums<ops::q_conv::Attrs>(w, product, bias)
                                  : quant_sums<ops::q_conv_transpose::Attrs>(w, product, bias);
}

Operand wide_product(Writer& w, const Node& product, const Value* x, const Value* y) {
  return multiply(w, product, w.of(x), w.of(y), false, false, 0, 0);
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
    case OpId::requantize: y = requantize(w, n); break;
    case OpId::max_pool: y = max_pool(w, n); break;
    case OpId::avg_pool: y = avg_pool(w, n); break;
    default: return false;
  }
  if (w.ok()) w.bind(n.outputs[0], y);
  return true;
}

}  // namespace mote::emit::tosa
