#include "mote/compiler/ir/infer.h"

#include <gtest/gtest.h>

#include "mote/compiler/ir/builder.h"
#include "mote/compiler/ir/sizes.h"
#include "mote/ops/gather/gather.h"
#include "mote/ops/reshape/reshape.h"

namespace mote::ir {
namespace {

TEST(Infer, StaticShapesAndContentsAreKnown) {
  Graph g;
  Method& m = g.add_method("main");
  Value* x = g.add_input(m, "x", DType::f32, {2, 3, 4});
  NodeBuilder b(g, *m.block, "n");
  Value* shape = b.op(OpId::shape_of, {x});
  ASSERT_NE(shape, nullptr) << b.error();
  std::vector<int64_t> ints;
  ASSERT_TRUE(known_ints(*shape, &ints));
  EXPECT_EQ(ints, (std::vector<int64_t>{2, 3, 4}));
  Value* y = b.op(OpId::reshape, {x, b.op(OpId::mul, {shape, g.constant<int64_t>({3}, {1, 1, 1})})});
  ASSERT_NE(y, nullptr) << b.error();
  EXPECT_EQ(y->type, (Type{DType::f32, {2, 3, 4}, 0}));
}

// Found by fuzzing: the strides of a tensor without elements have to fit too.
TEST(Infer, SizesBeyondStridesAreRefusedEvenOfNothing) {
  EXPECT_TRUE((Type{DType::f32, {0, 16384, 32767}, 0}).fits());
  EXPECT_TRUE((Type{DType::s8, {INT32_MAX}, 0}).fits());
  EXPECT_FALSE((Type{DType::f32, {0, 811544692}, 0}).fits());
  EXPECT_FALSE((Type{DType::s8, {0, INT32_MAX, INT32_MAX, INT32_MAX}, 0}).fits());
  EXPECT_FALSE((Type{DType::s8, Dims(9, 1), 0}).fits());
  Graph g;
  Method& m = g.add_method("main");
  Value* x = g.add_input(m, "x", DType::f32, {0, 811544692});
  NodeBuilder b(g, *m.block, "n");
  EXPECT_EQ(b.op(OpId::relu, {x}), nullptr);
  EXPECT_NE(b.error().find("2 GiB"), std::string::npos) << b.error();
}

TEST(Infer, SymbolsGiveBoundsAndDynamicBits) {
  Graph g;
  g.symbols = {{"batch", 1, 4}, {"seq", 2, 128}};
  Method& m = g.add_method("main");
  Value* x = g.add_input(m, "x", DType::f32, {-1, -1, 8}, {0, 1, -1});
  EXPECT_EQ(x->type, (Type{DType::f32, {4, 128, 8}, 3}));
  NodeBuilder b(g, *m.block, "n");
  // Flatten batch and sequence by shape arithmetic, as exporters write it.
  Value* shape = b.op(OpId::shape_of, {x});
  Value* n = b.op(OpId::gather, {shape, g.constant<int64_t>({1}, {0})});
  Value* s = b.op(OpId::gather, {shape, g.constant<int64_t>({1}, {1})});
  Value* wanted = b.op(OpId::concat, {b.op(OpId::mul, {n, s}), g.constant<int64_t>({1}, {8})});
  std::vector<int64_t> ints;
  EXPECT_FALSE(known_ints(*wanted, &ints));
  Value* y = b.op(OpId::reshape, {x, wanted});
  ASSERT_NE(y, nullptr) << b.error();
  EXPECT_EQ(y->type, (Type{DType::f32, {512, 8}, 1}));
}

TEST(Infer, TheLastPartOfASplitIsBoundedByItsOwnLargestSize) {
  struct Range {
    int32_t least, most, parts;
    Dims more;
    int32_t bound;
    uint8_t dynamic;
  };
  // Of 2 and 3 in two parts the last has 1; of 7 to 10 in three it has 1, 2, 3, 2; of 4 to 8 in two 2, 2, 3, 3, 4.
  for (const Range& r : {Range{2, 3, 2, {}, 1, 0}, Range{7, 10, 3, {9}, 3, 1}, Range{4, 8, 2, {}, 4, 1}}) {
    Graph g;
    g.symbols = {{"n", r.least, r.most, r.more}};
    Method& m = g.add_method("main");
    Value* x = g.add_input(m, "x", DType::f32, {-1, 6}, {0, -1});
    Node* split = g.add_node(*m.block, static_cast<uint16_t>(OpId::split), nullptr, 0, {x}, static_cast<size_t>(r.parts), "split");
    std::string error;
    ASSERT_TRUE(infer(*split, &error)) << error;
    EXPECT_EQ(split->outputs.back()->type, (Type{DType::f32, {r.bound, 6}, r.dynamic})) << r.least << ".." << r.most;
    // What reads it agrees.
    NodeBuilder b(g, *m.block, "relu");
    Value* y = b.op(OpId::relu, {split->outputs.back()});
    ASSERT_NE(y, nullptr) << b.error();
    EXPECT_EQ(y->type, split->outputs.back()->type);
    // At every size of the range it has what its type says.
    Probe probe(g);
    for (int32_t n = r.least; n <= r.most; ++n) EXPECT_EQ(probe.refusal_at({n}) + probe.unforeseen(), "") << n;
  }
}

TEST(Infer, AProbeTellsWhatTheSamplesDoNotShow) {
  Graph g;
  g.symbols = {{"n", 7, 10, {}}};
  Method& m = g.add_method("main");
  Value* x = g.add_input(m, "x", DType::f32, {-1, 6}, {0, -1});
  Node* split = g.add_node(*m.block, static_cast<uint16_t>(OpId::split), nullptr, 0, {x}, 3, "split");
  std::string error;
  ASSERT_TRUE(infer(*split, &error)) << error;
  {
    Probe probe(g);
    EXPECT_EQ(probe.refusal_at({8}) + probe.unforeseen(), "");
    EXPECT_EQ(probe.refusal_at({9}), "");
    EXPECT_EQ(probe.unforeseen(), "split: dimension 0 is 3");
    EXPECT_NE(probe.refusal_at({1}), "");
    EXPECT_EQ(probe.unforeseen(), "");
    EXPECT_EQ(probe.refusal_at({10}) + probe.unforeseen(), "");
  }
  // The facts are the old ones: of 8 in three parts the last has 2.
  EXPECT_EQ(split->outputs.back()->facts[2].dims[0], 2);
  EXPECT_EQ(x->facts[2].dims[0], 8);
}

// The sum of an input and a carried value that begins as that input.
TEST(Infer, AProbeFollowsSizesIntoALoop) {
  Graph g;
  g.symbols = {{"n", 2, 10, {}}};
  Method& m = g.add_method("main");
  Value* x = g.add_input(m, "x", DType::f32, {-1, 6}, {0, -1});
  Node* loop = g.add_node(*m.block, kLoop, nullptr, 0, {g.scalar<int64_t>(2), nullptr, x}, 1, "loop");
  Block& body = g.add_block(loop);
  g.add_argument(body, "trip", {DType::s64, {}, 0}, {});
  Value* again = g.add_argument(body, "again", {DType::boolean, {}, 0}, {});
  Value* carried = g.add_argument(body, "carried", x->type, x->facts);
  NodeBuilder b(g, body, "sum");
  Value* sum = b.op(OpId::add, {carried, x});
  ASSERT_NE(sum, nullptr) << b.error();
  body.results = {again, sum};
  std::string error;
  ASSERT_TRUE(infer(*loop, &error)) << error;
  Probe probe(g);
  for (int32_t n = 2; n <= 10; ++n) EXPECT_EQ(probe.refusal_at({n}) + probe.unforeseen(), "") << n;
}

TEST(Infer, DataDependentSizesAreBoundedAndStayDynamic) {
  Graph g;
  Method& m = g.add_method("main");
  Value* x = g.add_input(m, "x", DType::f32, {3, 4});
  NodeBuilder b(g, *m.block, "n");
  Value* where = b.op(OpId::non_zero, {x});
  ASSERT_NE(where, nullptr) << b.error();
  EXPECT_EQ(where->type, (Type{DType::s64, {2, 12}, 2}));
  Value* y = b.op(OpId::add, {where, g.scalar<int64_t>(1)});
  ASSERT_NE(y, nullptr) << b.error();
  EXPECT_EQ(y->type, (Type{DType::s64, {2, 12}, 2}));
}

TEST(Infer, RunTimeShapeIsBoundedByTheDeclaredOne) {
  Graph g;
  Method& m = g.add_method("main");
  Value* x = g.add_input(m, "x", DType::f32, {2, 6});
  Value* shape = g.add_input(m, "shape", DType::s64, {2});
  const ops::reshape::Attrs attrs;
  Node* n = g.add_node(*m.block, static_cast<uint16_t>(OpId::reshape), &attrs, sizeof attrs, {x, shape}, 1, "r");
  std::string error;
  EXPECT_FALSE(infer(*n, &error));
  EXPECT_NE(error.find("nothing bounds it"), std::string::npos) << error;
  n->output()->declared = Type{DType::f32, {3, 4}, 0};
  ASSERT_TRUE(infer(*n, &error)) << error;
  EXPECT_EQ(n->output()->type, (Type{DType::f32, {3, 4}, 3}));
}

TEST(Infer, RefusalNamesOperandsAndReason) {
  Graph g;
  Method& m = g.add_method("main");
  NodeBuilder b(g, *m.block, "n");
  EXPECT_EQ(b.op(OpId::add, {g.add_input(m, "a", DType::f32, {2, 3}), g.add_input(m, "b", DType::f32, {4})}), nullptr);
  EXPECT_EQ(b.error(), "mote::add(f32[2,3], f32[4]): shapes cannot be broadcast together; expected 3, found 4");
  EXPECT_TRUE(m.block->nodes.empty());
}

TEST(Infer, LoopWithKnownTripsStacksItsScanOutputs) {
  Graph g;
  Method& m = g.add_method("main");
  Value* x = g.add_input(m, "x", DType::f32, {2});
  Node* loop = g.add_node(*m.block, kLoop, nullptr, 0, {g.scalar<int64_t>(5), nullptr, x}, 2, "loop");
  Block& body = g.add_block(loop);
  g.add_argument(body, "i", {DType::s64, {}, 0});
  Value* condition = g.add_argument(body, "c", {DType::boolean, {}, 0});
  Value* carried = g.add_argument(body, "x", x->type, x->facts);
  NodeBuilder b(g, body, "n");
  Value* next = b.op(OpId::add, {carried, carried});
  g.add_result(body, condition);
  g.add_result(body, next);
  g.add_result(body, next);
  std::string error;
  ASSERT_TRUE(infer(*loop, &error)) << error;
  EXPECT_EQ(loop->max_trips, 5);
  EXPECT_EQ(loop->output(0)->type, (Type{DType::f32, {2}, 0}));
  EXPECT_EQ(loop->output(1)->type, (Type{DType::f32, {5, 2}, 0}));
}

TEST(Infer, IfJoinsItsBranches) {
  Graph g;
  Method& m = g.add_method("main");
  Value* condition = g.add_input(m, "c", DType::boolean, {});
  Node* node = g.add_node(*m.block, kIf, nullptr, 0, {condition}, 1, "if");
  g.add_result(g.add_block(node), g.constant<float>({2, 3}, std::vector<float>(6)));
  g.add_result(g.add_block(node), g.constant<float>({2, 5}, std::vector<float>(10)));
  std::string error;
  ASSERT_TRUE(infer(*node, &error)) << error;
  EXPECT_EQ(node->output()->type, (Type{DType::f32, {2, 5}, 2}));
}

TEST(Graph, ReplaceAndEraseKeepUses) {
  Graph g;
  Method& m = g.add_method("main");
  Value* x = g.add_input(m, "x", DType::f32, {2});
  NodeBuilder b(g, *m.block, "n");
  Value* y = b.op(OpId::relu, {x});
  Value* z = b.op(OpId::add, {y, y});
  g.add_output(m, "z", z);
  EXPECT_EQ(y->users.size(), 2u);
  g.replace_uses(y, x);
  EXPECT_TRUE(y->unused());
  EXPECT_EQ(x->users.size(), 3u);
  g.erase(y->producer);
  EXPECT_EQ(x->users.size(), 2u);
  EXPECT_EQ(m.block->nodes.size(), 1u);
  g.replace_uses(z, x);
  EXPECT_EQ(m.block->results[0], x);
}

}  // namespace
}  // namespace mote::ir
