// Models that come with 8-bit weights and quantize activations while running (TFLite's hybrid operators).

#include "mote/compiler/quant/dynamic.h"

#include <gtest/gtest.h>

#include "mote/compiler/quant/testing.h"
#include "mote/ops/common/quant_epilogue.h"
#include "mote/ops/q_conv/q_conv.h"

namespace mote::quant {
namespace {

using namespace testing;

constexpr int kWide = 16;

std::vector<int8_t> codes(size_t count, unsigned seed) {
  std::vector<int8_t> all;
  for (const float v : normal(count, seed, 30)) all.push_back(static_cast<int8_t>(std::clamp(std::nearbyint(v), -127.0f, 127.0f)));
  return all;
}

// Three convolutions of single values, one scale for all their weights; zero_points: their inputs have some.
frontends::Source hybrid(bool zero_points) {
  frontends::Source s;
  s.format = "test";
  s.import = [zero_points](const frontends::ImportOptions&, ir::Graph& graph, ir::Problems*) {
    constexpr int n = TestModel::kSize;
    ir::Method& m = graph.add_method("main");
    ir::Value* x = graph.add_input(m, "x", DType::f32, {1, n, n, 3});
    bool good = true;
    for (int layer = 0; layer < 3; ++layer) {
      ir::NodeBuilder b(graph, *m.block, "layer" + std::to_string(layer));
      using Mode = ops::dynamic_quantize::Mode;
      ops::dynamic_quantize::Attrs how;
      how.mode = static_cast<uint32_t>(zero_points ? Mode::kAsymmetric : Mode::kSymmetric);
      how.axis = 1;
      const std::vector<ir::Value*> q = b.ops(OpId::dynamic_quantize, how, {x}, 3);
      const int channels = layer == 0 ? 3 : kWide;
      ops::q_conv::Attrs a;
      a.to = static_cast<uint32_t>(DType::f32);
      std::vector<ir::Value*> in(8, nullptr);
      in[0] = q[0];
      in[1] = graph.constant<int8_t>({kWide, 1, 1, channels}, codes(static_cast<size_t>(kWide * channels), static_cast<unsigned>(layer)));
      in[ops::kEpilogueBias] = graph.constant<float>({kWide}, normal(kWide, 9, 0.1f));
      in[ops::kEpilogueMultiplier] = graph.constant<float>({1}, {0.0123f / std::sqrt(static_cast<float>(channels))});
      if (zero_points) in[ops::kEpilogueXZero] = q[2];
      in[ops::kEpilogueXScale] = q[1];
      x = b.op(OpId::relu, {b.op(OpId::q_conv, a, in)});
      good &= b.ok();
    }
    graph.add_output(m, "y", x);
    return good;
  };
  return s;
}

TEST(Dynamic, ProductsCanStayAsTheyCame) {
  Waves data(16);
  for (const bool zero_points : {false, true}) {
    const frontends::Source source = hybrid(zero_points);
    driver::CompileOptions compile;
    Quantizer q(source, compile, Options{});
    ir::Problems problems;
    ASSERT_TRUE(q.calibrate(data, nullptr, &problems)) << why(problems);
    ASSERT_EQ(q.products().size(), 3u);
    EXPECT_TRUE(q.is_dynamic());
    Probe own;
    ASSERT_TRUE(own.build(source, compile, nullptr, &problems)) << why(problems);
    const auto db = [&](const Recipe& recipe) {
      Probe made;
      Energy energy;
      EXPECT_TRUE(q.build_quantized(recipe, {}, &made, &problems)) << why(problems);
      for (size_t s = 0; s < data.count(); ++s) {
        std::vector<Array> inputs;
        std::string error;
        EXPECT_TRUE(data.read(s, &inputs, &error) && own.run(inputs, &error) && made.run(inputs, &error)) << error;
        energy.add(driver::to_doubles(own.output(0)), driver::to_doubles(made.output(0)));
      }
      return energy.db();
    };
    Recipe recipe = q.recipe();
    const double int8 = db(recipe);
    for (const ProductInfo& p : q.products()) {
      EXPECT_TRUE(p.dynamic) << p.name;
      recipe.in_float.insert(p.id);
    }
    const double in_f32 = db(recipe);
    recipe.keep_dynamic = true;
    EXPECT_GT(db(recipe), 110);
    EXPECT_LT(in_f32, 80);  // f32 is not what the model gives
    EXPECT_LT(int8, 80);
  }
}

TEST(Dynamic, AccuracyIsThatOfTheFloatModelAndOfTheModelAsItComes) {
  Waves data(16);
  const frontends::Source source = hybrid(true);
  driver::CompileOptions compile;
  Quantizer q(source, compile, Options{});
  ir::Problems problems;
  Measurement m;
  MeasureOptions how;
  how.labels.assign(16, 3);
  ASSERT_TRUE(q.calibrate(data, nullptr, &problems) && q.measure(data, how, nullptr, &m, &problems)) << why(problems);
  EXPECT_GE(m.outputs[0].accuracy_own, 0);
  const frontends::Source plain = TestModel().source();
  Quantizer f(plain, compile, Options{});
  ASSERT_TRUE(f.calibrate(data, nullptr, &problems) && f.measure(data, how, nullptr, &m, &problems)) << why(problems);
  EXPECT_LT(m.outputs[0].accuracy_own, 0);
  m.outputs[0].accuracy_before = 0.8, m.outputs[0].accuracy_after = 0.79, m.outputs[0].accuracy_own = 0.82;
  EXPECT_NEAR(m.drop(), 3, 1e-9);
}

TEST(Weights, ThoseOnAGridKeepIt) {
  WeightRows w{2, 40, {}, false};
  const std::vector<int8_t> given = codes(80, 5);
  for (size_t i = 0; i < given.size(); ++i) w.values.push_back(static_cast<float>(given[i]) * (i < 40 ? 0.0171f : 3.3f));
  QuantWeights q;
  ASSERT_TRUE(exact_weights(w, &q));
  EXPECT_EQ(q.codes, given);
  EXPECT_EQ(best_scaled_weights(w).codes, given);
  EXPECT_FLOAT_EQ(q.scales[0], 0.0171f);
  w.values[7] += 0.004f;
  EXPECT_FALSE(exact_weights(w, &q));
  w.values = normal(80, 6);
  EXPECT_FALSE(exact_weights(w, &q));
  w.values.assign(80, 0);
  EXPECT_TRUE(exact_weights(w, &q));
}

}  // namespace
}  // namespace mote::quant
