#include <gtest/gtest.h>

#include "mote/compiler/quant/rounding.h"
#include "mote/compiler/quant/testing.h"
#include "mote/ops/common/quant_epilogue.h"
#include "mote/ops/op_docs.h"

namespace mote::quant {
namespace {

using namespace testing;

TEST(Grid, CoversTheRangeAndHasZero) {
  const Grid g = grid_of({-1, 3}, false);
  EXPECT_NEAR(static_cast<double>(g.scale), 4.0 / 255, 1e-6);
  EXPECT_EQ(g.zero, -64);
  EXPECT_EQ(grid_of({0, 6}, false).zero, -128);
  EXPECT_EQ(grid_of({2, 6}, false).zero, -128);  // 0 is always a number of the grid
  EXPECT_EQ(grid_of({-1, 3}, true).zero, 0);
  EXPECT_NEAR(static_cast<double>(grid_of({-1, 3}, true).scale), 3.0 / 127, 1e-6);
  EXPECT_GT(grid_of({0, 0}, false).scale, 0.0f);
  EXPECT_GT(grid_of({0, 1e-40}, false).scale, 0.0f);
}

TEST(Histogram, GrowsAndKeepsEveryNumber) {
  Histogram h;
  const std::vector<float> small = {0.1f, -0.2f, 0.3f}, large = {100, -50, NAN};
  h.add(small.data(), small.size());
  h.add(large.data(), large.size());
  EXPECT_EQ(h.range().lo, -50);
  EXPECT_EQ(h.range().hi, 100);
  EXPECT_EQ(h.not_finite(), 1u);
  uint64_t sum = 0;
  for (const uint64_t n : h.bins()) sum += n;
  EXPECT_EQ(sum, 5u);
}

TEST(Observer, OutliersCountAsTheObserverSays) {
  std::vector<float> x = normal(100000, 1);
  x[7] = 80;
  TensorStats s;
  s.add(x.data(), x.size());
  EXPECT_EQ(s.range(Observer::kMinMax, 0, false).hi, 80);
  EXPECT_LT(s.range(Observer::kPercentile, 99.9, false).hi, 6);
  const Range mse = s.range(Observer::kMse, 0, false);
  EXPECT_NEAR(mse.hi, 70.5, 2);  // where cutting off costs as much as wider steps
  EXPECT_LT(grid_error(s.histogram(), grid_of(mse, false)),
            grid_error(s.histogram(), grid_of(s.range(Observer::kMinMax, 0, false), false)));
  const std::vector<float> quiet = normal(1000, 2);
  for (int i = 0; i < 50; ++i) s.add(quiet.data(), quiet.size());
  EXPECT_LT(s.range(Observer::kMovingAverage, 0, false).hi, 10);
}

TEST(Weights, ScalesAreOfEachRowAndMinus128IsNotUsed) {
  const WeightRows w = {2, 3, {1, -0.5f, 0.25f, 100, -100, 3}};
  const QuantWeights q = nearest_weights(w);
  EXPECT_EQ(q.codes, (std::vector<int8_t>{127, -64, 32, 127, -127, 4}));
  EXPECT_NEAR(static_cast<double>(q.scales[1]), 100.0 / 127, 1e-6);
}

// What vpmaddubsw multiplies without saturating, for any two numbers of 8 bits.
TEST(Weights, PairsOfNeighboursFit16Bits) {
  EXPECT_TRUE(pair_fits(127, -127) && pair_fits(127, 1) && pair_fits(64, 64) && pair_fits(-64, -64) && pair_fits(0, -127));
  EXPECT_FALSE(pair_fits(65, 64) || pair_fits(-127, -2));
  WeightRows w = {8, 33, normal(8 * 33, 3), true};
  w.values[0] = w.values[1] = 4;    // two large ones together, which take room from all others
  w.values[40] = w.values[41] = 0;  // and none
  for (const bool best : {false, true}) {
    const QuantWeights q = best ? best_scaled_weights(w) : nearest_weights(w);
    double signal = 0, error = 0;
    for (size_t r = 0; r < 8; ++r) {
      for (size_t c = 0; c < 33; ++c) {
        const double x = static_cast<double>(w.values[r * 33 + c]), y = static_cast<double>(q.scales[r]) * q.codes[r * 33 + c];
        signal += x * x;
        error += (x - y) * (x - y);
        EXPECT_TRUE(c % 2 == 0 || pair_fits(q.codes[r * 33 + c - 1], q.codes[r * 33 + c])) << r << ", " << c;
      }
    }
    EXPECT_LT(error, signal * 2e-4) << best;
  }
}

TEST(Weights, BiasFits32Bits) {
  const WeightRows w = {1, 2, {1e-9f, 0}};
  QuantWeights q = nearest_weights(w);
  fit_bias(w, {5}, 0.01f, &q);
  EXPECT_LT(5 / (0.01 * static_cast<double>(q.scales[0])), 2147483648.0);
}

TEST(Quantizer, GivesAnIntegerProgramThatIsClose) {
  const frontends::Source source = TestModel().source();
  driver::CompileOptions compile;
  Waves data(40);
  for (const Observer observer :
       {Observer::kMinMax, Observer::kMovingAverage, Observer::kPercentile, Observer::kMse, Observer::kEntropy, Observer::kAuto}) {
    Options options;
    options.observer = observer;
    Quantizer q(source, compile, options);
    ir::Problems problems;
    ASSERT_TRUE(q.calibrate(data, nullptr, &problems)) << why(problems);
    EXPECT_EQ(q.products().size(), 5u);
    // The others cut off what this data is made of.
    const bool all_of_it = observer != Observer::kMovingAverage && observer != Observer::kEntropy;
    MeasureOptions how;
    for (const auto& [id, grid] : q.recipe().grids) how.values.insert(id);
    Measurement m;
    ASSERT_TRUE(q.measure(data, how, nullptr, &m, &problems)) << why(problems);
    EXPECT_GT(m.outputs[0].sqnr_db, all_of_it ? 25 : 5) << kObserverNames[static_cast<size_t>(observer)];
    EXPECT_EQ(m.value_sqnr_db.size(), q.recipe().grids.size());
    driver::CompileResult result;
    ASSERT_TRUE(q.compile(q.evidence(), &result, &problems)) << why(problems);
    driver::HostProgram program;
    std::string error;
    ASSERT_TRUE(program.open(result.file.span(), {}, {}, &error)) << error;
    std::map<std::string, int> count;
    for (const Instruction& n : program.program().table().instructions) ++count[find_op_doc(n.op)->name];
    EXPECT_EQ(count["conv"] + count["matmul"] + count["add"] + count["mul"] + count["sigmoid"] + count["dequantize"], 0);
    EXPECT_EQ(count["quantize"], 1);  // the input
    EXPECT_EQ(count["q_conv"], 4);
    EXPECT_EQ(count["q_matmul"], 1);
  }
}

// Every way to compute has its own program: sums of residuals, factors, weights in pairs.
TEST(Quantizer, ArithmeticIsAsAskedFor) {
  const frontends::Source source = TestModel().source();
  driver::CompileOptions compile;
  Waves data(40);
  for (const bool fixed : {false, true}) {
    Options options;
    options.fixed_point = fixed;
    options.pairs = !fixed;
    Quantizer q(source, compile, options);
    ir::Problems problems;
    driver::CompileResult result;
    ASSERT_TRUE(q.calibrate(data, nullptr, &problems) && q.compile(q.evidence(), &result, &problems)) << why(problems);
    driver::HostProgram program;
    std::string error;
    ASSERT_TRUE(program.open(result.file.span(), {}, {}, &error)) << error;
    const ProgramTable& t = program.program().table();
    int products = 0;
    for (const Instruction& n : t.instructions) {
      if (n.op != static_cast<uint16_t>(OpId::q_conv)) continue;
      ++products;
      const int32_t multiplier = t.operands[n.operands + ops::kEpilogueMultiplier];
      EXPECT_EQ(t.tensors[static_cast<size_t>(multiplier)].dtype, fixed ? DType::s32 : DType::f32);
    }
    EXPECT_GT(products, 0);
    bool all_fit = true;
    for (const auto& [id, w] : q.recipe().weights) {
      const size_t columns = w.codes.size() / w.scales.size();
      for (size_t i = 0; i < w.codes.size(); ++i) all_fit &= i % columns % 2 == 0 || pair_fits(w.codes[i - 1], w.codes[i]);
    }
    EXPECT_EQ(all_fit, !fixed);
  }
}

TEST(Quantizer, CorrectionsLowerTheError) {
  const frontends::Source source = TestModel().source();
  driver::CompileOptions compile;
  Waves data(40);
  double db[2];
  for (const bool on : {false, true}) {
    Options options;
    options.observer = Observer::kMinMax;
    options.adaptive_rounding = options.bias_correction = options.weight_scales = on;
    Quantizer q(source, compile, options);
    ir::Problems problems;
    Measurement m;
    ASSERT_TRUE(q.calibrate(data, nullptr, &problems) && q.measure(data, {}, nullptr, &m, &problems)) << why(problems);
    db[on ? 1 : 0] = m.outputs[0].sqnr_db;
  }
  EXPECT_GT(db[1], db[0]);
}

TEST(Quantizer, KeepsNodesInFloatAndRefusesWhatItCannotDo) {
  const frontends::Source source = TestModel().source();
  driver::CompileOptions compile;
  Waves data(4);
  Options options;
  options.in_float = {"net"};
  ir::Problems problems;
  EXPECT_FALSE(Quantizer(source, compile, options).calibrate(data, nullptr, &problems));  // nothing is left
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].what.find("nothing to quantize"), std::string::npos) << problems[0].what;
  problems.clear();
  options.in_float = {"nett"};
  EXPECT_FALSE(Quantizer(source, compile, options).calibrate(data, nullptr, &problems));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].where, "--keep-float nett");
  EXPECT_NE(problems[0].what.find("did you mean 'net'?"), std::string::npos) << problems[0].what;
  problems.clear();
  compile.passes.fuse = false;
  EXPECT_FALSE(Quantizer(source, compile, {}).calibrate(data, nullptr, &problems));
  problems.clear();
  compile.passes.fuse = true;
  Waves none(0);
  EXPECT_FALSE(Quantizer(source, compile, {}).calibrate(none, nullptr, &problems));
}

TEST(Quantizer, DoubtsNoiseAndFewSamples) {
  const auto warnings = [](size_t count, bool noise) {
    Waves data(count, noise);
    DataCheck check;
    for (size_t i = 0; i < count; ++i) {
      std::vector<Array> inputs;
      std::string error;
      data.read(i, &inputs, &error);
      check.add(inputs);
    }
    return check.warnings();
  };
  EXPECT_TRUE(warnings(40, false).empty());
  EXPECT_EQ(warnings(40, true).size(), 1u);
  EXPECT_EQ(warnings(3, false).size(), 1u);
}

}  // namespace
}  // namespace mote::quant
