#include "mote/compiler/passes/testing.h"

namespace mote::passes {
namespace {

TEST(QuantResidualTest, ASumBecomesPartOfTheConvolutionThatOnlyItReads) {
  expect_pass({"quant_residual", "dce"},
              R"(
constant @w: s8[3,1,1,3] = seed 1
method "m"(%0 "x": s8[1,4,4,3], %1 "r": s8[1,4,4,3]) -> ("y", "z") {
  %2 = q_conv(%0, @w, _, f32[]{0.0078125}) {input_zero=1, output_zero=2} "Conv_0"
  %3 = q_add(%1, %2) {mode=1, a_zero=5, b_zero=2, y_zero=3, a_scale=0.5, b_scale=0.25, y_scale=0.75, clamp_lo=3} "Add_0"
  %4 = q_conv(%3, @w, _, f32[]{0.0078125}) "Conv_1"
  %5 = q_add(%4, %4) {mode=1} "twice"
  yield %3, %5
})",
              R"(method "m"(%0 "x": s8[1,4,4,3], %1 "r": s8[1,4,4,3]) -> ("y", "z") {
  %2: s8[1,4,4,3] = q_conv(%0, @w, _, f32[]{0.0078125}, _, _, _, _, %1) {input_zero=1, output_zero=2, sum_mode=1, \
    sum_a_zero=2, sum_b_zero=5, sum_y_zero=3, sum_a_scale=0.25, sum_b_scale=0.5, sum_y_scale=0.75, \
    sum_clamp_lo=3, sum_clamp_hi=2147483647} "Conv_0+Add_0"
  %3: s8[1,4,4,3] = q_conv(%2, @w, _, f32[]{0.0078125}) "Conv_1"
  %4: s8[1,4,4,3] = q_add(%3, %3) {mode=1} "twice"
  yield %2, %4
}
)",
              0);
}

// Without a quantize between them the sum is made of the integer sums: factors are scale of r / (scale of x * scale of w), times 2^21.
TEST(QuantResidualTest, ASumOfFloatsGoesToTheIntegerSums) {
  expect_pass({"quant_products", "dce"},
              R"(
constant @w: s8[2,1,1,3] = seed 1
method "m"(%0 "x": s8[1,4,4,3], %1 "r": s8[1,4,4,2]) -> ("y") {
  %2 = dequantize(%0, f32[]{0.5}, s8[]{3}) "DQ_x"
  %3 = dequantize(@w, f32[2]{0.25,0.5}) {axis=0} "DQ_w"
  %4 = dequantize(%1, f32[]{0.25}, s8[]{7}) "DQ_r"
  %5 = conv(%2, %3) "Conv_0"
  %6 = add(%4, %5) "Add_0"
  %7 = relu(%6) "Relu_0"
  %8 = quantize(%7, f32[]{1}, s8[]{-128}) {to=5} "Q_y"
  yield %8
})",
              R"(method "m"(%0 "x": s8[1,4,4,3], %1 "r": s8[1,4,4,2]) -> ("y") {
  %2: s8[1,4,4,2] = q_conv(%0, s8[2,1,1,3]{-68, -34, 1, 52, -116, -34}, _, f32[2]{0.125, 0.25}, _, _, _, _, %1, \
    s32[2]{4194304, 2097152}) {to=5, input_zero=3, output_zero=-128, clamp_lo=-128, sum_mode=3, \
    sum_b_zero=7, sum_b_shift=-21} "Conv_0+Add_0+Relu_0+Q_y"
  yield %2
}
)",
              0.005);
}

// Three channels: a fourth column of zeros makes rows of 12.
TEST(QuantWindowsTest, RowsAreFilledUpToFours) {
  expect_pass({"quant_windows", "dce"},
              R"(
constant @w: s8[2,2,3,3] = seed 1
method "m"(%0 "x": s8[1,5,6,3]) -> ("y") {
  %1 = q_conv(%0, @w, _, f32[]{0.0078125}) {pads_begin=[0,1], pads_end=[1,1], strides=[1,2], input_zero=5} "Conv_0"
  yield %1
})",
              R"(method "m"(%0 "x": s8[1,5,6,3]) -> ("y") {
  %1: s8[1,5,3,2] = q_conv(%0, @w, _, f32[]{0.0078125}) {strides=[1,2], pads_begin=[0,1], pads_end=[1,2], input_zero=5} "Conv_0"
  yield %1
}
)",
              0);
}

}  // namespace
}  // namespace mote::passes
