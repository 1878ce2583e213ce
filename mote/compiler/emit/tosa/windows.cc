// Windows and strides as slices, and the pools.

#include "mote/compiler/emit/tosa/windows.h"

#include <cmath>
#include <limits>

#include "mote/compiler/emit/tosa/rescale.h"
#include "mote/ops/avg_pool/avg_pool.h"
#include "mote/ops/max_pool/max_pool.h"
#include "mote/ops/q_avg_pool/q_avg_pool.h"

namespace mote::emit::tosa {

Operand part(Writer& w, const Operand& x, size_t axis, int32_t start, int32_t size) {
  if (start == 0 && size == x.dims[axis]) return x;
  std::vector<int64_t> from(x.dims.size(), 0);
  Dims dims = x.dims;
  from[axis] = start;
  dims[axis] = size;
  return w.op(fb::Op::SLICE, {x, w.shape(from), w.shape({dims.begin(), dims.end()})}, x.type, dims);
}

Operand joined(Writer& w, const std::vector<Operand>& parts, size_t axis) {
  Dims dims = parts[0].dims;
  for (size_t i = 1; i < parts.size(); ++i) dims[axis] += parts[i].dims[axis];
  const auto kind = fb::CreateConcatAttribute(w.b, static_cast<int32_t>(axis)).Union();
  return parts.size() == 1 ? parts[0] : w.op(fb::Op::CONCAT, fb::Attribute::ConcatAttribute, kind, parts, parts[0].type, dims);
}

Operand filled(Writer& w, const Operand& x, const std::vector<int64_t>& pads, double value) {
  Dims dims = x.dims;
  for (size_t i = 0; i < dims.size(); ++i) dims[i] += static_cast<int32_t>(pads[2 * i] + pads[2 * i + 1]);
  return dims == x.dims ? x : w.op(fb::Op::PAD, {x, w.shape(pads), w.zero(x.type, value)}, x.type, dims);
}

Operand strided(Writer& w, Operand x, size_t axis, int64_t start, int64_t step, int32_t size) {
  const Dims full = x.dims;
  int32_t all = full[axis], from = static_cast<int32_t>(start);
  if (step < 0) {
    x = w.op(fb::Op::REVERSE, fb::Attribute::ReverseAttribute, fb::CreateReverseAttribute(w.b, static_cast<int32_t>(axis)).Union(), {x},
             x.type, x.dims);
    from = all - 1 - from;
    step = -step;
  }
  const int32_t stride = static_cast<int32_t>(std::min<int64_t>(step, std::max(all, 1)));
  if (size <= 1 || stride == 1) return part(w, x, axis, from, size);
  if (int64_t{size} * stride > INT32_MAX / 2) w.fail("the tensor is too large for a slice with steps");
  if (!w.ok()) return x;
  // The elements that are taken are the first ones of groups of `stride`; behind the last one there may be too few.
  const int32_t there = std::min(all - from, size * stride);
  x = part(w, x, axis, from, there);
  std::vector<int64_t> pads(2 * full.size(), 0);
  pads[2 * axis + 1] = size * stride - there;
  x = filled(w, x, pads, 0);
  int32_t before = 1, after = 1;
  for (size_t i = 0; i < full.size(); ++i) (i < axis ? before : after) *= i == axis ? 1 : full[i];
  x = part(w, w.reshape(x, {before, size, stride, after}), 2, 0, 1);
  Dims dims = full;
  dims[axis] = size;
  return w.reshape(x, dims);
}

void fit_window(Writer& w, Window* g, Operand* x, const Dims& out) {
  for (size_t i = 0; w.ok() && i < g->kernel.size(); ++i) {
    const int64_t span = (int64_t{out[i + 1]} - 1) * g->stride[i] + (int64_t{g->kernel[i]} - 1) * g->dilation[i] + 1;
    const int64_t there = span - g->pad[2 * i];
    if (there <= 0 || there > INT32_MAX / 2) w.fail("the windows lie in the padding, or reach too far");
    if (!w.ok()) return;
    g->pad[2 * i + 1] = static_cast<int32_t>(std::max<int64_t>(0, there - x->dims[i + 1]));
    if (there < x->dims[i + 1]) *x = part(w, *x, i + 1, 0, static_cast<int32_t>(there));
  }
}

void add_dimension(Writer& w, Window* g, Operand* x) {
  g->kernel.insert(g->kernel.begin(), 1);
  g->stride.insert(g->stride.begin(), 1);
  g->dilation.insert(g->dilation.begin(), 1);
  g->pad.insert(g->pad.begin(), 2, 0);
  *x = w.reshape(*x, {x->dims[0], 1, x->dims[1], x->dims[2]});
}

namespace {

std::vector<int32_t> kernel_of(const int32_t* kernel, const Operand& x) {
  std::vector<int32_t> all;
  for (size_t i = 0; i + 2 < x.dims.size(); ++i) all.push_back(kernel[i] == 0 ? x.dims[i + 1] : kernel[i]);
  return all;
}

bool plain_dilation(const Window& g) {
  return std::all_of(g.dilation.begin(), g.dilation.end(), [](int32_t d) { return d == 1; });
}

// (N, H, W, C), the window of rank 2.
Operand pool(Writer& w, const Operand& x, const Window& g, const Dims& out, bool average, double zero) {
  if (average) {
    const auto kind =
        fb::CreateAvgPool2dAttributeDirect(w.b, &g.kernel, &g.stride, &g.pad, is_float(x.type) ? fb::DType::FP32 : fb::DType::INT32)
            .Union();
    return w.op(fb::Op::AVG_POOL2D, fb::Attribute::AvgPool2dAttribute, kind, {x, w.zero(x.type, zero), w.zero(x.type, zero)}, x.type, out);
  }
  const auto kind = fb::CreateMaxPool2dAttributeDirect(w.b, &g.kernel, &g.stride, &g.pad, fb::NanPropagationMode::PROPAGATE).Union();
  return w.op(fb::Op::MAX_POOL2D, fb::Attribute::MaxPool2dAttribute, kind, {x}, x.type, out);
}

// The largest of the elements under the window, one slice for each position in it: types and dilations that MAX_POOL2D does not have.
Operand largest_of_slices(Writer& w, Operand x, const Window& g, const Dims& out) {
  constexpr int64_t kMostSlices = 64;
  const double least = x.type == fb::DType::INT32  ? std::numeric_limits<int32_t>::min()
                       : x.type == fb::DType::INT8 ? -128
                       : is_float(x.type)          ? -std::numeric_limits<double>::infinity()
                                                   : -32768;
  for (size_t i = 0; i < g.kernel.size(); ++i) {
    if (g.kernel[i] > kMostSlices) w.fail("a pool of this type or dilation has at most 64 positions in each dimension");
    std::vector<int64_t> pads(2 * x.dims.size(), 0);
    pads[2 * (i + 1)] = g.pad[2 * i];
    pads[2 * (i + 1) + 1] = g.pad[2 * i + 1];
    if (!w.ok()) return {};
    const Operand line = filled(w, x, pads, least);
    for (int32_t k = 0; k < g.kernel[i]; ++k) {
      Operand next = strided(w, line, i + 1, int64_t{k} * g.dilation[i], g.stride[i], out[i + 1]);
      const bool narrow = next.type == fb::DType::INT8 || next.type == fb::DType::INT16;
      if (narrow) next = w.cast(next, fb::DType::INT32);
      x = k == 0 ? next : w.binary(fb::Op::MAXIMUM, x, next);
    }
  }
  return x;
}

Operand max_pool(Writer& w, const Node& n) {
  const auto a = n.attributes<ops::max_pool::Attrs>();
  const Dims out = n.outputs[0]->type.dims;
  Operand x = w.signed_of(n.inputs[0]);
  Window g = window_of(a, kernel_of(a.kernel, x));
  if (n.outputs.size() > 1 && n.outputs[1] != nullptr) w.fail("TOSA's pools do not tell places");
  if (x.type == fb::DType::INT48 || (is_unsigned(n.inputs[0]->type.dtype) && n.inputs[0]->type.dtype != DType::u8))
    w.fail("TOSA has no pools of this type");
  fit_window(w, &g, &x, out);
  if (!w.ok()) return {};
  if (x.type == fb::DType::INT32 || !plain_dilation(g)) return w.cast(largest_of_slices(w, x, g, out), x.type);
  if (g.spatial() == 1) {
    add_dimension(w, &g, &x);
    return w.reshape(pool(w, x, g, {out[0], 1, out[1], out[2]}, false, 0), out);
  }
  if (g.spatial() == 2) return pool(w, x, g, out, false, 0);
  // The two inner dimensions, then the outer one.
  const auto tail = [](const std::vector<int32_t>& v, long from) { return std::vector<int32_t>(v.begin() + from, v.end()); };
  const Window inner{tail(g.kernel, 1), tail(g.pad, 2), tail(g.stride, 1), tail(g.dilation, 1), 1};
  const Window outer{{g.kernel[0], 1}, {g.pad[0], g.pad[1], 0, 0}, {g.stride[0], 1}, {1, 1}, 1};
  const Dims d = x.dims;
  x = pool(w, w.reshape(x, {d[0] * d[1], d[2], d[3], d[4]}), inner, {d[0] * d[1], out[2], out[3], d[4]}, false, 0);
  x = pool(w, w.reshape(x, {d[0], d[1], out[2] * out[3], d[4]}), outer, {d[0], out[1], out[2] * out[3], d[4]}, false, 0);
  return w.reshape(x, out);
}

// Both kinds of averages over one or two dimensions; padding that counts is added to the input. False after an error.
template <class A>
bool read_average(Writer& w, const A& a, Window* g, Operand* x, const Dims& out, double zero) {
  *g = window_of(a, kernel_of(a.kernel, *x));
  if (!plain_dilation(*g) || g->spatial() > 2) w.fail("TOSA averages over 1 or 2 dimensions, without dilation");
  if (!w.ok()) return false;
  if (a.count_include_pad != 0) {
    std::vector<int64_t> pads(2 * x->dims.size(), 0);
    for (size_t i = 0; i < g->pad.size(); ++i) pads[i + 2] = g->pad[i];
    *x = filled(w, *x, pads, zero);
    std::fill(g->pad.begin(), g->pad.end(), 0);
  }
  const Dims before = x->dims;
  fit_window(w, g, x, out);
  for (size_t i = 1; a.count_include_pad != 0 && i < g->pad.size(); i += 2)
    if (g->pad[i] != 0) w.fail("the last window reaches past padding that counts");
  return w.ok();
}

Operand average(Writer& w, Operand x, Window g, const Dims& out, double zero) {
  if (g.spatial() == 2) return pool(w, x, g, out, true, zero);
  add_dimension(w, &g, &x);
  return w.reshape(pool(w, x, g, {out[0], 1, out[1], out[2]}, true, zero), out);
}

Operand avg_pool(Writer& w, const Node& n) {
  const auto a = n.attributes<ops::avg_pool::Attrs>();
  const Dims& out = n.outputs[0]->type.dims;
  Operand x = w.of(n.inputs[0]);
  Window g;
  if (!is_float(x.type) || a.divisor_override != 0) w.fail("TOSA averages floats by the number of elements");
  return w.ok() && read_average(w, a, &g, &x, out, 0) ? average(w, x, g, out, 0) : x;
}

// Sums of x less its zero point under windows without padding, INT32.
Operand window_sums(Writer& w, const Operand& x, const Window& g, const Dims& out, double zero) {
  constexpr int64_t kMostOnes = 1 << 24;
  const int32_t channels = x.dims[3];
  if (int64_t{g.kernel[0]} * g.kernel[1] > kMostOnes / std::max(channels, 1)) w.fail("the window is too large for a sum of products");
  if (!w.ok()) return {};
  const Operand ones = w.numbers(fb::DType::INT8, {g.kernel[0], g.kernel[1], channels, 1},
                                 std::vector<double>(static_cast<size_t>(g.kernel[0]) * static_cast<size_t>(g.kernel[1] * channels), 1));
  const auto kind = fb::CreateDepthwiseConv2dAttributeDirect(w.b, &g.pad, &g.stride, &g.dilation, false, fb::DType::INT32).Union();
  const Operand bias = w.zero(fb::DType::INT32);
  return w.op(fb::Op::DEPTHWISE_CONV2D, fb::Attribute::DepthwiseConv2dAttribute, kind,
              {x, ones, bias, w.zero(x.type, zero), w.zero(ones.type)}, fb::DType::INT32, out);
}

// Mode 0: AVG_POOL2D without zero points rounds as TFLite does, ties away from zero: its factor is a little above 1 / count. Sums of u8
// have one sign, so a zero point of -128 keeps them apart. Mode 1: sums, and a RESCALE of them.
Operand q_avg_pool(Writer& w, const Node& n) {
  const auto a = n.attributes<ops::q_avg_pool::Attrs>();
  const DType t = n.inputs[0]->type.dtype;
  const Dims& out = n.outputs[0]->type.dims;
  Operand x = w.signed_of(n.inputs[0]);
  Window g;
  if (!w.ok() || !read_average(w, a, &g, &x, out, signed_value(a.input_zero, t))) return x;
  if (a.mode == 0) return bounded(w, average(w, x, g, out, t == DType::u8 ? -128 : 0), t, a.clamp_lo, a.clamp_hi);
  Dims all = out;
  if (g.spatial() == 1) {
    add_dimension(w, &g, &x);
    all = {out[0], 1, out[1], out[2]};
  }
  const bool padded = std::any_of(g.pad.begin(), g.pad.end(), [](int32_t p) { return p != 0; });
  if (padded || x.type != fb::DType::INT8) w.fail("averages of this type, or over a part of a window, are not rescaled in TOSA");
  if (!w.ok()) return {};
  const float count = static_cast<float>(g.kernel[0] * g.kernel[1]);
  Scale s = fitted_scale(w, {static_cast<double>(a.multiplier) / static_cast<double>(count)},
                         [&](int64_t sum, size_t) { return int64_t{ops::round_to_s32(static_cast<float>(sum) / count * a.multiplier)}; },
                         {-512, 512});
  s.out_zero = signed_value(a.output_zero, t);
  s.to = x.type;
  return w.reshape(bounded(w, rescale(w, window_sums(w, x, g, all, signed_value(a.input_zero, t)), s), t, a.clamp_lo, a.clamp_hi), out);
}

}  // namespace

bool lower_pools(Writer& w, const Node& n) {
  Operand y;
  switch (static_cast<OpId>(n.op)) {
    case OpId::max_pool: y = max_pool(w, n); break;
    case OpId::avg_pool: y = avg_pool(w, n); break;
    case OpId::q_avg_pool: y = q_avg_pool(w, n); break;
    default: return false;
  }
  if (w.ok()) w.bind_signed(n.outputs[0], y);
  return true;
}

}  // namespace mote::emit::tosa
