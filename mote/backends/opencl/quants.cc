// Operators on 8-bit numbers: products, sums, pools, and from and to real numbers. Bit for bit what the CPU computes.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "mote/backends/opencl/device_types.h"
#include "mote/backends/opencl/families.h"
#include "mote/backends/opencl/products.h"
#include "mote/backends/opencl/quants.h"
#include "mote/core/layout.h"
#include "mote/ops/dequantize/dequantize.h"
#include "mote/ops/max_pool/max_pool.h"
#include "mote/ops/q_avg_pool/q_avg_pool.h"
#include "mote/ops/q_conv/q_conv.h"
#include "mote/ops/q_matmul/q_matmul.h"
#include "mote/ops/q_mul/q_mul.h"
#include "mote/ops/quantize/quantize.h"

namespace mote::backends::opencl {
namespace {

constexpr size_t kChannel = 5;  // quant.cl

Place place_of(const OpView& op, size_t i) { return op.has(i) ? op.inputs[i].place : Place{}; }

QuantSumArgs sum_of(const ops::QuantBinaryAttrs& a, int32_t sign, DType type) {
  QuantSumArgs s{};
  s.mode = static_cast<int32_t>(a.mode), s.sign = sign;
  s.a_flip = s.b_flip = flip_of(type);
  s.a_zero = zero_of(type, a.a_zero), s.b_zero = zero_of(type, a.b_zero), s.y_zero = a.y_zero;
  s.left_shift = a.left_shift;
  s.a_multiplier = a.a_multiplier, s.a_shift = a.a_shift, s.b_multiplier = a.b_multiplier, s.b_shift = a.b_shift;
  s.y_multiplier = a.y_multiplier, s.y_shift = a.y_shift;
  s.a_scale = a.a_scale, s.b_scale = a.b_scale, s.y_scale = a.y_scale;
  const ops::IntRange range = ops::clamp_range(a.clamp_lo, a.clamp_hi, type);
  s.lo = range.lo, s.hi = range.hi;
  return s;
}

// The numbers of a channel after its bias, as a double multiplier is used without doubles.
void put_double(double m, int32_t* out) {
  int exponent = 0;
  const auto mantissa = static_cast<uint64_t>(std::ldexp(std::frexp(m, &exponent), 53));
  out[0] = static_cast<int32_t>(static_cast<uint32_t>(mantissa));
  out[1] = static_cast<int32_t>(static_cast<uint32_t>(mantissa >> 32));
  out[2] = exponent - 53;
}

// Why sums cannot be turned into elements here, or null.
template <class A>
const char* check_epilogue(const OpView& op, const A& a) {
  const DType x = op.inputs[0].dtype, w = op.inputs[1].dtype, y = op.outputs[0].dtype;
  if (!is_byte(x) || !is_byte(y) || !is_byte(w) || a.wide != 0) return "only 8-bit numbers are computed there";
  if (op.inputs[1].data == nullptr) return "its weights are not constant";
  if (op.inputs[1].layout != Layout::kPlain && (!is_panel16k4(op.inputs[1].layout) || w != DType::s8))
    return "weights in a packed form it does not read";
  for (size_t i = 2; i < op.inputs.size(); ++i) {
    if (i == ops::q_conv::kResidual) continue;
    if (op.has(i) && op.inputs[i].data == nullptr) return "multipliers or zero points that are computed";
    if (op.has(i) && i >= ops::kEpilogueXZero && i <= ops::kEpilogueXScale) return "zero points and scales of rows or channels";
  }
  const Operand& m = op.inputs[ops::kEpilogueMultiplier];
  for (int32_t k = 0; m.dtype == DType::f64 && k < m.count(); ++k)
    if (const auto v = element<double>(m, k); !(v >= 0 && std::isfinite(v))) return "a multiplier that is no positive number";
  return nullptr;
}

template <class A>
EpilogueArgs epilogue_of(const OpView& op, const A& a) {
  EpilogueArgs s{};
  const DType x = op.inputs[0].dtype, y = op.outputs[0].dtype, m = op.inputs[ops::kEpilogueMultiplier].dtype;
  s.x_flip = flip_of(x), s.x_zero = zero_of(x, a.input_zero), s.w_zero = zero_of(op.inputs[1].dtype, a.weight_zero);
  s.y_zero = a.output_zero;
  const ops::IntRange range = ops::clamp_range(a.clamp_lo, a.clamp_hi, y);
  s.lo = range.lo, s.hi = range.hi;
  s.mode = m == DType::s32 ? 0 : m == DType::f32 ? 1 : 2;
  return s;
}

std::vector<int32_t> channels_of(const OpView& op, int32_t channels) {
  std::vector<int32_t> all(static_cast<size_t>(channels) * kChannel, 0);
  const Operand& m = op.inputs[ops::kEpilogueMultiplier];
  for (int32_t k = 0; k < channels; ++k) {
    int32_t* c = &all[static_cast<size_t>(k) * kChannel];
    if (op.has(ops::kEpilogueBias)) c[0] = element<int32_t>(op.inputs[ops::kEpilogueBias], k);
    if (m.dtype == DType::f64) put_double(element<double>(m, k), c + 1);
    else c[1] = element<int32_t>(m, k);  // of floats the bits
    if (op.has(ops::kEpilogueShift)) c[2] = element<int32_t>(op.inputs[ops::kEpilogueShift], k);
    if (op.has(ops::kEpilogueResidualFactor)) c[4] = element<int32_t>(op.inputs[ops::kEpilogueResidualFactor], k);
  }
  return all;
}

// What the input's zero point adds to the sums of whole bytes, taken from the biases. w: as byte_weights() reads it.
void take_zero_point(const Operand& w, int32_t n, int32_t k, int32_t zero, std::vector<int32_t>* channels) {
  const std::vector<int8_t> plain = plain_bytes(w, n, k);
  for (int32_t i = 0; i < n; ++i) {
    uint32_t sum = 0;
    for (int32_t j = 0; j < k; ++j)
      sum += static_cast<uint32_t>(plain[static_cast<size_t>(i) * static_cast<size_t>(k) + static_cast<size_t>(j)]);
    int32_t& bias = (*channels)[static_cast<size_t>(i) * kChannel];
    bias = static_cast<int32_t>(static_cast<uint32_t>(bias) - static_cast<uint32_t>(zero) * sum);
  }
}

void add_quant_product(const OpView& op, Recorder& r, ProductArgs p, const EpilogueArgs& s) {
  static constexpr const char* kNames[] = {"q_product_64x64", "q_product_32x32", "q_product_16x64"};
  const Tile t = tile_for(p.rows, p.cols, 1, r.compute_units());
  // Dot products of four bytes, where these lie side by side.
  const bool dots = r.byte_dots() && s.w_zero == 0 && (p.plain != 0 ? p.k : p.in_c) % 4 == 0;
  const double units = product_units(t, t.rows, t.cols, p.k);
  std::vector<int32_t> channels = channels_of(op, p.cols);
  if (dots) take_zero_point(op.inputs[1], p.cols, p.k, s.x_zero, &channels);
  const Place weights = r.byte_weights(op.inputs[1], p.cols, p.k, p.padded_cols, dots);
  Place x = op.inputs[0].place;
  if (dots) p.k /= 4, p.in_c = std::max(1, p.in_c / 4), x.offset /= 4;
  p.k_part = p.k;
  const auto lx = static_cast<size_t>(t.group_x), ly = static_cast<size_t>(t.group_y);
  r.launch(op,
           kNames[t.rows == 64   ? 0
                  : t.rows == 32 ? 1
                                 : 2],
           {static_cast<size_t>(parts_of(p.cols, t.cols)) * lx, static_cast<size_t>(parts_of(p.rows, t.rows)) * ly}, {lx, ly})
      .tensor(x)
      .tensor(weights)
      .tensor(r.add_constant(channels.data(), channels.size()))
      .tensor(place_of(op, ops::q_conv::kResidual))
      .tensor(op.outputs[0].place)
      .value(p)
      .value(s)
      .form(dots ? kByteDots : 0)
      .wide(s.mode == 2)
      .each(units / (t.group_x * t.group_y));
}

int32_t rounding_of(const ops::quantize::Attrs& a) { return static_cast<int32_t>(a.rounding); }
int32_t rounding_of(const ops::dequantize::Attrs&) { return 0; }

// quantize and dequantize.
template <class A>
const char* lower_scaled(const OpView& op, Recorder* r, bool to_bytes) {
  const A& a = op.attributes<A>();
  const Operand &x = op.inputs[0], &y = op.outputs[0];
  const DType type = to_bytes ? y.dtype : x.dtype;
  if ((type != DType::s8 && type != DType::u8) || (to_bytes ? x : y).dtype != DType::f32)
    return "only 8-bit and f32 numbers are computed there";
  if (op.inputs[1].data == nullptr || (op.has(2) && op.inputs[2].data == nullptr)) return "scales that are computed";
  if (a.block != 0) return "scales of blocks";
  if (r == nullptr) return nullptr;
  const auto size = static_cast<int32_t>(op.inputs[1].count()), count = static_cast<int32_t>(y.count());
  const int axis = a.axis < 0 ? a.axis + x.rank : a.axis;
  int32_t inner = 1;
  for (int i = axis + 1; i < x.rank; ++i) inner *= x.dims[i];
  std::vector<int32_t> zeros(static_cast<size_t>(size), 0);
  for (int32_t i = 0; i < size; ++i) {
    if (op.has(2)) zeros[static_cast<size_t>(i)] = type == DType::s8 ? element<int8_t>(op.inputs[2], i) : element<uint8_t>(op.inputs[2], i);
    if (!to_bytes) zeros[static_cast<size_t>(i)] = zero_of(type, zeros[static_cast<size_t>(i)]);
  }
  auto args = r->launch(op, to_bytes ? "quantize" : "dequantize", {static_cast<size_t>(count)}, {64});
  args.tensor(x.place).tensor(op.inputs[1].place).tensor(r->add_constant(zeros.data(), zeros.size())).tensor(y.place);
  args.value(count).value(inner).value(size);
  if (!to_bytes) {
    args.value(flip_of(type));
    return nullptr;
  }
  const ops::IntRange range = ops::int_range(type);
  args.value(range.lo).value(range.hi).value(rounding_of(a));
  return nullptr;
}

}  // namespace

const char* lower_q_conv(const OpView& op, Recorder* r) {
  const auto& a = op.attributes<ops::q_conv::Attrs>();
  if (op.inputs[0].rank != 3 && op.inputs[0].rank != 4) return "three spatial dimensions";
  if (const char* why = check_epilogue(op, a)) return why;
  if (r == nullptr) return nullptr;
  WindowArgs p{window_of(op, a, op.inputs[1].dims + 1), 0, 0};
  p.groups = a.groups;
  p.padded_cols = padded_columns(p.out_c);
  EpilogueArgs s = epilogue_of(op, a);
  if (op.has(ops::q_conv::kResidual)) {
    const bool to_accumulators = a.sum_mode == static_cast<uint32_t>(ops::QuantMode::kSums);
    s.residual = to_accumulators ? 2 : 1;
    s.residual_shift = -a.sum_b_shift;
    s.sum = sum_of(ops::q_conv::sum_attrs(a), 1, op.outputs[0].dtype);
    s.sum.a_zero = a.sum_a_zero;  // the convolution's own result is in an accumulator: its zero point is not subtracted from a byte
  }
  if (a.groups == 1) {
    add_quant_product(op, *r, product_of(p), s);
    return nullptr;
  }
  const int32_t taps = p.kernel_h * p.kernel_w, depth = p.in_c / p.groups;
  const std::vector<int32_t> channels = channels_of(op, p.out_c);
  r->launch_positions(op, "quant_window", p.out_c, p.batch * p.out_h * p.out_w)
      .tensor(op.inputs[0].place)
      .tensor(r->byte_weights(op.inputs[1], p.out_c, taps * depth, p.padded_cols))
      .tensor(r->add_constant(channels.data(), channels.size()))
      .tensor(place_of(op, ops::q_conv::kResidual))
      .tensor(op.outputs[0].place)
      .value(p)
      .value(s)
      .wide(s.mode == 2)
      .each(static_cast<double>(taps) * depth);
  return nullptr;
}

const char* lower_q_matmul(const OpView& op, Recorder* r) {
  const auto& a = op.attributes<ops::q_matmul::Attrs>();
  if (op.inputs[1].rank != 2) return "batches of weights";
  if (const char* why = check_epilogue(op, a)) return why;
  if (r == nullptr) return nullptr;
  const Operand& y = op.outputs[0];
  ProductArgs p{};
  p.cols = y.dim(-1), p.rows = static_cast<int32_t>(y.count() / p.cols), p.padded_cols = padded_columns(p.cols), p.k = op.inputs[0].dim(-1);
  p.plain = p.kernel_w = p.in_c = p.out_h = p.out_w = 1;
  add_quant_product(op, *r, p, epilogue_of(op, a));
  return nullptr;
}

const char* lower_q_binary(const OpView& op, Recorder* r) {
  const auto id = static_cast<OpId>(op.op);
  const Operand &a = op.inputs[0], &b = op.inputs[1], &y = op.outputs[0];
  if (y.dtype != DType::s8 && y.dtype != DType::u8) return "only 8-bit numbers are computed there";
  if (r == nullptr) return nullptr;
  QuantSumArgs s{};
  if (id == OpId::q_mul) {
    const auto& m = op.attributes<ops::q_mul::Attrs>();
    ops::QuantBinaryAttrs q;
    q.mode = m.mode, q.a_zero = m.a_zero, q.b_zero = m.b_zero, q.y_zero = m.y_zero, q.y_multiplier = m.multiplier, q.y_shift = m.shift;
    q.a_scale = m.a_scale, q.b_scale = m.b_scale, q.y_scale = m.y_scale, q.clamp_lo = m.clamp_lo, q.clamp_hi = m.clamp_hi;
    s = sum_of(q, 1, y.dtype);
  } else {
    s = sum_of(op.attributes<ops::QuantBinaryAttrs>(), id == OpId::q_sub ? -1 : 1, y.dtype);
  }
  r->launch(op, "quant_binary", {static_cast<size_t>(y.count())}, {64})
      .tensor(a.place)
      .tensor(b.place)
      .tensor(y.place)
      .value(broadcast_walk(a, b, y))
      .value(s)
      .value(int32_t{id == OpId::q_mul ? 1 : 0});
  return nullptr;
}

const char* lower_q_pool(const OpView& op, Recorder* r) {
  const Operand& x = op.inputs[0];
  if (x.dtype != DType::s8 && x.dtype != DType::u8) return "only 8-bit numbers are computed there";
  if (x.rank != 3 && x.rank != 4) return "three spatial dimensions";
  if (op.outputs.size() > 1 && op.outputs[1].present) return "indices as an output";
  if (r == nullptr) return nullptr;
  WindowArgs w{};
  ops::q_avg_pool::Attrs a;
  const bool largest = op.op == static_cast<uint16_t>(OpId::max_pool);
  if (largest) {
    const auto& m = op.attributes<ops::max_pool::Attrs>();
    w = {window_of(op, m, m.kernel), 0, 0};
  } else {
    a = op.attributes<ops::q_avg_pool::Attrs>();
    for (int i = 0; i < x.rank - 2; ++i) a.kernel[i] = a.kernel[i] == 0 ? x.dims[i + 1] : a.kernel[i];
    w = {window_of(op, a, a.kernel), 0, 0};
  }
  const ops::IntRange range = ops::clamp_range(a.clamp_lo, a.clamp_hi, x.dtype);
  const PaddedEnds ends = padded_ends(op, a, w);
  r->launch_positions(op, "quant_pool", w.out_c, w.batch * w.out_h * w.out_w)
      .tensor(x.place)
      .tensor(op.outputs[0].place)
      .value(w)
      .value(int32_t{largest       ? 0
                     : a.mode == 0 ? 1
                                   : 2})
      .value(flip_of(x.dtype))
      .value(zero_of(x.dtype, a.input_zero))
      .value(a.output_zero)
      .value(range.lo)
      .value(range.hi)
      .value(static_cast<int32_t>(a.count_include_pad))
      .value(ends.h)
      .value(ends.w)
      .value(a.multiplier)
      .each(static_cast<double>(w.kernel_h) * w.kernel_w);
  return nullptr;
}

const char* lower_quantize(const OpView& op, Recorder* r) {
  if (op.op == static_cast<uint16_t>(OpId::quantize)) return lower_scaled<ops::quantize::Attrs>(op, r, true);
  return lower_scaled<ops::dequantize::Attrs>(op, r, false);
}

}  // namespace mote::backends::opencl
