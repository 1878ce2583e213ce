#pragma once

// A small model with what real ones have, and data for it.

#include <cmath>
#include <random>

#include "mote/compiler/ir/builder.h"
#include "mote/compiler/quant/quantize.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/reduce_mean/reduce_mean.h"

namespace mote::quant::testing {

using driver::Array;

inline std::vector<float> normal(size_t count, unsigned seed, float scale = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> d(0, scale);
  std::vector<float> v(count);
  for (float& x : v) x = d(random);
  return v;
}

struct TestModel {
  static constexpr int kSize = 8, kChannels = 8;

  frontends::Source source() const {
    frontends::Source s;
    s.format = "test";
    s.import = [](const frontends::ImportOptions&, ir::Graph& graph, ir::Problems*) {
      ir::Method& m = graph.add_method("main");
      ir::Value* x = graph.add_input(m, "x", DType::f32, {1, kSize, kSize, 3});
      ir::NodeBuilder b(graph, *m.block, "net");
      ops::conv::Attrs same;
      for (int i = 0; i < 2; ++i) same.pads_begin[i] = same.pads_end[i] = 1;
      const auto conv = [&](ir::Value* in, int channels, unsigned seed) {
        const float scale = 1 / std::sqrt(9.0f * static_cast<float>(channels));
        return b.op(
            OpId::conv, same,
            {in, graph.constant<float>({kChannels, 3, 3, channels}, normal(static_cast<size_t>(kChannels * 9 * channels), seed, scale)),
             graph.constant<float>({kChannels}, normal(kChannels, seed + 1, 0.1f))});
      };
      ir::Value* first = b.op(OpId::relu, {conv(x, 3, 10)});
      ir::Value* sum = b.op(OpId::relu, {b.op(OpId::add, {conv(b.op(OpId::relu, {conv(first, kChannels, 20)}), kChannels, 30), first})});
      ir::Value* gate = b.op(OpId::sigmoid, {conv(sum, kChannels, 40)});
      ops::ReduceAttrs mean;
      mean.axes[0] = 1, mean.axes[1] = 2, mean.axis_count = 2, mean.keep_dims = 0;
      ir::Value* pooled = b.op(OpId::reduce_mean, mean, {b.op(OpId::mul, {sum, gate})});
      graph.add_output(m, "y", b.op(OpId::matmul, {pooled, graph.constant<float>({kChannels, 10}, normal(kChannels * 10, 50, 0.3f))}));
      return b.ok();
    };
    return s;
  }
};

// Smooth pictures: sums of waves.
class Waves : public Samples {
 public:
  explicit Waves(size_t count, bool noise = false) : count_(count), noise_(noise) {}
  size_t count() const override { return count_; }
  bool read(size_t index, std::vector<Array>* inputs, std::string*) override {
    constexpr int n = TestModel::kSize;
    std::vector<float> v = normal(n * n * 3, static_cast<unsigned>(index) + 100);
    for (int y = 0; y < n && !noise_; ++y)
      for (int x = 0; x < n; ++x)
        for (int c = 0; c < 3; ++c)
          v[static_cast<size_t>((y * n + x) * 3 + c)] = std::sin(0.3f * static_cast<float>(x + c) + static_cast<float>(index)) +
                                                        std::cos(0.2f * static_cast<float>(y) * static_cast<float>(index % 7));
    const auto* bytes = reinterpret_cast<const uint8_t*>(v.data());
    *inputs = {{DType::f32, {1, n, n, 3}, std::vector<uint8_t>(bytes, bytes + v.size() * sizeof(float))}};
    return true;
  }

 private:
  size_t count_;
  bool noise_;
};

inline std::string why(const ir::Problems& problems) { return problems.empty() ? "" : problems[0].where + ": " + problems[0].what; }

}  // namespace mote::quant::testing
