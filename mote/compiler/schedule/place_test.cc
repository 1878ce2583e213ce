// Buffers in banks: an order with a small peak, limits of banks.

#include "mote/compiler/schedule/place.h"

#include <random>

#include "mote/compiler/schedule/testing/run_graph.h"
#include "mote/ops/concat/concat.h"

namespace mote::schedtest {
namespace {

using ir::Graph;
using ir::NodeBuilder;
using ir::Value;

// Four branches, each with a fat middle: written breadth first, all of them would be alive at once.
void make_branches(Graph& g) {
  auto& m = g.add_method("main");
  Value* x = g.add_input(m, "x", DType::f32, {1, 100});
  NodeBuilder b(g, *m.block, "n");
  Value* start = b.op(OpId::exp, {x});
  std::vector<Value*> fat, thin;
  for (int i = 0; i < 4; ++i) fat.push_back(b.op(OpId::concat, ops::concat::Attrs{0}, {start, start, start, start, start, x}));
  for (Value* v : fat) thin.push_back(b.op(OpId::reduce_sum, {v}));
  Value* sum = thin[0];
  for (int i = 1; i < 4; ++i) sum = b.op(OpId::add, {sum, thin[static_cast<size_t>(i)]});
  g.add_output(m, "y", sum);
}

TEST(Place, ReorderingKeepsFewerBuffersAlive) {
  Graph g;
  make_branches(g);
  schedule::Plan written, reordered;
  std::string error;
  schedule::PlanOptions o;
  o.views = false;  // the concatenations shall be real
  ASSERT_TRUE(schedule::make_plan(g, o, &reordered, &error)) << error;
  o.reorder = false;
  ASSERT_TRUE(schedule::make_plan(g, o, &written, &error)) << error;
  EXPECT_GE(written.peak(), 4u * 2400);
  EXPECT_LE(reordered.peak(), 2400u + 400 + 64);
  const std::vector<uint8_t> in = bytes_of(std::vector<float>(100, 0.25f));
  EXPECT_EQ(run(g, {in}), run(g, {in}, {}, o));
}

TEST(Place, BanksThatAreTooSmallGiveAnErrorWithNumbers) {
  Graph g;
  make_branches(g);
  schedule::Plan plan;
  std::string error;
  schedule::PlanOptions o;
  o.banks.resize(1);
  o.banks[0].limit = 1000;
  EXPECT_FALSE(schedule::make_plan(g, o, &plan, &error));
  EXPECT_NE(error.find("1000"), std::string::npos) << error;
}

}  // namespace
}  // namespace mote::schedtest
