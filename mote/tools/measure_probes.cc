#include "mote/tools/measure_probes.h"

#include "mote/ops/common/quant_binary.h"
#include "mote/ops/common/reduce.h"
#include "mote/ops/concat/concat.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/dequantize/dequantize.h"
#include "mote/ops/layer_norm/layer_norm.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/max_pool/max_pool.h"
#include "mote/ops/pad/pad.h"
#include "mote/ops/q_conv/q_conv.h"
#include "mote/ops/quantize/quantize.h"
#include "mote/ops/resize/resize.h"
#include "mote/ops/softmax/softmax.h"
#include "mote/ops/transpose/transpose.h"

namespace mote::tools {
namespace {

ir::Value* weights(ir::Graph& g, const ir::Dims& dims) {
  int64_t count = 1;
  for (int32_t d : dims) count *= d;
  std::vector<float> v(static_cast<size_t>(count));
  for (size_t i = 0; i < v.size(); ++i) v[i] = 0.02f * static_cast<float>(static_cast<int>(i * 7 % 13) - 6);
  return g.constant<float>(dims, v);
}

Probe conv(int32_t size, int32_t in, int32_t out, int32_t kernel, int32_t stride, int32_t groups) {
  ops::conv::Attrs a;
  for (int i = 0; i < 2; ++i) a.strides[i] = stride, a.pads_begin[i] = a.pads_end[i] = kernel / 2;
  a.groups = groups;
  a.activation = 2;
  return {"conv", {1, size, size, in}, [=](ir::Graph& g, ir::NodeBuilder& b, ir::Value* x) {
            return b.op(OpId::conv, a, {x, weights(g, {out, kernel, kernel, in / groups}), weights(g, {out})});
          }};
}

Probe product(int32_t rows, int32_t in, int32_t out) {
  ops::matmul::Attrs a;
  a.transpose_b = 1;
  return {"matmul", {rows, in}, [=](ir::Graph& g, ir::NodeBuilder& b, ir::Value* x) {
            return b.op(OpId::matmul, a, {x, weights(g, {out, in}), weights(g, {out})});
          }};
}

template <class A>
Probe unary(const char* name, OpId id, const A& a, const ir::Dims& dims) {
  return {name, dims, [=](ir::Graph&, ir::NodeBuilder& b, ir::Value* x) { return b.op(id, a, {x}); }};
}

// `count` additions one behind the other.
Probe chain(int count, const ir::Dims& dims) {
  return {"chain", dims, [=](ir::Graph& g, ir::NodeBuilder& b, ir::Value* x) {
            ir::Value* one = weights(g, {dims.back()});
            for (int i = 0; i < count; ++i) x = b.op(i % 2 == 0 ? OpId::add : OpId::mul, {x, one});
            return x;
          }};
}

// Bytes between quantize and dequantize: backends are measured on what comes and goes as f32.
ir::Value* to_bytes(ir::Graph& g, ir::NodeBuilder& b, ir::Value* x) {
  return b.op(OpId::quantize, ops::quantize::Attrs{}, {x, g.constant<float>({1}, {0.05f})});
}
ir::Value* from_bytes(ir::Graph& g, ir::NodeBuilder& b, ir::Value* x) {
  return b.op(OpId::dequantize, ops::dequantize::Attrs{}, {x, g.constant<float>({1}, {0.05f})});
}

// Sums are scaled in fixed point, or by a number with 64 bits, as tools for ONNX do.
Probe byte_conv(int32_t size, int32_t in, int32_t out, int32_t kernel, int32_t groups, bool wide_scale = false) {
  ops::q_conv::Attrs a;
  for (int i = 0; i < 2; ++i) a.pads_begin[i] = a.pads_end[i] = kernel / 2;
  a.groups = groups;
  a.input_zero = 3;
  return {"q_conv", {1, size, size, in}, [=](ir::Graph& g, ir::NodeBuilder& b, ir::Value* x) {
            const auto channels = static_cast<size_t>(out);
            std::vector<int8_t> w(channels * static_cast<size_t>(kernel * kernel * (in / groups)));
            for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<int8_t>(static_cast<int>(i * 7 % 13) - 6);
            ir::Value* bias = g.constant<int32_t>({out}, std::vector<int32_t>(channels, 100));
            ir::Value* multiplier = wide_scale ? g.constant<double>({out}, std::vector<double>(channels, 0.003))
                                               : g.constant<int32_t>({out}, std::vector<int32_t>(channels, 1 << 30));
            ir::Value* shift = wide_scale ? nullptr : g.constant<int32_t>({out}, std::vector<int32_t>(channels, -7));
            ir::Value* weights = g.constant<int8_t>({out, kernel, kernel, in / groups}, w);
            return from_bytes(g, b, b.op(OpId::q_conv, a, {to_bytes(g, b, x), weights, bias, multiplier, shift}));
          }};
}

Probe byte_chain(int count, const ir::Dims& dims) {
  ops::QuantBinaryAttrs a;
  a.left_shift = 20, a.a_multiplier = a.b_multiplier = a.y_multiplier = 1 << 30, a.y_shift = -18;
  return {"q_add", dims, [=](ir::Graph& g, ir::NodeBuilder& b, ir::Value* x) {
            x = to_bytes(g, b, x);
            for (int i = 0; i < count; ++i) x = b.op(OpId::q_add, a, {x, x});
            return from_bytes(g, b, x);
          }};
}

// `count` blocks of operators one behind the other, with a shortcut around each.
Probe blocks(int count, const std::vector<Probe>& parts) {
  return {"blocks", parts[0].input, [=](ir::Graph& g, ir::NodeBuilder& b, ir::Value* x) {
            for (int i = 0; i < count; ++i) {
              ir::Value* y = x;
              for (const Probe& p : parts) y = p.make(g, b, y);
              x = b.op(OpId::add, {x, y});
            }
            return x;
          }};
}

// Convolutions and chains of small steps, as vision models have them.
std::vector<Probe> vision_probes() {
  return {
      chain(1, {1, 16}),
      chain(8, {1, 16}),
      chain(32, {1, 16}),
      chain(1, {1, 56, 56, 64}),
      chain(1, {1, 112, 112, 96}),
      chain(1, {1, 28, 28, 64}),
      chain(8, {1, 56, 56, 32}),
      chain(1, {1, 14, 14, 256}),
      conv(224, 3, 32, 3, 2, 1),
      conv(56, 64, 64, 3, 1, 1),
      conv(28, 128, 128, 3, 1, 1),
      conv(14, 256, 256, 3, 1, 1),
      conv(7, 512, 512, 3, 1, 1),
      conv(112, 32, 16, 1, 1, 1),
      conv(56, 24, 144, 1, 1, 1),
      conv(56, 64, 256, 1, 1, 1),
      conv(28, 192, 32, 1, 1, 1),
      conv(14, 96, 576, 1, 1, 1),
      conv(14, 576, 96, 1, 1, 1),
      conv(7, 960, 160, 1, 1, 1),
      conv(7, 320, 1280, 1, 1, 1),
      conv(28, 512, 128, 1, 1, 1),
      conv(112, 16, 96, 1, 1, 1),
      conv(112, 32, 32, 3, 1, 32),
      conv(112, 96, 96, 3, 2, 96),
      conv(56, 144, 144, 3, 1, 144),
      conv(28, 192, 192, 3, 1, 192),
      conv(14, 576, 576, 3, 1, 576),
      conv(7, 960, 960, 3, 1, 960),
      conv(14, 576, 576, 5, 1, 576),
      conv(56, 58, 58, 3, 1, 2),
      conv(28, 128, 128, 3, 1, 32),
      conv(32, 16, 16, 3, 1, 1),
      conv(16, 32, 32, 3, 1, 1),
      conv(8, 64, 64, 3, 1, 1),
      conv(64, 24, 24, 1, 1, 1),
      conv(16, 88, 96, 1, 1, 1),
      conv(8, 96, 96, 1, 1, 1),
      conv(64, 24, 24, 3, 1, 24),
      conv(32, 48, 48, 5, 1, 48),
      conv(8, 96, 96, 3, 1, 96),
      chain(4, {1, 16, 16, 96}),
  };
}

// Products and functions of elements, as classifiers and transformers have them.
std::vector<Probe> product_probes() {
  return {
      product(1, 1280, 1000),
      product(1, 2048, 1000),
      product(1, 512, 512),
      product(16, 256, 256),
      product(197, 192, 768),
      product(128, 768, 768),
      unary("relu", OpId::relu, NoAttrs{}, {1, 56, 56, 64}),
      unary("sigmoid", OpId::sigmoid, NoAttrs{}, {1, 28, 28, 192}),
      unary("exp", OpId::exp, NoAttrs{}, {1, 56, 56, 32}),
      unary("tanh", OpId::tanh, NoAttrs{}, {1, 14, 14, 256}),
      unary("softmax", OpId::softmax, ops::softmax::Attrs{}, {1, 1000}),
      unary("softmax", OpId::softmax, ops::softmax::Attrs{}, {12, 197, 197}),
      unary("transpose", OpId::transpose, ops::transpose::Attrs{{0, 3, 1, 2}, 4}, {1, 28, 28, 128}),
  };
}

}  // namespace

std::vector<Probe> measure_probes() {
  std::vector<Probe> all = vision_probes();
  for (Probe& p : product_probes()) all.push_back(std::move(p));
  for (const int32_t size : {112, 28}) {
    ops::max_pool::Attrs a;
    for (int i = 0; i < 2; ++i) a.kernel[i] = 3, a.strides[i] = 2, a.pads_begin[i] = a.pads_end[i] = 1;
    all.push_back(unary("max_pool", OpId::max_pool, a, {1, size, size, 64}));
  }
  for (const int32_t size : {64, 14}) {
    ops::resize::Attrs a;
    a.mode = size == 64 ? ops::resize::kLinear : ops::resize::kNearest;
    a.sizes[0] = a.sizes[1] = 2 * size;
    all.push_back(unary("resize", OpId::resize, a, {1, size, size, 1024 / size}));
  }
  for (const int32_t size : {56, 16}) {
    ops::pad::Attrs a;
    a.begin[1] = a.begin[2] = a.end[1] = a.end[2] = 1;
    all.push_back(unary("pad", OpId::pad, a, {1, size, size, 64}));
  }
  for (const int32_t channels : {1280, 512}) {
    ops::ReduceAttrs mean;
    mean.axes[0] = 1, mean.axes[1] = 2, mean.axis_count = 2;
    all.push_back(unary("mean", OpId::reduce_mean, mean, {1, 7, 7, channels}));
  }
  all.push_back({"layer_norm", {197, 192}, [](ir::Graph& g, ir::NodeBuilder& b, ir::Value* x) {
                   const auto y = b.ops(OpId::layer_norm, ops::layer_norm::Attrs{}, {x, weights(g, {192}), weights(g, {192})}, 1);
                   return y.empty() ? nullptr : y[0];
                 }});
  all.push_back({"concat", {1, 28, 28, 64}, [](ir::Graph&, ir::NodeBuilder& b, ir::Value* x) {
                   ops::concat::Attrs a;
                   a.axis = -1;
                   return b.op(OpId::concat, a, {x, x});
                 }});
  all.push_back({"matrices", {12, 197, 64}, [](ir::Graph&, ir::NodeBuilder& b, ir::Value* x) {
                   ops::matmul::Attrs a;
                   a.transpose_b = 1;
                   return b.op(OpId::matmul, a, {x, x});
                 }});
  return all;
}

std::vector<Probe> measure_byte_probes() {
  return {
      byte_conv(56, 64, 64, 3, 1),
      byte_conv(28, 128, 128, 3, 1),
      byte_conv(56, 24, 144, 1, 1),
      byte_conv(56, 64, 256, 1, 1),
      byte_conv(28, 192, 32, 1, 1),
      byte_conv(14, 96, 576, 1, 1),
      byte_conv(14, 576, 96, 1, 1),
      byte_conv(7, 320, 1280, 1, 1),
      byte_conv(112, 16, 96, 1, 1),
      byte_conv(16, 32, 32, 3, 1),
      byte_conv(8, 64, 64, 3, 1),
      byte_conv(1, 1280, 1000, 1, 1),
      byte_conv(3, 512, 512, 1, 1),
      byte_conv(112, 32, 32, 3, 32),
      byte_conv(56, 144, 144, 3, 144),
      byte_conv(28, 192, 192, 3, 192),
      byte_conv(14, 576, 576, 3, 576),
      byte_conv(14, 576, 576, 5, 576),
      byte_conv(56, 24, 144, 1, 1, true),
      byte_conv(28, 192, 32, 1, 1, true),
      byte_conv(14, 96, 576, 1, 1, true),
      byte_conv(56, 144, 144, 3, 144, true),
      byte_conv(14, 576, 576, 3, 576, true),
      byte_chain(1, {1, 56, 56, 64}),
      byte_chain(8, {1, 56, 56, 32}),
      byte_chain(4, {1, 14, 14, 96}),
  };
}

std::vector<Probe> measure_models() {
  const auto inverted = [](int32_t size, int32_t narrow, int32_t wide) {
    return blocks(3, {conv(size, narrow, wide, 1, 1, 1), conv(size, wide, wide, 3, 1, wide), conv(size, wide, narrow, 1, 1, 1)});
  };
  return {inverted(56, 24, 144), inverted(28, 32, 192), inverted(14, 96, 576),
          inverted(8, 96, 192),  inverted(7, 160, 960), blocks(2, {conv(28, 128, 128, 3, 1, 1), conv(28, 128, 128, 3, 1, 1)})};
}

}  // namespace mote::tools
