#include "mote/compiler/ir/text.h"

#include <gtest/gtest.h>

#include "mote/compiler/ir/verify.h"

namespace mote::ir {
namespace {

// What is printed parses to a graph that verifies and prints the same.
void expect_round_trip(const std::string& text) {
  Graph first, second;
  std::string error;
  ASSERT_TRUE(parse(text, first, &error)) << error;
  EXPECT_TRUE(verify(first, &error)) << error;
  const std::string printed = print(first);
  ASSERT_TRUE(parse(printed, second, &error)) << error << "\n" << printed;
  EXPECT_TRUE(verify(second, &error)) << error;
  EXPECT_EQ(print(second), printed);
}

TEST(TextTest, PrintsOneLineForEachNode) {
  Graph g;
  std::string error;
  ASSERT_TRUE(parse(R"(
constant @w: f32[8,3,3,4] = seed 1
method "main"(%0 "x": f32[1,9,9,4]) -> ("y") {
  %1 = conv(%0, @w, f32[8]{0,1,2,3,4,5,6,-7.5}) {strides=[2,2], pads_begin=[1,1]} "/features/0/Conv"
  %2 = clip(%1) {lo=0, hi=6} "Clip \"6\""
  yield %2
})",
                    g, &error))
      << error;
  TextOptions options;
  options.bytes = false;
  const std::string text = print(g, options);
  EXPECT_EQ(text.substr(text.find("method")),
            R"(method "main"(%0 "x": f32[1,9,9,4]) -> ("y") {
  %1: f32[1,4,4,8] = conv(%0, @w, f32[8]{0, 1, 2, 3, 4, 5, 6, -7.5}) {strides=[2,2], pads_begin=[1,1]} "/features/0/Conv"
  %2: f32[1,4,4,8] = clip(%1) {lo=0, hi=6} "Clip \"6\""
  yield %2
}
)");
  EXPECT_EQ(text.find("constant @w: f32[8,3,3,4] = <1152 bytes "), 0u);
  Graph other;
  EXPECT_FALSE(parse(text, other, &error));
  EXPECT_NE(error.find("bytes"), std::string::npos);
}

TEST(TextTest, RoundTripsOperandsStatesAndNotes) {
  expect_round_trip(R"(
metadata "labels" "cat\ndog"
evidence "source" "a \"b\" \\c"
state $memory: f32[1,4] = hex"0000803f000000000000000000000040"
state $count: s64[]
constant @weights: f32[16,4] panel16 = seed 3
constant @many: s8[20] = seed 4
method "main"(%0 "x": f32[1,4] quant(0.5, -3)) -> ("y", "i") {
  %1: f32[1,16] = matmul(%0, @weights) {transpose_b=1}
  %2: f32[1,3], %3: s64[1,3] = top_k(%1) {k=3}
  _, %5: s64[1,16] = sort(%1)
  %6 = add($memory, %0)
  assign($memory, %6) "remember"
  %7 = add($count, s64[]{1})
  assign($count, %7)
  %8: f32[20] quant(0.25, 1) = dequantize(@many, f32[]{0.25}, s8[]{1})
  yield %8, %3
}
method "reset"() -> () {
  assign($count, s64[]{0})
  yield
})");
}

TEST(TextTest, RoundTripsControlFlow) {
  expect_round_trip(R"(
method "main"(%0 "x": f32[2,3], %1 "c": bool[], %2 "n": s64[]) -> ("y", "z") {
  %3: f32[2,3] = if(%1) "If_1" {
    %4 = neg(%0)
    yield %4
  } {
    yield %0
  }
  %5: f32[2,3], %6: f32[?10,3] = loop(%2, bool[]{1}, %3) trips 10 "Loop" {
    arguments %7: s64[], %8: bool[], %9: f32[2,3]
    %10 = mul(%9, %0)
    %11 = reduce_sum(%10) {axes=[0], axis_count=1, keep_dims=0}
    yield %8, %10, %11
  }
  yield %5, %6
})");
}

TEST(TextTest, RoundTripsDynamicSizes) {
  expect_round_trip(R"(
symbol "batch" 1..8, 7, 5
symbol "time" 4..4, 4, 4
method "main"(%0 "x": f32[?"batch",3]) -> ("y", "n") {
  %1: f32[?8,3] = relu(%0)
  %2: s64[2,?24] = non_zero(%1)
  %3: s64[2,?5] declared s64[?,?5] = non_zero(%1)
  yield %1, %3
})");
}

TEST(TextTest, TellsWhatIsWrong) {
  const auto why = [](const std::string& text) {
    Graph g;
    std::string error;
    EXPECT_FALSE(parse(text, g, &error)) << text;
    return error;
  };
  const std::string head = "method \"m\"(%0 \"x\": f32[2]) -> (\"y\") {\n";
  EXPECT_EQ(why(head + "%1 = relux(%0)\nyield %1 }"), "line 2: unknown operator 'relux'");
  EXPECT_EQ(why(head + "%1 = relu(%7)\nyield %1 }"), "line 2: unknown value %7");
  EXPECT_EQ(why(head + "%1 = clip(%0) {low=1}\nyield %1 }"), "line 2: operator clip has no attribute 'low'");
  EXPECT_EQ(why(head + "%1: f32[3] = relu(%0)\nyield %1 }"), "line 2: value %1 is f32[2], the text says f32[3]");
  EXPECT_EQ(why(head + "%1 = relu(%0)\n%1 = relu(%0)\nyield %1 }"), "line 3: value %1 is defined twice");
  EXPECT_NE(why(head + "%1 = add(%0, f32[3]{1,2,3})\nyield %1 }").find("add"), std::string::npos);
  EXPECT_NE(why("constant @c: f32[2147483647,2147483647] = seed 1").find("too large"), std::string::npos);
  for (const char* broken : {"method", "constant @a: f32[", "symbol \"a\" 1", "symbol \"a\" 1..4, 3\nsymbol \"b\" 1..4",
                             "state $a: f32[2] = hex\"00", "method \"m\"(%0 \"x\": f32[?\"q\"])"})
    EXPECT_FALSE(why(broken).empty());
}

}  // namespace
}  // namespace mote::ir
