// Places in memory: no two live blocks overlap, the peak is near the bound, banks are kept to.

#include "mote/compiler/schedule/place.h"

#include <random>

#include "mote/compiler/schedule/testing/run_graph.h"
#include "mote/ops/concat/concat.h"

namespace mote::schedtest {
namespace {

using emit::Block;
using ir::Graph;
using ir::NodeBuilder;
using ir::Value;

TEST(Place, LiveBlocksNeverOverlapAndThePeakIsTight) {
  int tight = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    std::vector<Block> blocks(10 + seed * 2);
    for (Block& b : blocks) {
      b.bytes = 16 * (1 + random() % 40) * (random() % 5 == 0 ? 20 : 1);
      const uint32_t first = random() % 60;
      b.life.cover(first, first + random() % 8);
    }
    const uint64_t end = emit::place_blocks(blocks), bound = emit::live_bound(blocks);
    for (const Block& a : blocks) {
      EXPECT_EQ(a.offset % 16, 0u);
      EXPECT_LE(a.offset + a.bytes, end);
      for (const Block& b : blocks) {
        const bool apart = a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset;
        EXPECT_TRUE(&a == &b || apart || !a.life.meets(b.life));
      }
    }
    EXPECT_GE(end, bound);
    tight += end * 100 <= bound * 105;
    std::vector<Block> again = blocks;
    EXPECT_EQ(emit::place_blocks(again), end) << "deterministic";
  }
  EXPECT_GE(tight, 54);
}

TEST(Place, WhatIsUsedOutsideOfALoopLivesThroughIt) {
  emit::LifeScan scan(4);
  scan.repeats(2, 8);
  scan.repeats(4, 6);
  scan.access(0, 1, false);
  scan.access(0, 3, true);  // made before the loop, used in it
  scan.access(1, 3, false);
  scan.access(1, 7, true);  // made and used in each trip; around the inner loop
  scan.access(2, 5, true);  // read before it is written: carried from trip to trip
  scan.access(3, 5, false);
  scan.access(3, 6, true);  // within one trip of the inner loop
  const std::vector<emit::Life> lives = scan.lives();
  EXPECT_EQ(lives[0].first, 1u);
  EXPECT_EQ(lives[0].last, 8u);
  EXPECT_EQ(lives[1].first, 3u);
  EXPECT_EQ(lives[1].last, 7u);
  EXPECT_EQ(lives[2].first, 2u);
  EXPECT_EQ(lives[2].last, 8u);
  EXPECT_EQ(lives[3].first, 5u);
  EXPECT_EQ(lives[3].last, 6u);
}

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
