#include "mote/compiler/ir/verify.h"

#include <gtest/gtest.h>

#include "mote/compiler/ir/text.h"

namespace mote::ir {
namespace {

class VerifyTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string error;
    ASSERT_TRUE(parse(R"(
constant @w: f32[12] = seed 1
state $s: f32[2,3]
method "main"(%0 "x": f32[2,3], %1 "c": bool[]) -> ("y") {
  %2 = relu(%0) "Relu_1"
  %3 = neg(%2) "Neg_2"
  %4 = if(%1) {
    %5 = abs(%3)
    yield %5
  } {
    yield %3
  }
  assign($s, %4)
  %6 = reshape(@w) {dims=[2,6], rank=2}
  yield %4
})",
                      graph_, &error))
        << error;
    ASSERT_EQ(why(), "");
  }
  std::string why() {
    std::string error;
    return verify(graph_, &error) ? "" : error.empty() ? "no reason" : error;
  }
  Node* node(int i) { return std::next(graph_.methods[0].block->nodes.begin(), i)->get(); }
  void expect_broken(const std::string& part) { EXPECT_NE(why().find(part), std::string::npos) << why(); }

  Graph graph_;
};

TEST_F(VerifyTest, FindsUseBeforeDefinition) {
  graph_.move_before(node(1), node(0));
  expect_broken("used before it is defined");
  expect_broken("Neg_2");
}
TEST_F(VerifyTest, FindsValuesOfOtherBlocks) {
  graph_.set_result(*graph_.methods[0].block, 0, node(2)->blocks[0]->results[0]);
  expect_broken("not defined in its block");
}
TEST_F(VerifyTest, FindsWrongUsers) {
  node(0)->outputs[0]->users.clear();
  expect_broken("users");
}
TEST_F(VerifyTest, FindsWrongResultCounts) {
  ++node(0)->outputs[0]->result_uses;
  expect_broken("count of results");
}
TEST_F(VerifyTest, FindsStaleTypes) {
  node(0)->outputs[0]->type.dims[0] = 3;
  expect_broken("infer() says f32[2,3]");
}
TEST_F(VerifyTest, FindsWrongConstantSizes) {
  node(4)->inputs[0]->data = Bytes::copy_of("1234", 4);
  expect_broken("needs 48 bytes, has 4");
}
TEST_F(VerifyTest, FindsWrongArity) {
  graph_.set_input(node(0), 1, node(0)->inputs[0]);
  expect_broken("wrong number of inputs");
}
TEST_F(VerifyTest, FindsBrokenBranches) {
  graph_.add_result(*node(2)->blocks[0], graph_.methods[0].block->arguments[0]);
  expect_broken("a block of if");
}
TEST_F(VerifyTest, FindsBrokenAssigns) {
  graph_.set_input(node(3), 1, graph_.methods[0].block->arguments[1]);
  expect_broken("keeps its type");
}
TEST_F(VerifyTest, FindsOperandsFromElsewhere) {
  Graph other;
  graph_.set_input(node(0), 0, other.scalar<float>(1));
  expect_broken("no value of the graph");
}

}  // namespace
}  // namespace mote::ir
