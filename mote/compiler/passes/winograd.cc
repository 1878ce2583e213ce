// 3x3 convolutions whose outputs are worth it, in Winograd's form: a quarter of the products, four times the weights.

#include "mote/ops/common/winograd.h"

#include <cmath>
#include <cstring>

#include "mote/compiler/ir/builder.h"
#include "mote/compiler/passes/linear.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/conv_winograd/conv_winograd.h"

namespace mote::passes {
namespace {

using namespace ops::winograd;

// Multiply-adds in the time that one byte of weights takes from memory and, on the next use, from the cache that still holds it.
struct ByteCost {
  double once, again;
  double near_bytes;  // as many weights stay
};
ByteCost byte_cost(const target::Target& t) {
  const auto products = [&](target::Level level) {
    const double read = target::bandwidth_of(t.one, level).read;
    return read > 0 ? t.one.f32_gflops / 2 / read : 0;
  };
  return {products(target::kMemory), products(target::kL3), 0.5 * static_cast<double>(t.cache_bytes[target::kL3])};
}

// Estimates in products: those of the sums, those of the transforms, and what reading weights costs.
bool is_faster(double tiles, double rows, double channels, double outputs, const ByteCost& cost) {
  const double weights = channels * outputs,
               block = block_tiles(static_cast<int32_t>(channels), static_cast<int32_t>(outputs), static_cast<int64_t>(tiles));
  const double blocks = std::ceil(tiles / block);
  const double direct = rows * 9 * weights + 9 * 4 * cost.once * weights;
  const double again = kPoints * 4 * weights <= cost.near_bytes ? cost.again : cost.once;
  const double transformed =
      tiles * kPoints * (1.15 * weights + 10 * (channels + outputs)) + kPoints * 4 * weights * (cost.once + (blocks - 1) * again);
  return transformed < 0.8 * direct;
}

bool fits(const Node& n, const ByteCost& cost) {
  if (!n.is(OpId::conv) || n.input(kScales) != nullptr) return false;
  const auto a = n.attributes<ops::conv::Attrs>();
  const Value *x = n.inputs[0], *w = n.inputs[kWeights], *y = n.outputs[0];
  if (x->type.rank() != 4 || x->type.dtype != DType::f32 || !w->is_constant() || w->type.dtype != DType::f32 || w->layout != Layout::kPlain)
    return false;
  for (int i = 0; i < 2; ++i)
    if (w->type.dims[static_cast<size_t>(i) + 1] != 3 || a.strides[i] != 1 || a.dilations[i] != 1) return false;
  const int32_t channels = w->type.dims[3], outputs = w->type.dims[0];
  if (a.groups != 1 || outputs % 16 != 0 || channels < 16 || y->type.dynamic != 0) return false;
  const double images = y->type.dims[0], h = y->type.dims[1], wide = y->type.dims[2];
  return is_faster(images * std::ceil(h / kOut) * std::ceil(wide / kOut), images * h * wide, channels, outputs, cost);
}

// (O, 3, 3, C) to (36 * O, C).
ir::Bytes transformed(const Value& w) {
  const size_t outputs = static_cast<size_t>(w.type.dims[0]), channels = static_cast<size_t>(w.type.dims[3]);
  std::vector<uint8_t> bytes(kPoints * outputs * channels * 4);
  const auto* from = reinterpret_cast<const float*>(w.data.data);
  auto* to = reinterpret_cast<float*>(bytes.data());
  for (size_t o = 0; o < outputs; ++o) {
    for (size_t c = 0; c < channels; ++c) {
      double g[9], columns[kIn * 3], points[kPoints];
      for (size_t i = 0; i < 9; ++i) {
        float value;
        std::memcpy(&value, from + (o * 9 + i) * channels + c, sizeof value);
        g[i] = value;
      }
      for (int i = 0; i < 3; ++i) transform_weights(g + i, 3, columns + i, 3);
      for (int i = 0; i < kIn; ++i) transform_weights(columns + i * 3, 1, points + i * kIn, 1);
      for (size_t i = 0; i < kPoints; ++i) to[(i * outputs + o) * channels + c] = static_cast<float>(points[i]);
    }
  }
  return ir::Bytes::own(std::move(bytes));
}

bool rewrite(Graph& graph, Node& n, const ByteCost& cost) {
  if (!fits(n, cost)) return false;
  const auto a = n.attributes<ops::conv::Attrs>();
  const Value& w = *n.inputs[kWeights];
  ops::conv_winograd::Attrs to;
  for (int i = 0; i < 2; ++i) to.pads_begin[i] = a.pads_begin[i], to.pads_end[i] = a.pads_end[i];
  to.activation = a.activation;
  to.act_a = a.act_a;
  to.act_b = a.act_b;
  Value* weights = graph.add_constant(DType::f32, {w.type.dims[0] * kPoints, w.type.dims[3]}, transformed(w), w.name);
  std::vector<Value*> inputs = n.inputs;
  inputs[kWeights] = weights;
  NodeBuilder b(graph, *n.block, n.name, &n);
  const std::vector<Value*> made = b.ops(OpId::conv_winograd, to, inputs, 2);
  return replace_by(graph, n, made.empty() ? nullptr : made[0]);
}

}  // namespace

bool winograd(Graph& graph, const PassOptions& options) {
  if (options.exact || !options.winograd || !options.pack) return false;
  const ByteCost cost = byte_cost(options.target != nullptr ? *options.target : *target::named("generic"));
  return each_node(graph, [&](Node& n) { return rewrite(graph, n, cost); });
}

}  // namespace mote::passes
