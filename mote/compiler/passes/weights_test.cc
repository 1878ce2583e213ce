#include "mote/compiler/ir/text.h"
#include "mote/compiler/passes/testing.h"

namespace mote::passes {
namespace {

TEST(WeightsTest, SmallTypesAreReadAsTheyAre) {
  expect_pass({"weights", "dce"},
              R"(
constant @h: f16[4,3] = seed 1
constant @b: s8[3,1,1,4] = seed 2
constant @u: u8[4,3] = seed 3
constant @f: f32[4,3] = seed 4
method "m"(%0 "x": f32[2,4], %1 "z": f32[1,2,2,4]) -> ("a", "b", "c", "d") {
  %2 = cast(@h) {to=1} "Cast"
  %3 = matmul(%0, %2) "half"
  %4 = dequantize(@b, f32[3]{1,2,3}) {axis=0}
  %5 = conv(%1, %4, f32[3]{1,2,3}) "bytes"
  %6 = dequantize(@u, f32[]{0.5}, u8[]{128})
  %7 = matmul(%0, %6) "unsigned"
  %8 = matmul(%0, @f) "rows"
  yield %3, %5, %7, %8
})",
              R"(method "m"(%0 "x": f32[2,4], %1 "z": f32[1,2,2,4]) -> ("a", "b", "c", "d") {
  %2: f32[2,3] = matmul(%0, @h) {transpose_b=1} "half"
  %3: f32[1,2,2,3] = conv(%1, @b, f32[3]{1, 2, 3}, _, f32[3]{1, 2, 3}) "bytes"
  %4: f32[2,3] = matmul(%0, @u, _, _, f32[3]{0.5, 0.5, 0.5}) {transpose_b=1} "unsigned"
  %5: f32[2,3] = matmul(%0, @f) {transpose_b=1} "rows"
  yield %2, %3, %4, %5
}
)");
}

TEST(WeightsTest, UnsignedIntegerWeightsBecomeSigned) {
  expect_pass({"weights"},
              R"(
constant @w: u8[3,4] = seed 1
method "m"(%0 "x": u8[2,4]) -> ("a", "b") {
  %1 = q_matmul(%0, @w) {to=9, input_zero=7, weight_zero=120} "one"
  %2 = q_matmul(%0, @w, _, _, _, _, u8[3]{1,2,130}) {to=9} "each"
  yield %1, %2
})",
              R"(method "m"(%0 "x": u8[2,4]) -> ("a", "b") {
  %1: s32[2,3] = q_matmul(%0, @w) {to=9, input_zero=7, weight_zero=-8} "one"
  %2: s32[2,3] = q_matmul(%0, @w, _, _, _, _, s32[3]{-127, -126, 2}) {to=9} "each"
  yield %1, %2
}
)");
}

TEST(PackTest, WeightsBecomePanelsUnlessOthersReadThem) {
  expect_pass({"pack"},
              R"(
constant @c: f32[20,3,3,4] = seed 1
constant @q: s8[5,10] = seed 2
constant @h: bf16[5,7] = seed 3
constant @n: s4[5,10] = hex"00112233445566778899aabbccddeeff0123456789abcdeffe"
constant @shared: f32[7,10] = seed 5
constant @plain: f32[10,7] = seed 6
method "m"(%0 "x": f32[1,5,5,4], %1 "y": s8[2,10], %2 "z": f32[2,7], %3 "u": f32[2,10],
            %4 "i": s64[2]) -> ("a", "b", "c", "d", "e", "f", "g") {
  %5 = conv(%0, @c) "conv"
  %6 = q_matmul(%1, @q) {to=9} "q"
  %7 = matmul(%2, @h) {transpose_b=1} "half"
  %8 = matmul(%3, @n, _, _, f32[5]{1,2,3,4,5}) {transpose_b=1} "nibbles"
  %9 = matmul(%3, @shared) {transpose_b=1} "tied"
  %10 = mul(@shared, f32[]{2})
  %11 = matmul(%3, @plain) "columns"
  yield %5, %6, %7, %8, %9, %10, %11
})",
              R"(method "m"(%0 "x": f32[1,5,5,4], %1 "y": s8[2,10], %2 "z": f32[2,7], %3 "u": f32[2,10], \
          %4 "i": s64[2]) -> ("a", "b", "c", "d", "e", "f", "g") {
  %5: f32[1,3,3,20] = conv(%0, @c) "conv"
  %6: s32[2,5] = q_matmul(%1, @q) {to=9} "q"
  %7: f32[2,5] = matmul(%2, @h) {transpose_b=1} "half"
  %8: f32[2,5] = matmul(%3, @n, _, _, f32[5]{1, 2, 3, 4, 5}) {transpose_b=1} "nibbles"
  %9: f32[2,7] = matmul(%3, @shared) {transpose_b=1} "tied"
  %10: f32[7,10] = mul(@shared, f32[]{2})
  %11: f32[2,7] = matmul(%3, @plain) "columns"
  yield %5, %6, %7, %8, %9, %10, %11
}
)");
}

TEST(PackTest, LayoutAndZerosAtTheEnd) {
  ir::Graph g;
  std::string error;
  ASSERT_TRUE(ir::parse(R"(
constant @q: s8[2,5] = hex"01020304050a0b0c0d0e"
method "m"(%0 "x": s8[1,5]) -> ("y") {
  %1 = q_matmul(%0, @q) {to=9}
  yield %1
})",
                        g, &error))
      << error;
  EXPECT_TRUE(run_pass("pack", g));
  const std::string zeros(14 * 8, '0');
  EXPECT_NE(ir::print(g).find("constant @q: s8[2,5] panel16k4pairs = hex\"01020304"
                              "0a0b0c0d" +
                              zeros +
                              "05000000"
                              "0e000000" +
                              zeros + "\""),
            std::string::npos)
      << ir::print(g);
}

}  // namespace
}  // namespace mote::passes
