// Weights that hide from the quantizer, and products inside control flow.

#include "mote/compiler/quant/expose.h"

#include <gtest/gtest.h>

#include "mote/compiler/driver/run.h"
#include "mote/compiler/ir/infer.h"
#include "mote/compiler/passes/rewrite.h"
#include "mote/compiler/quant/compact.h"
#include "mote/compiler/quant/testing.h"
#include "mote/ops/lstm/lstm.h"
#include "mote/ops/op_docs.h"

namespace mote::quant {
namespace {

using namespace testing;

constexpr int kInputs = 48, kUnits = 32;

// One step of an LSTM whose state the caller keeps; its result goes through a product with f16 weights in a branch, and a sum.
struct Stream {
  bool batch_first = false, usual = true;

  frontends::Source source() const {
    frontends::Source s;
    s.format = "test";
    s.import = [this](const frontends::ImportOptions&, ir::Graph& graph, ir::Problems*) {
      ir::Method& m = graph.add_method("main");
      ir::Value* x = graph.add_input(m, "x", DType::f32, {1, 1, kInputs});
      ir::Value* h = graph.add_input(m, "h", DType::f32, {1, 1, kUnits});
      ir::Value* c = graph.add_input(m, "c", DType::f32, {1, 1, kUnits});
      ir::Value* flag = graph.add_input(m, "flag", DType::boolean, {});
      ir::NodeBuilder b(graph, *m.block, "lstm");
      const auto weights = [&](const ir::Dims& dims, unsigned seed, float scale) {
        size_t count = 1;
        for (const int32_t d : dims) count *= static_cast<size_t>(d);
        return graph.constant<float>(dims, normal(count, seed, scale));
      };
      ops::lstm::Attrs a;
      a.layout = batch_first ? 1 : 0;
      if (!usual) a.activations[2] = 2;
      const std::vector<ir::Value*> out = b.ops(OpId::lstm, a,
                                                {x, weights({1, 4 * kUnits, kInputs}, 1, 0.14f), weights({1, 4 * kUnits, kUnits}, 2, 0.17f),
                                                 weights({1, 8 * kUnits}, 3, 0.2f), nullptr, h, c},
                                                3);
      if (out.size() != 3) return false;
      ir::Value* flat = b.reshape(out[0], {1, kUnits});
      ir::Node* choice = graph.add_node(*m.block, ir::kIf, nullptr, 0, {flag}, 1, "choice");
      for (const int branch : {0, 1}) {
        ir::Block& block = graph.add_block(choice);
        ir::NodeBuilder inside(graph, block, branch == 0 ? "then" : "else");
        const std::vector<float> values = normal(kUnits * kUnits, 4 + static_cast<unsigned>(branch), 0.2f);
        ir::Value* small =
            passes::float_constant(graph, DType::f16, {kUnits, kUnits}, std::vector<double>(values.begin(), values.end()), "small");
        ir::Value* product = inside.op(OpId::matmul, {flat, inside.cast(small, DType::f32)});
        ir::Value* sum = inside.op(OpId::add, {product, flat});
        if (!inside.ok()) return false;
        graph.add_result(block, sum);
      }
      std::string error;
      if (!ir::infer(*choice, &error)) return false;
      graph.add_output(m, "y", choice->outputs[0]);
      graph.add_output(m, "h_out", out[1]);
      graph.add_output(m, "c_out", out[2]);
      return b.ok();
    };
    return s;
  }
};

class Steps : public Samples {
 public:
  size_t count() const override { return 16; }
  bool read(size_t index, std::vector<Array>* inputs, std::string*) override {
    inputs->clear();
    for (const int size : {kInputs, kUnits, kUnits}) {
      const std::vector<float> v = normal(static_cast<size_t>(size), static_cast<unsigned>(100 * index + inputs->size()), 0.5f);
      const auto* bytes = reinterpret_cast<const uint8_t*>(v.data());
      inputs->push_back({DType::f32, {1, 1, size}, std::vector<uint8_t>(bytes, bytes + v.size() * sizeof(float))});
    }
    inputs->push_back({DType::boolean, {}, {static_cast<uint8_t>(index % 2)}});
    return true;
  }
};

struct Found {
  std::vector<double> db;
  std::map<std::string, int> ops;
};

Found quantize(const Stream& stream, Scheme scheme) {
  const frontends::Source source = stream.source();
  driver::CompileOptions compile;
  CompactOptions options;
  options.scheme = scheme;
  CompactQuantizer q(source, compile, options);
  Steps samples;
  ir::Problems problems;
  Measurement m;
  driver::CompileResult result;
  driver::HostProgram program;
  Found found;
  std::string error;
  EXPECT_TRUE(q.choose(nullptr, nullptr, &problems) && q.measure(samples, {}, nullptr, &m, &problems) &&
              q.compile(q.evidence(), &result, &problems))
      << why(problems);
  if (!problems.empty() || !program.open(result.file.span(), {}, {}, &error)) return found;
  for (const OutputMeasure& o : m.outputs) found.db.push_back(o.sqnr_db);
  for (const Instruction& n : program.program().table().instructions)
    if (const OpDoc* doc = find_op_doc(n.op)) ++found.ops[doc->name];
  return found;
}

TEST(Expose, WeightsOfAStepAndOfBranchesBecomeSmall) {
  for (const bool batch_first : {false, true}) {
    for (const auto& [scheme, least] : {std::pair{Scheme::kFp16Weights, 55.0},
                                        {Scheme::kInt8Weights, 34.0},
                                        {Scheme::kInt8Dynamic, 30.0},
                                        {Scheme::kInt4Weights, 13.0}}) {
      SCOPED_TRACE(std::string(kSchemeNames[static_cast<size_t>(scheme)]) + (batch_first ? ", batch first" : ""));
      Found f = quantize({batch_first, true}, scheme);
      ASSERT_EQ(f.db.size(), 3u);
      for (const double db : f.db) EXPECT_GT(db, least);
      EXPECT_EQ(f.ops["lstm"], 0);
      EXPECT_EQ(f.ops["cast"], 0);
      // Two of the step, one in each branch; only one branch has a dynamic input of its own.
      EXPECT_EQ(f.ops["q_matmul"], scheme == Scheme::kInt8Dynamic ? 3 : 0);
      EXPECT_EQ(f.ops["matmul"] + f.ops["q_matmul"], 4);
    }
  }
}

TEST(Expose, UnusualLayersStay) {
  Found f = quantize({false, false}, Scheme::kInt8Weights);
  EXPECT_EQ(f.ops["lstm"], 1);
  EXPECT_EQ(f.ops["matmul"], 2);
}

}  // namespace
}  // namespace mote::quant
