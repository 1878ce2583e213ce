#include "mote/compiler/quant/mix.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "mote/compiler/quant/testing.h"

namespace mote::quant {
namespace {

using namespace testing;

struct Calibrated {
  explicit Calibrated(double int8_gops = 0) {
    if (int8_gops > 0) compile.target.one.int8_gops = compile.target.all.int8_gops = int8_gops;
    options.observer = Observer::kMinMax;
    quantizer = std::make_unique<Quantizer>(source, compile, options);
    good = quantizer->calibrate(data, nullptr, &problems);
    mix = std::make_unique<Mix>(*quantizer, source, compile);
  }
  size_t in_float() const {
    return static_cast<size_t>(
        std::count_if(mix->choices().begin(), mix->choices().end(), [](const auto& c) { return !c.second.in_float.empty(); }));
  }

  const frontends::Source source = TestModel().source();
  driver::CompileOptions compile;
  Options options;
  Waves data{24};
  ir::Problems problems;
  bool good = false;
  std::unique_ptr<Quantizer> quantizer;
  std::unique_ptr<Mix> mix;
};

TEST(Mix, Int8OnlyWhereItPays) {
  Calibrated fast, slow(0.01);
  ASSERT_TRUE(fast.good && slow.good) << why(fast.problems);
  ASSERT_TRUE(fast.mix->keep_unprofitable_in_float(nullptr, &fast.problems)) << why(fast.problems);
  EXPECT_EQ(fast.in_float(), 0u);
  EXPECT_LT(fast.mix->mix_ns(), fast.mix->f32_ns());
  ASSERT_TRUE(slow.mix->keep_unprofitable_in_float(nullptr, &slow.problems)) << why(slow.problems);
  EXPECT_EQ(slow.in_float(), 5u);
  EXPECT_NE(slow.mix->choices().begin()->second.in_float.find("longer on generic"), std::string::npos);
  EXPECT_EQ(slow.quantizer->recipe().in_float.size(), 5u);
}

TEST(Mix, MeetsABudgetWithSomeInFloat) {
  Calibrated c;
  ASSERT_TRUE(c.good && c.mix->keep_unprofitable_in_float(nullptr, &c.problems)) << why(c.problems);
  Measurement all;
  ASSERT_TRUE(c.mix->meet({}, c.data, c.data, {}, nullptr, &all, &c.problems));
  EXPECT_EQ(c.in_float(), 0u);
  const double fastest = c.mix->mix_ns();
  Budget budget;
  budget.min_sqnr_db = all.outputs[0].sqnr_db + 2;
  Measurement mixed;
  ASSERT_TRUE(c.mix->meet(budget, c.data, c.data, {}, nullptr, &mixed, &c.problems)) << why(c.problems);
  EXPECT_TRUE(budget.holds(mixed));
  EXPECT_GT(c.in_float(), 0u);
  EXPECT_LT(c.in_float(), 5u);
  EXPECT_GT(c.mix->mix_ns(), fastest);
  EXPECT_LT(c.mix->mix_ns(), c.mix->f32_ns());
  // What the quantizer measures now is what the mix says.
  Measurement again;
  ASSERT_TRUE(c.quantizer->measure(c.data, {}, nullptr, &again, &c.problems));
  EXPECT_EQ(again.outputs[0].sqnr_db, mixed.outputs[0].sqnr_db);
  for (const auto& [id, choice] : c.mix->choices()) EXPECT_GE(choice.alone_db, 0) << id;
}

TEST(Mix, SaysWhenNothingWouldBeLeft) {
  Calibrated c;
  Budget budget;
  budget.min_sqnr_db = 200;
  Measurement m;
  ASSERT_TRUE(c.good && c.mix->meet(budget, c.data, c.data, {}, nullptr, &m, &c.problems)) << why(c.problems);
  EXPECT_FALSE(budget.holds(m));
}

// A convolution whose channels differ a thousandfold, in front of one with weights of its own for each of them.
frontends::Source uneven(int groups) {
  frontends::Source s;
  s.format = "test";
  s.import = [groups](const frontends::ImportOptions&, ir::Graph& graph, ir::Problems*) {
    constexpr int n = TestModel::kSize, channels = 8;
    ir::Method& m = graph.add_method("main");
    ir::Value* x = graph.add_input(m, "x", DType::f32, {1, n, n, 3});
    ir::NodeBuilder b(graph, *m.block, "net");
    std::vector<float> first = normal(channels * 3, 1);
    for (int c = 0; c < channels; ++c)
      for (int i = 0; i < 3; ++i) first[static_cast<size_t>(c * 3 + i)] *= std::pow(0.3f, static_cast<float>(c));
    std::vector<float> second = normal(static_cast<size_t>(channels * 9 * (groups == 1 ? channels : 1)), 2);
    const int64_t row = static_cast<int64_t>(second.size()) / channels;
    for (size_t i = 0; i < second.size() && groups > 1; ++i) second[i] *= std::pow(3.0f, static_cast<float>(static_cast<int64_t>(i) / row));
    ir::Value* h = b.op(OpId::relu, {b.op(OpId::conv, ops::conv::Attrs{}, {x, graph.constant<float>({channels, 1, 1, 3}, first)})});
    ops::conv::Attrs a;
    a.groups = static_cast<decltype(a.groups)>(groups);
    graph.add_output(m, "y", b.op(OpId::conv, a, {h, graph.constant<float>({channels, 3, 3, groups == 1 ? channels : 1}, second)}));
    return b.ok();
  };
  return s;
}

TEST(Equalise, GivesNarrowChannelsMoreOfTheRange) {
  Waves data(16);
  driver::CompileOptions compile;
  for (const int groups : {1, 8}) {
    const frontends::Source source = uneven(groups);
    double db[2];
    for (const bool on : {false, true}) {
      Options options;
      options.observer = Observer::kMinMax;
      options.equalise = on;
      Quantizer q(source, compile, options);
      ir::Problems problems;
      Measurement m;
      ASSERT_TRUE(q.calibrate(data, nullptr, &problems) && q.measure(data, {}, nullptr, &m, &problems)) << why(problems);
      EXPECT_EQ(q.recipe().factors.size(), on ? 1u : 0u);
      db[on ? 1 : 0] = m.outputs[0].sqnr_db;
    }
    EXPECT_GT(db[1], db[0] + (groups > 1 ? 3 : -1)) << groups;
  }
}

}  // namespace
}  // namespace mote::quant
