#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "mote/compiler/ir/builder.h"
#include "mote/compiler/quant/compact.h"
#include "mote/compiler/quant/rounding.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/gather/gather.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/op_docs.h"

namespace mote::quant {
namespace {

using driver::Array;

std::vector<float> normal(size_t count, unsigned seed, float scale = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> d(0, scale);
  std::vector<float> v(count);
  for (float& x : v) x = d(random);
  return v;
}

double squared_error(const WeightRows& w, const GroupWeights& g) {
  double sum = 0;
  for (int64_t i = 0; i < w.rows * w.columns; ++i) {
    const size_t at = static_cast<size_t>(i), beside = static_cast<size_t>(i / w.columns * g.groups() + i % w.columns / g.size);
    const int zero = g.zeros.empty() ? 0 : g.zeros[beside];
    const double e = static_cast<double>(w.values[at]) - static_cast<double>(g.scales[beside]) * (g.codes[at] - zero);
    sum += e * e;
  }
  return sum;
}

TEST(Groups, EveryFormIsCloseAndTheSearchIsCloser) {
  const WeightRows w = {7, 100, normal(700, 1, 0.1f)};
  for (const bool zeros : {false, true}) {
    double error[2];
    for (const bool best : {false, true}) {
      const GroupWeights g = group_weights(w, {32, zeros, best});
      EXPECT_EQ(g.groups(), 4);
      EXPECT_EQ(g.scales.size(), 28u);
      EXPECT_EQ(g.zeros.size(), zeros ? 28u : 0u);
      EXPECT_TRUE(g.half);
      error[best ? 1 : 0] = squared_error(w, g);
      EXPECT_LT(error[best ? 1 : 0], 700 * 0.01 * 0.02);  // of the variance
    }
    EXPECT_LT(error[1], error[0]);
  }
}

TEST(Groups, OddWeightsHaveCodesToo) {
  const GroupWeights none = group_weights({1, 8, std::vector<float>(8, 0)}, {32, false, true});
  for (const int8_t c : none.codes) EXPECT_EQ(c, 0);
  const GroupWeights tiny = group_weights({1, 2, {1e-30f, -1e-30f}}, {32, false, true});
  EXPECT_FALSE(tiny.half);
  EXPECT_NEAR(static_cast<double>(tiny.scales[0]) * tiny.codes[0] / 1e-30, 1, 0.1);
  const GroupWeights shifted = group_weights({1, 4, {5, 5.5f, 6, 7}}, {32, true, false});
  EXPECT_NEAR(static_cast<double>(shifted.scales[0]) * (shifted.codes[3] - shifted.zeros[0]), 7, 0.3);
  EXPECT_EQ(nibbles_of({-8, 7, -1}), (std::vector<uint8_t>{0x78, 0x0f}));
}

TEST(Groups, RoundingForTheOutputLowersItsError) {
  // Inputs that depend on each other: errors of neighbours can cancel.
  ir::Graph graph;
  ir::Method& m = graph.add_method("main");
  ir::Value* x = graph.add_input(m, "x", DType::f32, {64, 32});
  const WeightRows w = {8, 32, normal(256, 3)};
  ir::NodeBuilder b(graph, *m.block, "net");
  ops::matmul::Attrs a;
  a.transpose_b = 1;
  ir::Value* y = b.op(OpId::matmul, a, {x, graph.constant<float>({8, 32}, w.values)});
  ASSERT_NE(y, nullptr) << b.error();
  std::vector<float> rows = normal(64 * 32, 4);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = 0.3f * rows[i] + rows[i / 32 * 32];
  InputMoments moments(*y->producer);
  moments.start();
  const auto* bytes = reinterpret_cast<const uint8_t*>(rows.data());
  moments.add({DType::f32, {64, 32}, std::vector<uint8_t>(bytes, bytes + rows.size() * 4)});
  const auto output_error = [&](const GroupWeights& g) {
    double sum = 0;
    for (size_t r = 0; r < 64; ++r)
      for (size_t n = 0; n < 8; ++n) {
        double e = 0;
        for (size_t k = 0; k < 32; ++k)
          e += static_cast<double>(rows[r * 32 + k]) *
               (static_cast<double>(w.values[n * 32 + k]) - static_cast<double>(g.scales[n]) * g.codes[n * 32 + k]);
        sum += e * e;
      }
    return sum;
  };
  GroupWeights g = group_weights(w, {32, false, true});
  const double before = output_error(g);
  round_groups(w, moments, &g);
  EXPECT_LT(output_error(g), 0.8 * before);
}

// --- a model made here: a table, a matrix product, a convolution of single values and one of windows ---

constexpr int kTokens = 6, kWidth = 64;

frontends::Source model() {
  frontends::Source s;
  s.format = "test";
  s.import = [](const frontends::ImportOptions&, ir::Graph& graph, ir::Problems*) {
    ir::Method& m = graph.add_method("main");
    ir::Value* ids = graph.add_input(m, "ids", DType::s64, {1, kTokens});
    ir::NodeBuilder b(graph, *m.block, "net");
    const auto weights = [&](const ir::Dims& dims, unsigned seed, float scale) {
      size_t count = 1;
      for (const int32_t d : dims) count *= static_cast<size_t>(d);
      return graph.constant<float>(dims, normal(count, seed, scale));
    };
    ir::Value* x = b.op(OpId::gather, ops::gather::Attrs{}, {weights({100, kWidth}, 1, 1), ids});
    ir::Value* product = b.op(OpId::matmul, {x, weights({kWidth, kWidth}, 2, 0.125f), weights({kWidth}, 3, 0.1f)});
    ir::Value* y = b.op(OpId::relu, {b.op(OpId::add, {product, x})});
    y = b.op(OpId::conv, ops::conv::Attrs{}, {y, weights({kWidth, 1, kWidth}, 4, 0.125f)});
    ops::conv::Attrs window;
    window.pads_begin[0] = window.pads_end[0] = 1;
    y = b.op(OpId::conv, window, {y, weights({kWidth, 3, kWidth}, 5, 0.07f), weights({kWidth}, 6, 0.1f)});
    graph.add_output(m, "y", y);
    return b.ok();
  };
  return s;
}

class Tokens : public Samples {
 public:
  size_t count() const override { return 24; }
  bool read(size_t index, std::vector<Array>* inputs, std::string*) override {
    std::vector<uint8_t> bytes(kTokens * 8);
    for (size_t i = 0; i < kTokens; ++i) bytes[i * 8] = static_cast<uint8_t>((index * 31 + i * 17) % 100);
    *inputs = {{DType::s64, {1, kTokens}, std::move(bytes)}};
    return true;
  }
};

struct Made {
  double sqnr_db = 0;
  std::map<std::string, int> ops;
};

Made make(Scheme scheme, bool zeros, bool data, std::string* why) {
  const frontends::Source source = model();
  driver::CompileOptions compile;
  CompactOptions options;
  options.scheme = scheme;
  options.groups.zero_points = zeros;
  CompactQuantizer q(source, compile, options);
  Tokens samples;
  ir::Problems problems;
  Measurement m;
  driver::CompileResult result;
  Made made;
  driver::HostProgram program;
  if (!q.choose(data ? &samples : nullptr, nullptr, &problems) || !q.measure(samples, {}, nullptr, &m, &problems) ||
      !q.compile(q.evidence(), &result, &problems) || !program.open(result.file.span(), {}, {}, why)) {
    if (!problems.empty()) *why = problems[0].what;
    return made;
  }
  made.sqnr_db = m.outputs[0].sqnr_db;
  for (const Instruction& n : program.program().table().instructions) ++made.ops[find_op_doc(n.op)->name];
  return made;
}

TEST(Compact, EverySchemeIsAsCloseAsItsBits) {
  struct Case {
    Scheme scheme;
    bool zeros;
    double least_db;
  };
  for (const Case& c :
       {Case{Scheme::kFp16Weights, false, 60}, Case{Scheme::kBf16Weights, false, 45}, Case{Scheme::kInt8Weights, false, 38},
        Case{Scheme::kInt8Dynamic, false, 34}, Case{Scheme::kInt4Weights, false, 16}, Case{Scheme::kInt4Weights, true, 16}}) {
    SCOPED_TRACE(kSchemeNames[static_cast<size_t>(c.scheme)]);
    std::string why;
    Made made = make(c.scheme, c.zeros, false, &why);
    ASSERT_FALSE(made.ops.empty()) << why;
    EXPECT_GT(made.sqnr_db, c.least_db);
    EXPECT_EQ(made.ops["gather"], 0);
    EXPECT_EQ(made.ops["embedding"], 1);
    EXPECT_EQ(made.ops["dequantize"] + made.ops["cast"], 0);
    const bool dynamic = c.scheme == Scheme::kInt8Dynamic, nibbles = c.scheme == Scheme::kInt4Weights;
    EXPECT_EQ(made.ops["q_matmul"], dynamic ? 1 : 0);
    EXPECT_EQ(made.ops["q_conv"], dynamic ? 2 : 0);
    EXPECT_EQ(made.ops["dynamic_quantize"], dynamic ? 3 : 0);
    EXPECT_EQ(made.ops["matmul"], dynamic ? 0 : nibbles ? 2 : 1);
  }
}

TEST(Compact, DataMakesItCloser) {
  for (const Scheme scheme : {Scheme::kInt4Weights, Scheme::kInt8Dynamic}) {
    std::string why;
    const Made without = make(scheme, false, false, &why), with = make(scheme, false, true, &why);
    ASSERT_FALSE(without.ops.empty() || with.ops.empty()) << why;
    EXPECT_GT(with.sqnr_db, without.sqnr_db - (scheme == Scheme::kInt8Dynamic ? 0.5 : 0));
  }
}

TEST(Compact, KeepsWhatIsNamedAndRefusesModelsWithoutWeights) {
  const frontends::Source source = model();
  driver::CompileOptions compile;
  CompactOptions options;
  options.in_float = {"net"};
  ir::Problems problems;
  EXPECT_FALSE(CompactQuantizer(source, compile, options).choose(nullptr, nullptr, &problems));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].what.find("nothing to quantize"), std::string::npos) << problems[0].what;
  problems.clear();
  options.in_float = {"net", "Net_1"};
  EXPECT_FALSE(CompactQuantizer(source, compile, options).choose(nullptr, nullptr, &problems));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].where, "--keep-float Net_1");
  EXPECT_NE(problems[0].advice.find("net"), std::string::npos) << problems[0].advice;
  compile.passes.exact = true;
  problems.clear();
  EXPECT_FALSE(CompactQuantizer(source, compile, {}).choose(nullptr, nullptr, &problems));
}

}  // namespace
}  // namespace mote::quant
