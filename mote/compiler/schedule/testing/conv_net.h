#pragma once

// Small convolutional networks with weights drawn at random.

#include <random>
#include <string>
#include <vector>

#include "mote/compiler/ir/builder.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/max_pool/max_pool.h"

namespace mote::schedtest {

using ir::Graph;
using ir::NodeBuilder;
using ir::Value;

class ConvNet {
 public:
  ConvNet(Graph& g, uint32_t seed) : g_(g), m_(g.add_method("main")), random_(seed) {}

  Value* input(int32_t size, int32_t channels) { return g_.add_input(m_, "x", DType::f32, {1, size, size, channels}); }
  Value* conv(Value* x, int32_t outputs, int32_t kernel, int32_t stride, bool depthwise = false, Value* residual = nullptr) {
    NodeBuilder b(g_, *m_.block, "conv" + std::to_string(count_++));
    const int32_t channels = x->type.dims[3];
    ops::conv::Attrs a;
    if (depthwise) a.groups = outputs = channels;
    for (int i = 0; i < 2; ++i) a.strides[i] = stride, a.pads_begin[i] = a.pads_end[i] = kernel / 2;
    const ir::Dims dims = {outputs, kernel, kernel, depthwise ? 1 : channels};
    std::vector<float> w(static_cast<size_t>(ir::Type{DType::f32, dims, 0}.count()));
    for (float& v : w) v = (static_cast<float>(random_() % 100) - 50) / 100;
    return b.op(OpId::conv, a, {x, g_.constant<float>(dims, w), nullptr, residual});
  }
  Value* op(OpId id, const std::vector<Value*>& inputs) { return NodeBuilder(g_, *m_.block, "op").op(id, inputs); }
  Value* pool(Value* x, int32_t kernel, int32_t stride, int32_t pad) {
    ops::max_pool::Attrs a;
    for (int i = 0; i < 2; ++i) a.kernel[i] = kernel, a.strides[i] = stride, a.pads_begin[i] = a.pads_end[i] = pad;
    return NodeBuilder(g_, *m_.block, "pool").op(OpId::max_pool, a, {x});
  }
  void output(Value* v) { g_.add_output(m_, "y", v); }

  // Expand, depthwise, project, with a residual where sizes agree.
  Value* inverted(Value* x, int32_t expand, int32_t outputs, int32_t stride) {
    Value* fat = op(OpId::relu, {conv(x, x->type.dims[3] * expand, 1, 1)});
    Value* y = conv(op(OpId::relu, {conv(fat, 0, 3, stride, true)}), outputs, 1, 1);
    return y->type == x->type ? op(OpId::add, {x, y}) : y;
  }

 private:
  Graph& g_;
  ir::Method& m_;
  std::mt19937 random_;
  int count_ = 0;
};

// A first convolution and blocks as MobileNetV2 has them, of `size` x `size` pixels.
inline void make_mobilenet(Graph& g, int32_t size, int32_t channels) {
  ConvNet n(g, 1);
  Value* x = n.conv(n.input(size, 3), channels, 3, 2);
  x = n.inverted(x, 6, channels, 1);
  x = n.inverted(x, 6, channels * 3 / 2, 2);
  x = n.inverted(x, 6, channels * 3 / 2, 1);
  x = n.inverted(x, 6, channels * 2, 2);
  n.output(n.op(OpId::reduce_mean, {x}));
}

}  // namespace mote::schedtest
