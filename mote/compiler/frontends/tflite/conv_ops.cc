// Convolutions, in float, quantized and hybrid form.

#include <algorithm>
#include <cstring>

#include "mote/compiler/frontends/tflite/import.h"
#include "mote/compiler/frontends/tflite/products.h"
#include "mote/compiler/frontends/tflite/window.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/conv_transpose/conv_transpose.h"
#include "mote/ops/q_conv/q_conv.h"
#include "mote/ops/q_conv_transpose/q_conv_transpose.h"

namespace mote::frontends::tflite {
namespace {

struct ConvParts {
  Window window;
  int32_t groups = 1;
  uint32_t input = 0, filter = 1, bias = 2;
  uint32_t channel_axis = 0;  // of the filter's output channels, for its scales
  ActivationFunctionType act = ActivationFunctionType::NONE;
  bool asymmetric = true;  // hybrid: zero points for the input
};

template <class A>
void set_window(const ConvParts& p, A* a) {
  std::copy(p.window.strides, p.window.strides + 3, a->strides);
  std::copy(p.window.dilations, p.window.dilations + 3, a->dilations);
  std::copy(p.window.begin, p.window.begin + 3, a->pads_begin);
  std::copy(p.window.end, p.window.end + 3, a->pads_end);
  a->groups = p.groups;
}

void set_output_padding(const ConvParts&, ops::conv::Attrs*) {}
void set_output_padding(const ConvParts&, ops::q_conv::Attrs*) {}
void set_output_padding(const ConvParts& p, ops::conv_transpose::Attrs* a) {
  std::copy(p.window.extra, p.window.extra + 3, a->output_padding);
}
void set_output_padding(const ConvParts& p, ops::q_conv_transpose::Attrs* a) {
  std::copy(p.window.extra, p.window.extra + 3, a->output_padding);
}

// x and weights are in Mote's order. Float, quantized or hybrid, as the types of the operands say.
template <class A, class Q>
Value* convolve(Op& op, const ConvParts& p, Value* x, Value* weights, OpId plain, OpId quantized) {
  if (!op.ok()) return nullptr;
  Value* bias = op.value(p.bias);
  if (weights->type.dtype == DType::f16 || weights->type.dtype == DType::f32) {
    A a;
    set_window(p, &a);
    set_output_padding(p, &a);
    set_activation(op, p.act, &a);
    return op.b.op(plain, a, {x, weights, bias});
  }
  Q a;
  set_window(p, &a);
  set_output_padding(p, &a);
  Stage stage{op.in(p.input), op.in(p.filter), op.out(0), p.act};
  if (op.in(p.input).dtype == DType::f32) {
    const Hybrid h = hybrid_input(op, x, 1, p.asymmetric);
    Value* scales = filter_scales(op, op.in(p.filter));
    a.to = static_cast<uint32_t>(DType::f32);
    a.weight_zero = op.in(p.filter).zero();
    return activate(op, op.b.op(quantized, a, {h.x, weights, bias, scales, nullptr, h.zero, nullptr, h.scale}), p.act);
  }
  const MultiplierOperands m = set_stage(op, stage, bias, &a);
  return op.b.op(quantized, a, {x, weights, bias, m.value, m.shift});
}

Value* forward(Op& op, const ConvParts& p, Value* weights) {
  return convolve<ops::conv::Attrs, ops::q_conv::Attrs>(op, p, op.value(p.input), weights, OpId::conv, OpId::q_conv);
}

bool need_rank(Op& op, const Value* v, int rank, const char* what) {
  if (v == nullptr) {
    op.fail(std::string(what) + " is missing");
    return false;
  }
  if (v->type.rank() == rank) return true;
  op.fail(std::string(what) + " must have " + std::to_string(rank) + " dimensions, found " + std::to_string(v->type.rank()));
  return false;
}

}  // namespace

void import_conv_2d(Op& op) {
  const auto& o = op.options<fb::Conv2DOptions>();
  Value *x = op.value(0), *w = op.value(1, true);
  if (!need_rank(op, x, 4, "the input") || !need_rank(op, w, 4, "the filter")) return;
  ConvParts p;
  p.act = o.fused_activation_function();
  p.asymmetric = op.in(1).quant.count() > 1;
  const int32_t channels = x->type.dims[3], depth = w->type.dims[3];
  if (depth < 1 || channels % depth != 0)
    return op.fail("the filter has " + std::to_string(depth) + " channels, the input " + std::to_string(channels));
  p.groups = channels / depth;
  p.window = {{o.stride_h(), o.stride_w(), 1}, {o.dilation_h_factor(), o.dilation_w_factor(), 1}};
  if (!pad_window(op, *x, {w->type.dims[1], w->type.dims[2]}, o.padding(), &p.window)) return;
  op.set(forward(op, p, w));
}

void import_depthwise_conv_2d(Op& op) {
  const auto& o = op.options<fb::DepthwiseConv2DOptions>();
  Value *x = op.value(0), *w = op.value(1);
  if (!need_rank(op, x, 4, "the input") || !need_rank(op, w, 4, "the filter")) return;
  ConvParts p;
  p.act = o.fused_activation_function();
  p.groups = x->type.dims[3];
  p.channel_axis = 3;
  p.window = {{o.stride_h(), o.stride_w(), 1}, {o.dilation_h_factor(), o.dilation_w_factor(), 1}};
  if (w->type.dims[0] != 1 || p.groups < 1 || w->type.dims[3] % p.groups != 0)
    return op.fail("expected a filter (1, height, width, channels * multiplier) for " + std::to_string(p.groups) + " channels, found " +
                   describe(op.in(1)));
  if (!pad_window(op, *x, {w->type.dims[1], w->type.dims[2]}, o.padding(), &p.window)) return;
  op.set(forward(op, p, permute(op, w, {3, 1, 2, 0})));
}

void import_conv_3d(Op& op) {
  const auto& o = op.options<fb::Conv3DOptions>();
  Value *x = op.value(0), *w = op.value(1);
  if (!need_rank(op, x, 5, "the input") || !need_rank(op, w, 5, "the filter")) return;
  ConvParts p;
  p.act = o.fused_activation_function();
  p.window = {{o.stride_d(), o.stride_h(), o.stride_w()}, {o.dilation_d_factor(), o.dilation_h_factor(), o.dilation_w_factor()}};
  if (!pad_window(op, *x, {w->type.dims[0], w->type.dims[1], w->type.dims[2]}, o.padding(), &p.window)) return;
  op.set(forward(op, p, permute(op, w, {4, 0, 1, 2, 3})));
}

namespace {

// inputs: output shape, weights, x, bias?. The weights are in Mote's order.
void transposed(Op& op, ConvParts p, Value* x, Value* weights, fb::Padding padding) {
  if (!op.ok()) return;
  const size_t spatial = x->type.dims.size() - 2;
  std::vector<int64_t> shape;
  if (!op.need_ints(0, "the output shape", &shape)) return;
  if (shape.size() != spatial + 2) return op.fail("the output shape has " + std::to_string(shape.size()) + " sizes");
  p.input = 2;
  p.filter = 1;
  p.bias = 3;
  Dims out(shape.begin(), shape.end()), kernel(weights->type.dims.begin() + 1, weights->type.dims.end() - 1);
  if (!pad_transposed_window(op, *x, out, kernel, padding, &p.window)) return;
  op.set(
      convolve<ops::conv_transpose::Attrs, ops::q_conv_transpose::Attrs>(op, p, x, weights, OpId::conv_transpose, OpId::q_conv_transpose));
}

}  // namespace

void import_transpose_conv(Op& op) {
  const auto& o = op.options<fb::TransposeConvOptions>();
  Value *x = op.value(2), *w = op.value(1);
  if (!need_rank(op, x, 4, "the input") || !need_rank(op, w, 4, "the filter")) return;
  ConvParts p;
  p.act = o.fused_activation_function();
  p.window = {{o.stride_h(), o.stride_w(), 1}, {1, 1, 1}};
  transposed(op, p, x, w, o.padding());
}

void import_conv_3d_transpose(Op& op) {
  const auto& o = op.options<fb::Conv3DOptions>();
  Value *x = op.value(2), *w = op.value(1);
  if (!need_rank(op, x, 5, "the input") || !need_rank(op, w, 5, "the filter")) return;
  ConvParts p;
  p.act = o.fused_activation_function();
  p.window = {{o.stride_d(), o.stride_h(), o.stride_w()}, {o.dilation_d_factor(), o.dilation_h_factor(), o.dilation_w_factor()}};
  transposed(op, p, x, permute(op, w, {3, 0, 1, 2, 4}), o.padding());
}

// MediaPipe's transposed convolution with a bias: inputs x, weights (O, kernel, I), bias; options are a struct of padding and strides.
void import_transpose_conv_bias(Op& op) {
  Value *x = op.value(0), *w = op.value(1);
  if (!need_rank(op, x, 4, "the input") || !need_rank(op, w, 4, "the filter")) return;
  int32_t options[3] = {};  // padding (1: same, 2: valid), stride width, stride height
  if (op.source.custom_options.size < sizeof options)
    return op.fail("expected 12 bytes of options, found " + std::to_string(op.source.custom_options.size));
  std::memcpy(options, op.source.custom_options.data, sizeof options);
  if (options[0] != 1 && options[0] != 2) return op.fail("expected padding 1 (same) or 2 (valid), found " + std::to_string(options[0]));
  ConvParts p;
  p.window = {{options[2], options[1], 1}, {1, 1, 1}};
  const fb::Padding padding = options[0] == 1 ? fb::Padding::SAME : fb::Padding::VALID;
  Dims out = x->type.dims;
  for (size_t i = 1; i < 3; ++i) {
    const int64_t stride = p.window.strides[i - 1],
                  size = int64_t{out[i]} * stride + (padding == fb::Padding::VALID ? std::max<int64_t>(w->type.dims[i] - stride, 0) : 0);
    if (stride < 1 || size > INT32_MAX) return op.fail("expected strides of at least 1, found " + std::to_string(stride));
    out[i] = static_cast<int32_t>(size);
  }
  out[3] = w->type.dims[0];
  Dims kernel{w->type.dims[1], w->type.dims[2]};
  if (!pad_transposed_window(op, *x, out, kernel, padding, &p.window)) return;
  op.set(convolve<ops::conv_transpose::Attrs, ops::q_conv_transpose::Attrs>(op, p, x, w, OpId::conv_transpose, OpId::q_conv_transpose));
}

}  // namespace mote::frontends::tflite
