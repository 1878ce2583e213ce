#include "mote/compiler/passes/testing.h"

namespace mote::passes {
namespace {

TEST(FuseBatchNormTest, BecomesWeightsAndBias) {
  const char* before = R"(
constant @w: f32[2,1,1,3] = seed 1
method "m"(%0 "x": f32[1,4,4,3]) -> ("y") {
  %1 = conv(%0, @w, f32[2]{1,2}) "Conv_0"
  %2 = batch_norm(%1, f32[2]{1,0.5}, f32[2]{0.5,-1}, f32[2]{0.25,3}, f32[2]{4,0.25}) "BatchNorm_1"
  yield %2
})";
  expect_pass({"fuse_batch_norm"}, before, R"(method "m"(%0 "x": f32[1,4,4,3]) -> ("y") {
  %1: f32[1,4,4,2] = conv(%0, f32[2,1,1,3]{-0.249999687, -0.124999844, 0, 0.37499249, -0.874982476, -0.249994993}, \
    f32[2]{0.874999523, -1.99997997}) "Conv_0+BatchNorm_1"
  yield %1
}
)");
  PassOptions exact;
  exact.exact = true;
  const std::string text = run_all(before, 0, exact);
  EXPECT_NE(text.find("batch_norm"), std::string::npos);
}

TEST(FuseBiasTest, ConstantsOfChannelsGoIntoTheProduct) {
  expect_pass({"fuse_bias"},
              R"(
constant @w: f32[3,3] = seed 1
method "m"(%0 "x": f32[4,3], %1 "z": f32[2,4,3]) -> ("y", "z2") {
  %2 = matmul(%0, @w) "MatMul_0"
  %3 = add(f32[3]{1,2,3}, %2) "Add_1"
  %4 = mul(%3, f32[1,3]{2,1,4}) "Mul_2"
  %5 = sub(%4, f32[]{1}) "Sub_3"
  %6 = matmul(%1, @w) "MatMul_4"
  %7 = add(%6, f32[4,1]{1,2,3,4}) "Add_5"
  yield %5, %7
})",
              R"(method "m"(%0 "x": f32[4,3], %1 "z": f32[2,4,3]) -> ("y", "z2") {
  %2: f32[4,3] = matmul(%0, @w~2, f32[3]{1, 1, 11}) "MatMul_0+Add_1+Mul_2+Sub_3"
  %3: f32[2,4,3] = matmul(%1, @w, f32[4,1]{1, 2, 3, 4}) "MatMul_4+Add_5"
  yield %2, %3
}
)");
}

TEST(FuseBiasTest, OtherUsesAndShapesStayApart) {
  const char* text = R"(method "m"(%0 "x": f32[1,4,4,3], %1 "c": bool[]) -> ("y", "s", "t") {
  %2: f32[1,4,4,2] = conv(%0, f32[2,1,1,3]{1, 2, 3, 4, 5, 6}) "Conv_0"
  %3: f32[1,4,4,2] = add(%2, f32[2]{1, 2}) "Add_1"
  %4: f32[1,4,4,2] = conv(%0, f32[2,1,1,3]{1, 2, 3, 4, 5, 6}) {strides=[1,1,2]} "Conv_2"
  %5: f32[1,4,4,2] = add(%4, f32[4,1]{1, 2, 3, 4}) "Add_3"
  %6: f32[1,4,4,2] = conv(%0, f32[2,1,1,3]{1, 2, 3, 4, 5, 6}) {strides=[1,1,3]} "Conv_4"
  %7: f32[1,4,4,2] = if(%1) {
    %8: f32[1,4,4,2] = add(%6, f32[2]{1, 2})
    yield %8
  } {
    %9: f32[1,4,4,2] = neg(%3)
    yield %9
  }
  yield %3, %5, %2
}
)";
  expect_pass({"fuse_bias"}, text, text);
}

TEST(FuseResidualTest, SumThenActivation) {
  expect_pass({"fuse_residual", "fuse_activation"},
              R"(
constant @w: f32[3,3,3,3] = seed 1
method "m"(%0 "x": f32[1,4,4,3]) -> ("y") {
  %1 = conv(%0, @w) {pads_begin=[1,1], pads_end=[1,1]} "Conv_0"
  %2 = relu(%1) "Relu_1"
  %3 = conv(%2, @w) {pads_begin=[1,1], pads_end=[1,1]} "Conv_2"
  %4 = add(%0, %3) "Add_3"
  %5 = clip(%4) {lo=0, hi=6} "Clip_4"
  yield %5
})",
              R"(method "m"(%0 "x": f32[1,4,4,3]) -> ("y") {
  %1: f32[1,4,4,3] = conv(%0, @w) {pads_begin=[1,1], pads_end=[1,1], activation=2} "Conv_0+Relu_1"
  %2: f32[1,4,4,3] = conv(%1, @w, _, %0) {pads_begin=[1,1], pads_end=[1,1], activation=3} "Conv_2+Add_3+Clip_4"
  yield %2
}
)");
}

TEST(FuseActivationTest, AllThatTheAttributeKnows) {
  for (const char* op : {"relu(%1)", "clip(%1) {lo=-1, hi=0.5}", "leaky_relu(%1) {negative_slope=0.25}", "sigmoid(%1)", "tanh(%1)",
                         "silu(%1)", "hard_swish(%1)", "gelu(%1)", "gelu(%1) {approximate=1}", "hard_sigmoid(%1) {alpha=0.25, beta=0.375}",
                         "elu(%1) {alpha=2}", "softplus(%1)", "mish(%1)"}) {
    const std::string text = run_all(std::string(R"(
constant @w: f32[16,16] = seed 1
method "m"(%0 "x": f32[4,16]) -> ("y") {
  %1 = matmul(%0, @w) "M"
  %2 = )") + op + " \"A\"\n  yield %2\n}");
    EXPECT_NE(text.find("activation="), std::string::npos) << text;
    EXPECT_NE(text.find("\"M+A\""), std::string::npos) << text;
  }
  // Not what the attribute means, or not the only use.
  for (const char* op : {"elu(%1) {scale=2}", "silu(%1) {alpha=2}", "neg(%1)", "add(%1, %1)"}) {
    const std::string text = run_all(std::string(R"(
constant @w: f32[16,16] = seed 1
method "m"(%0 "x": f32[4,16]) -> ("y") {
  %1 = matmul(%0, @w) "M"
  %2 = )") + op + " \"A\"\n  yield %2\n}");
    EXPECT_EQ(text.find("activation="), std::string::npos) << text;
  }
}

TEST(FusePadsTest, ZerosBecomePadding) {
  expect_pass({"fuse_pads"},
              R"(
constant @w: f32[2,3,3,3] = seed 1
constant @v: s8[2,3,3,3] = seed 2
method "m"(%0 "x": f32[1,5,5,3], %1 "q": s8[1,5,5,3]) -> ("a", "b", "c", "d", "e", "f") {
  %2 = pad(%0) {begin=[0,1,2], end=[0,1,0]} "Pad"
  %3 = conv(%2, @w) {pads_begin=[0,1]} "Conv"
  %4 = pad(%1) {begin=[0,1,1], end=[0,1,1], value=-7} "QPad"
  %5 = q_conv(%4, @v) {to=9, input_zero=-7} "QConv"
  %6 = q_conv(%4, @v) {to=9, input_zero=-6} "Other"
  %7 = avg_pool(%2) {kernel=[2,2]} "Avg"
  %8 = max_pool(%2) {kernel=[2,3]} "Max"
  %9 = relu(%0)
  %10 = pad(%9) {begin=[0,1,2], end=[0,1,0]} "Pad2"
  %11 = max_pool(%10) {kernel=[2,3]} "Max2"
  yield %3, %5, %6, %7, %8, %11
})",
              R"(method "m"(%0 "x": f32[1,5,5,3], %1 "q": s8[1,5,5,3]) -> ("a", "b", "c", "d", "e", "f") {
  %2: f32[1,7,7,3] = pad(%0) {begin=[0,1,2], end=[0,1]} "Pad"
  %3: f32[1,5,6,2] = conv(%0, @w) {pads_begin=[1,3], pads_end=[1]} "Pad+Conv"
  %4: s8[1,7,7,3] = pad(%1) {begin=[0,1,1], end=[0,1,1], value=-7} "QPad"
  %5: s32[1,5,5,2] = q_conv(%1, @v) {pads_begin=[1,1], pads_end=[1,1], to=9, input_zero=-7} "QPad+QConv"
  %6: s32[1,5,5,2] = q_conv(%4, @v) {to=9, input_zero=-6} "Other"
  %7: f32[1,6,6,3] = avg_pool(%0) {kernel=[2,2], pads_begin=[1,2], pads_end=[1], count_include_pad=1} "Pad+Avg"
  %8: f32[1,6,5,3] = max_pool(%2) {kernel=[2,3]} "Max"
  %9: f32[1,5,5,3] = relu(%0)
  %10: f32[1,6,5,3] = max_pool(%9) {kernel=[2,3], pads_begin=[1,2], pads_end=[1]} "Pad2+Max2"
  yield %3, %5, %6, %7, %8, %10
}
)");
}

TEST(LiftElementsTest, WhatFollowsASqueezedProductJoinsIt) {
  expect_pass({"lift_elements", "fuse_bias", "lift_elements", "fuse_activation"},
              R"(
constant @w: f32[3,2,1,4] = seed 1
method "m"(%0 "x": f32[1,6,1,4]) -> ("y") {
  %1 = conv(%0, @w) "Conv"
  %2 = reshape(%1) {dims=[1,5,3], rank=3} "Squeeze"
  %3 = add(%2, f32[1,1,3]{1,2,3}) "Add"
  %4 = gelu(%3) "Gelu"
  yield %4
})",
              R"(method "m"(%0 "x": f32[1,6,1,4]) -> ("y") {
  %1: f32[1,5,1,3] = conv(%0, @w, f32[3]{1, 2, 3}) {activation=9} "Conv+Add+Gelu"
  %2: f32[1,5,3] = reshape(%1) {dims=[1,5,3], rank=3} "Squeeze"
  yield %2
}
)");
}

TEST(FuseInputAffineTest, NumbersInFrontGoIntoTheWeights) {
  expect_pass({"fuse_input_affine", "fuse_input_affine"},
              R"(
constant @w: f32[2,2,2,4] = seed 1
constant @v: f32[2,2,2,2] = seed 2
constant @m: f32[9,9] = seed 3
method "m"(%0 "x": f32[1,6,6,4], %1 "z": f32[2,9]) -> ("y", "p") {
  %2 = mul(f32[1]{2}, %0) "Mul"
  %3 = add(%2, f32[]{0.5}) "Add"
  %4 = conv(%3, @w) "Conv"
  %5 = sub(%4, f32[]{1}) "Sub"
  %6 = conv(%5, @v) {pads_begin=[1]} "Padded"
  %7 = sub(%1, f32[]{1}) "Centre"
  %8 = matmul(%7, @m) "M"
  yield %6, %8
})",
              R"(method "m"(%0 "x": f32[1,6,6,4], %1 "z": f32[2,9]) -> ("y", "p") {
  %2: f32[1,5,5,2] = conv(%0, @w, f32[2]{-0.53125, -0.90625}) "Mul+Add+Conv"
  %3: f32[1,5,5,2] = sub(%2, f32[]{1}) "Sub"
  %4: f32[1,5,4,2] = conv(%3, @v) {pads_begin=[1]} "Padded"
  %5: f32[2,9] = matmul(%1, @m, @_2) "Centre+M"
  yield %4, %5
}
)");
}

TEST(MatmulTransposesTest, BecomeAttributes) {
  expect_pass({"matmul_transposes"},
              R"(
method "m"(%0 "a": f32[2,3,4], %1 "b": f32[2,5,4]) -> ("y") {
  %2 = transpose(%1) {perm=[0,2,1], rank=3} "T"
  %3 = matmul(%0, %2) "M"
  yield %3
})",
              R"(method "m"(%0 "a": f32[2,3,4], %1 "b": f32[2,5,4]) -> ("y") {
  %2: f32[2,3,5] = matmul(%0, %1) {transpose_b=1} "T+M"
  yield %2
}
)");
}

}  // namespace
}  // namespace mote::passes
