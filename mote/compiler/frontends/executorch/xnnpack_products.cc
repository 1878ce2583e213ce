// Matrix products and convolutions.

#include <cmath>
#include <unordered_map>

#include "mote/compiler/frontends/executorch/xnnpack_op.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/conv_transpose/conv_transpose.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/q_conv/q_conv.h"
#include "mote/ops/q_conv_transpose/q_conv_transpose.h"
#include "mote/ops/q_matmul/q_matmul.h"

namespace mote::frontends::executorch {
namespace {

constexpr uint32_t kTransposeWeights = 1, kTransposeA = 2, kSamePadding = 4, kReshape2d = 4;

struct XnnProduct {
  uint32_t input, filter, bias, output;
};

std::vector<float> filter_scales(const XnnTensor& w) {
  return w.quant.kind == XnnQuant::Kind::kChannel ? *w.quant.scales : std::vector<float>{w.quant.scale};
}

// Whether the product is of integers with one scale for the input and one, or one per output, for the weights.
bool integer_product(XnnOp& o, const XnnProduct& p, size_t channel_axis) {
  const XnnTensor &x = o.tensor(p.input), &w = o.tensor(p.filter), &y = o.tensor(p.output);
  const bool weights = w.per_tensor() || (w.quant.kind == XnnQuant::Kind::kChannel && w.dtype != DType::s32 &&
                                          static_cast<size_t>(w.quant.axis) == channel_axis);
  const bool bias = p.bias == kNoValue || o.tensor(p.bias).dtype == DType::s32;
  return weights && bias && x.per_tensor() && y.per_tensor();
}
bool dynamic_product(XnnOp& o, const XnnProduct& p, int nonbatch_dims, size_t channel_axis) {
  const XnnTensor &x = o.tensor(p.input), &w = o.tensor(p.filter), &y = o.tensor(p.output);
  const bool x_ok = o.held(p.input).scale != nullptr && (x.dynamic() ? x.quant.nonbatch_dims : 1) == nonbatch_dims;
  const bool bias = p.bias == kNoValue || o.tensor(p.bias).is_float();
  return x_ok && bias && y.is_float() && w.quant.kind == XnnQuant::Kind::kChannel && static_cast<size_t>(w.quant.axis) == channel_axis;
}

// Float scales as XNNPACK multiplies them; sums are scaled in float and rounded to nearest, ties to even.
template <class A>
Value* integer_epilogue(XnnOp& o, const XnnProduct& p, A* a) {
  const XnnTensor &x = o.tensor(p.input), &w = o.tensor(p.filter), &y = o.tensor(p.output);
  a->to = static_cast<uint32_t>(y.dtype);
  a->input_zero = x.quant.zero;
  a->weight_zero = w.quant.kind == XnnQuant::Kind::kTensor ? w.quant.zero : 0;
  a->output_zero = y.quant.zero;
  const XnnIntRange r = o.quantized_range(y);
  a->clamp_lo = r.lo;
  a->clamp_hi = r.hi;
  std::vector<float> m = filter_scales(w);
  for (float& s : m) s = x.quant.scale * s / y.quant.scale;
  return o.floats(m, {static_cast<int32_t>(m.size())});
}

Value* vector_bias(XnnOp& o, uint32_t id, bool integers, DType type) {
  if (id == kNoValue) return nullptr;
  Value* v = integers ? o.raw(id) : o.real(id, type);
  return v == nullptr || v->type.rank() == 1 ? v : o.reshape(v, {-1});
}

// The product of x (..., K) and weights (N, K), or (K, N) where they are turned.
Value* multiply(XnnOp& o, const XnnProduct& p, Value* x, bool turned) {
  const XnnTensor& w = o.tensor(p.filter);
  const size_t channel_axis = turned ? 1 : 0;
  const bool integers = integer_product(o, p, channel_axis);
  if (integers || dynamic_product(o, p, 1, channel_axis)) {
    Value* weights = turned ? o.transpose(o.raw(p.filter), {1, 0}) : o.raw(p.filter);
    Value* bias = vector_bias(o, p.bias, integers, DType::f32);
    ops::q_matmul::Attrs a;
    if (!o.b.ok()) return nullptr;
    if (integers) {
      Value* m = integer_epilogue(o, p, &a);
      return o.b.op(OpId::q_matmul, a, {x, weights, bias, m});
    }
    a.to = static_cast<uint32_t>(DType::f32);
    const XnnHeld& h = o.held(p.input);
    Value* scales = o.floats(*w.quant.scales, {static_cast<int32_t>(w.quant.scales->size())});
    return o.clip(o.b.op(OpId::q_matmul, a, {x, weights, bias, scales, nullptr, h.zero, nullptr, h.scale}), o.range());
  }
  ops::matmul::Attrs a;
  a.transpose_b = turned ? 0 : 1;
  o.set_activation(&a);
  const bool packed =
      !turned && (w.quant.kind == XnnQuant::Kind::kGroup || (w.quant.kind == XnnQuant::Kind::kChannel && w.quant.axis == 0));
  const DType type = packed ? DType::f32 : o.work_type(p.output, {p.input, p.filter});
  if (o.tensor(p.input).quant.kind != XnnQuant::Kind::kNone || o.held(p.input).scale != nullptr) {
    Value* whole = o.real(p.input, type);
    x = o.op(OpId::reshape, {whole, o.shape_of(x)});
  } else {
    x = x == nullptr ? nullptr : o.cast(x, type);
  }
  Value *bias = vector_bias(o, p.bias, false, type), *weights = packed ? o.raw(p.filter) : o.real(p.filter, type);
  if (!o.b.ok()) return nullptr;
  if (!packed) return o.b.op(OpId::matmul, a, {x, weights, bias});
  a.group_size = w.quant.group_size;
  const int32_t rows = w.dims[0];
  Value* scales = w.quant.kind == XnnQuant::Kind::kGroup ? o.floats(*w.quant.scales, {rows, w.dims[1] / w.quant.group_size})
                                                         : o.floats(*w.quant.scales, {rows});
  return o.b.op(OpId::matmul, a, {x, weights, bias, nullptr, scales});
}

// Results are within the bounds already.
void store(XnnOp& o, uint32_t id, Value* v) {
  const XnnTensor& y = o.tensor(id);
  if (v != nullptr && y.per_tensor() && v->type.dtype == DType::f32) v = o.quantize(v, y);
  o.set(id, v);
}

}  // namespace

void import_xnn_fully_connected(XnnOp& o) {
  const auto& n = o.fields<xfb::FullyConnected>();
  const XnnProduct p{n.input1_id(), n.filter_id(), n.bias_id(), n.output_id()};
  Value *x = o.raw(p.input), *w = o.raw(p.filter);
  if (!o.need_rank(w, 2, "the filter") || !o.b.ok()) return;
  const bool turned = (n.flags() & kTransposeWeights) != 0;
  const size_t k_axis = turned ? 0 : 1;
  if (!is_fixed(w, 0) || !is_fixed(w, 1)) return o.fail("the filter must have one shape");
  const int32_t depth = w->type.dims[k_axis], outputs = w->type.dims[1 - k_axis];
  const int rank = x->type.rank();
  const bool flat = (n.flags() & kReshape2d) != 0 || rank < 2 || !is_fixed(x, rank - 1) || x->type.dims.back() != depth;
  if (flat && (rank != 2 || x->type.dims.back() != depth)) x = o.reshape(x, {-1, depth});
  Value* y = multiply(o, p, x, turned);
  if (rank == 1 && (n.flags() & kReshape2d) == 0) y = o.reshape(y, {outputs});
  store(o, p.output, y);
}

void import_xnn_batch_matmul(XnnOp& o) {
  const auto& n = o.fields<xfb::Binary>();
  const DType type = o.work_type(n.output_id(), {n.input1_id(), n.input2_id()});
  Value *x = o.real(n.input1_id(), type), *y = o.real(n.input2_id(), type);
  o.set_real(n.output_id(), o.matmul(x, y, (n.flags() & kTransposeA) != 0, (n.flags() & kTransposeWeights) != 0));
}

// softmax(q * scale * k^T + mask) * v; q (N, heads, T, C), k (N, heads, U, C), v (N, heads, U, D), scale (C), mask (T, U).
void import_xnn_attention(XnnOp& o) {
  const auto& n = o.fields<xfb::Attention>();
  const DType type = o.work_type(n.output_id(), {n.query_id(), n.key_id(), n.value_id()});
  Value *q = o.real(n.query_id(), type), *k = o.real(n.key_id(), type), *v = o.real(n.value_id(), type);
  Value *scale = o.real(n.scale_id(), type), *mask = o.real(n.mask_id(), type);
  Value* s = o.add(o.matmul(o.mul(q, scale), k, false, true), mask);
  o.set_real(n.output_id(), o.matmul(o.softmax(s, rank_of(s) - 1), v));
}

namespace {

template <class A>
bool set_window(XnnOp& o, const xfb::Conv& n, Value* x, bool transposed, A* a) {
  const uint32_t strides[] = {n.subsampling_height(), n.subsampling_width()}, dilations[] = {n.dilation_height(), n.dilation_width()},
                 begin[] = {n.padding_top(), n.padding_left()}, end[] = {n.padding_bottom(), n.padding_right()},
                 kernel[] = {n.kernel_height(), n.kernel_width()};
  for (size_t i = 0; i < 2; ++i) {
    a->strides[i] = o.size(strides[i], "a stride");
    a->dilations[i] = o.size(dilations[i], "a dilation");
    a->pads_begin[i] = o.size(begin[i], "a padding");
    a->pads_end[i] = o.size(end[i], "a padding");
    const int32_t k = o.size(kernel[i], "the kernel");
    if (!o.b.ok()) return false;
    if (transposed || (n.flags() & kSamePadding) == 0) continue;
    if (!is_fixed(x, static_cast<int>(i) + 1) || a->strides[i] < 1) {
      o.fail("'same' padding of a size that only running tells");
      return false;
    }
    const int64_t in = x->type.dims[i + 1], out = (in + a->strides[i] - 1) / a->strides[i],
                  need = (out - 1) * a->strides[i] + int64_t{k - 1} * a->dilations[i] + 1 - in;
    if (need > INT32_MAX) o.fail("the window is too large");
    a->pads_begin[i] = need > 0 ? static_cast<int32_t>(need / 2) : 0;
    a->pads_end[i] = need > 0 ? static_cast<int32_t>(need - need / 2) : 0;
  }
  a->groups = o.size(n.groups(), "the number of groups");
  return o.b.ok();
}

void set_extra(const xfb::Conv&, XnnOp&, ops::conv::Attrs*) {}
void set_extra(const xfb::Conv&, XnnOp&, ops::q_conv::Attrs*) {}
template <class A>
void set_extra(const xfb::Conv& n, XnnOp& o, A* a) {
  a->output_padding[0] = o.size(n.adjustment_height(), "an adjustment");
  a->output_padding[1] = o.size(n.adjustment_width(), "an adjustment");
}

// The filter as (O, height, width, I / groups). A depthwise one is (1, height, width, O) in the file.
Value* oriented(XnnOp& o, Value* w, bool depthwise) { return depthwise ? o.transpose(w, {3, 1, 2, 0}) : w; }

bool check_filter(XnnOp& o, const xfb::Conv& n, const Value* w, bool depthwise) {
  const ir::Dims& d = w->type.dims;
  const uint64_t outputs = uint64_t{n.groups()} * n.group_output_channels();
  const bool sizes = d[1] == static_cast<int64_t>(n.kernel_height()) && d[2] == static_cast<int64_t>(n.kernel_width());
  const bool channels = depthwise ? d[0] == 1 && static_cast<uint64_t>(d[3]) == outputs && n.group_input_channels() == 1
                                  : static_cast<uint64_t>(d[0]) == outputs && d[3] == static_cast<int64_t>(n.group_input_channels());
  if (sizes && channels && n.groups() > 0) return true;
  o.fail("the filter " + describe_xnn(o.tensor(n.filter_id())) + " does not go with " + std::to_string(n.groups()) + " groups of " +
         std::to_string(n.group_input_channels()) + " to " + std::to_string(n.group_output_channels()) + " channels under a window of " +
         std::to_string(n.kernel_height()) + " x " + std::to_string(n.kernel_width()));
  return false;
}

bool is_pointwise(const xfb::Conv& n) {
  return n.kernel_height() == 1 && n.kernel_width() == 1 && n.subsampling_height() == 1 && n.subsampling_width() == 1 && n.groups() == 1 &&
         n.padding_top() == 0 && n.padding_left() == 0 && n.padding_bottom() == 0 && n.padding_right() == 0;
}

// Of dynamically quantized pixels with a scale each: see set_pixel_scales().
void convolve_pixels(XnnOp& o, const XnnProduct& p, Value* x, Value* w) {
  const std::vector<float>& scales = *o.tensor(p.filter).quant.scales;
  const XnnHeld& h = o.held(p.input);
  ops::q_matmul::Attrs a;
  a.to = static_cast<uint32_t>(DType::f32);
  Value *weights = o.reshape(w, {w->type.dims[0], w->type.dims[3]}), *bias = vector_bias(o, p.bias, false, DType::f32),
        *m = o.floats(scales, {static_cast<int32_t>(scales.size())});
  if (o.b.ok()) o.set_real(p.output, o.b.op(OpId::q_matmul, a, {x, weights, bias, m, nullptr, h.zero, nullptr, h.scale}));
}

template <class A, class Q>
void convolve(XnnOp& o, bool transposed, OpId plain, OpId quantized) {
  const auto& n = o.fields<xfb::Conv>();
  const XnnProduct p{n.input1_id(), n.filter_id(), n.bias_id(), n.output_id()};
  const bool depthwise = o.node.node_type() == xfb::NodeUnion::XNNDepthwiseConv2d;
  Value *x = o.raw(p.input), *w = o.raw(p.filter);
  if (!o.need_rank(x, 4, "the input") || !o.need_rank(w, 4, "the filter") || !check_filter(o, n, w, depthwise)) return;
  const size_t channel_axis = depthwise ? 3 : 0;
  if (!transposed && !depthwise && is_pointwise(n) && dynamic_product(o, p, 1, 0)) return convolve_pixels(o, p, x, w);
  const bool integers = integer_product(o, p, channel_axis);
  if (integers || dynamic_product(o, p, 3, channel_axis)) {
    Q a;
    if (!set_window(o, n, x, transposed, &a)) return;
    set_extra(n, o, &a);
    Value *weights = oriented(o, w, depthwise), *bias = vector_bias(o, p.bias, integers, DType::f32);
    Value* m = integers ? integer_epilogue(o, p, &a)
                        : o.floats(*o.tensor(p.filter).quant.scales, {static_cast<int32_t>(o.tensor(p.filter).quant.scales->size())});
    if (!o.b.ok()) return;
    if (integers) return o.set(p.output, o.b.op(quantized, a, {x, weights, bias, m}));
    a.to = static_cast<uint32_t>(DType::f32);
    const XnnHeld& h = o.held(p.input);
    return o.set_real(p.output, o.b.op(quantized, a, {x, weights, bias, m, nullptr, h.zero, nullptr, h.scale}));
  }
  A a;
  if (!set_window(o, n, x, transposed, &a)) return;
  set_extra(n, o, &a);
  o.set_activation(&a);
  const DType type = o.work_type(p.output, {p.input});
  Value *in = o.real(p.input, type), *weights = oriented(o, o.real(p.filter, type), depthwise), *bias = vector_bias(o, p.bias, false, type);
  if (o.b.ok()) store(o, p.output, o.b.op(plain, a, {in, weights, bias}));
}

}  // namespace

void set_pixel_scales(XnnModel* m) {
  std::unordered_map<uint32_t, bool> only_pointwise;  // by what convolutions read
  for (uint32_t i = 0; m->graph->nodes() != nullptr && i < m->graph->nodes()->size(); ++i) {
    const xfb::Node& node = *m->graph->nodes()->Get(i);
    const auto type = node.node_type();
    const bool plain = type == xfb::NodeUnion::XNNConv2d;
    if (node.node() == nullptr || (!plain && type != xfb::NodeUnion::XNNDepthwiseConv2d && type != xfb::NodeUnion::XNNConvTranspose2d))
      continue;
    const auto& n = *static_cast<const xfb::Conv*>(node.node());
    bool& only = only_pointwise.emplace(n.input1_id(), true).first->second;
    only = only && plain && is_pointwise(n);
  }
  for (XnnTensor& t : m->tensors)
    if (const auto it = only_pointwise.find(t.id); t.dynamic() && t.quant.nonbatch_dims == 3 && it != only_pointwise.end() && it->second)
      t.quant.nonbatch_dims = 1;
}

void import_xnn_conv(XnnOp& o) { convolve<ops::conv::Attrs, ops::q_conv::Attrs>(o, false, OpId::conv, OpId::q_conv); }

void import_xnn_conv_transpose(XnnOp& o) {
  convolve<ops::conv_transpose::Attrs, ops::q_conv_transpose::Attrs>(o, true, OpId::conv_transpose, OpId::q_conv_transpose);
}

}  // namespace mote::frontends::executorch
