#include "mote/compiler/passes/testing.h"

namespace mote::passes {
namespace {

TEST(QuantProductsTest, ConvWithActivationBecomesOneIntegerNode) {
  // Sums are exact in s32, so one step of the result is all that rounding can differ by.
  expect_pass({"quant_products", "dce"},
              R"(
constant @w: s8[2,3,3,3] = seed 1
method "m"(%0 "x": u8[1,5,5,3]) -> ("y") {
  %1 = dequantize(%0, f32[]{0.02}, u8[]{128}) "DQ_x"
  %2 = dequantize(@w, f32[2]{0.01,0.02}, s8[2]{0,0}) {axis=0} "DQ_w"
  %3 = conv(%1, %2, f32[2]{0.5,-1}) {strides=[2,2], pads_begin=[1,1], pads_end=[1,1], activation=3} "Conv_0"
  %4 = quantize(%3, f32[]{0.05}, u8[]{3}) {to=6} "Q_y"
  yield %4
})",
              R"(method "m"(%0 "x": u8[1,5,5,3]) -> ("y") {
  %1: u8[1,3,3,2] = q_conv(%0, @w, s32[2]{2500, -2500}, f32[2]{0.00399999972, 0.00799999945}) {strides=[2,2], \
    pads_begin=[1,1], pads_end=[1,1], to=6, input_zero=128, output_zero=3, clamp_lo=3, clamp_hi=123} "Conv_0+Q_y"
  yield %1
}
)",
              0.01);
}

TEST(QuantProductsTest, MatmulTransposesItsWeightsAndKeepsF32AtTheEnd) {
  expect_pass({"quant_products", "fold", "dce"},
              R"(
constant @w: s8[4,3] = seed 1
constant @v: s8[3,3] = seed 2
method "m"(%0 "x": s8[2,4]) -> ("y") {
  %1 = dequantize(%0, f32[]{0.5}, s8[]{3})
  %2 = dequantize(@w, f32[3]{0.25,0.5,1}) {axis=1}
  %3 = matmul(%1, %2, f32[3]{1,2,3}) "M0"
  %4 = quantize(%3, f32[]{4}, s8[]{0}) "Q"
  %5 = dequantize(%4, f32[]{4}, s8[]{0})
  %6 = dequantize(@v, f32[]{0.5}, s8[]{1})
  %7 = matmul(%5, %6) {transpose_b=1, alpha=0.5, activation=2} "M1"
  yield %7
})",
              R"(method "m"(%0 "x": s8[2,4]) -> ("y") {
  %1: s8[2,3] = q_matmul(%0, @_2, s32[3]{8, 8, 6}, f32[3]{0.03125, 0.0625, 0.125}) {to=5, input_zero=3} "M0+Q"
  %2: f32[2,3] = q_matmul(%1, @v, _, f32[1]{1}) {to=1, weight_zero=1} "M1"
  %3: f32[2,3] = relu(%2) "M1"
  yield %3
}
)",
              0.02);
}

TEST(QuantProductsTest, WhatCannotBeIntegerStays) {
  const char* text = R"(method "m"(%0 "x": s8[2,4], %1 "f": f32[2,4]) -> ("y", "z", "a") {
  %2: f32[2,4] = dequantize(%0, f32[]{0.5}, s8[]{3})
  %3: f32[4,2] = dequantize(s8[4,2]{1, 2, 3, 4, 5, 6, 7, 8}, f32[4]{1, 2, 3, 4})
  %4: f32[2,2] = matmul(%2, %3) "axis"
  %5: s8[2,2] = quantize(%4, f32[]{4}, s8[]{0}) "Q"
  %6: f32[4,2] = dequantize(s8[4,2]{1, 2, 3, 4, 5, 6, 7, 8}, f32[]{1})
  %7: f32[2,2] = matmul(%1, %6) "float"
  %8: f32[2,2] = matmul(%2, %6) {activation=6} "tanh"
  %9: s8[2,2] = quantize(%8, f32[]{4}, s8[]{0}) "Q"
  yield %5, %7, %9
}
)";
  expect_pass({"quant_products"}, text, text);
}

TEST(QuantMovesTest, IntegersAreMoved) {
  expect_pass({"quant_moves", "dce"},
              R"(
method "m"(%0 "x": u8[1,4,4,2], %1 "z": u8[1,4,4,2]) -> ("y") {
  %2 = dequantize(%0, f32[]{0.5}, u8[]{7})
  %3 = dequantize(%1, f32[]{0.5}, u8[]{7})
  %4 = concat(%2, %3) {axis=3} "Concat"
  %5 = pad(%4) {begin=[0,1], end=[0,1]} "Pad"
  %6 = max_pool(%5) {kernel=[2,2], strides=[2,2]} "Pool"
  %7 = transpose(%6) {perm=[0,3,1,2], rank=4} "T"
  %8 = quantize(%7, f32[]{0.5}, u8[]{7}) {to=6} "Q"
  yield %8
})",
              R"(method "m"(%0 "x": u8[1,4,4,2], %1 "z": u8[1,4,4,2]) -> ("y") {
  %2: u8[1,4,4,4] = concat(%0, %1) {axis=3} "Concat"
  %3: u8[1,6,4,4] = pad(%2) {begin=[0,1], end=[0,1], value=7} "Pad"
  %4: u8[1,3,2,4] = max_pool(%3) {kernel=[2,2], strides=[2,2]} "Pool"
  %5: u8[1,4,3,2] = transpose(%4) {perm=[0,3,1,2], rank=4} "T"
  yield %5
}
)");
}

TEST(QuantMovesTest, AQuantizeGoesInFrontOfAReshape) {
  expect_pass({"quant_moves", "dce"},
              R"(
method "m"(%0 "x": f32[2,4,1,1]) -> ("y") {
  %1 = neg(%0) "Neg"
  %2 = reshape(%1) {dims=[2,4], rank=2} "Flatten"
  %3 = quantize(%2, f32[]{0.5}, u8[]{7}) {to=6} "Q"
  yield %3
})",
              R"(method "m"(%0 "x": f32[2,4,1,1]) -> ("y") {
  %1: f32[2,4,1,1] = neg(%0) "Neg"
  %2: u8[2,4,1,1] = quantize(%1, f32[]{0.5}, u8[]{7}) {to=6} "Q"
  %3: u8[2,4] = reshape(%2) {dims=[2,4], rank=2} "Flatten"
  yield %3
}
)");
}

TEST(QuantElementsTest, SumsProductsMeansAndTables) {
  expect_pass({"quant_elements", "dce"},
              R"(
method "m"(%0 "x": s8[1,4,4,2], %1 "z": s8[1,1,1,2]) -> ("add", "mul", "cat", "avg", "mean", "table") {
  %2 = dequantize(%0, f32[]{0.5}, s8[]{7})
  %3 = dequantize(%1, f32[]{0.25}, s8[]{-2})
  %4 = add(%2, %3) "Add"
  %5 = relu(%4) "Relu"
  %6 = quantize(%5, f32[]{0.75}, s8[]{1}) "Q"
  %7 = mul(%2, %3) "Mul"
  %8 = quantize(%7, f32[]{2}, s8[]{1}) "Q"
  %9 = dequantize(%0, f32[]{1}, s8[]{0})
  %10 = concat(%2, %9) {axis=-1} "Cat"
  %11 = quantize(%10, f32[]{0.75}, s8[]{1}) "Q"
  %12 = avg_pool(%2) {kernel=[2,2]} "Avg"
  %13 = quantize(%12, f32[]{0.4}, s8[]{1}) "Q"
  %14 = reduce_mean(%2) {axes=[1,2], axis_count=2} "Mean"
  %15 = quantize(%14, f32[]{0.4}, s8[]{1}) "Q"
  %16 = hard_swish(%2) "H"
  %17 = mul(f32[1]{0.5}, %16) "S"
  %18 = quantize(%17, f32[]{0.25}, u8[]{9}) {to=6} "Q"
  yield %6, %8, %11, %13, %15, %18
})",
              R"(method "m"(%0 "x": s8[1,4,4,2], %1 "z": s8[1,1,1,2]) -> ("add", "mul", "cat", "avg", "mean", "table") {
  %2: s8[1,4,4,2] = q_add(%0, %1) {mode=1, a_zero=7, b_zero=-2, y_zero=1, a_scale=0.5, b_scale=0.25, y_scale=0.75, clamp_lo=1} "Add+Relu+Q"
  %3: s8[1,4,4,2] = q_mul(%0, %1) {mode=1, a_zero=7, b_zero=-2, y_zero=1, a_scale=0.5, b_scale=0.25, y_scale=2} "Mul+Q"
  %4: s8[1,4,4,4] = q_concat(f32[2]{0.5, 1}, s32[2]{7, 0}, %0, %0) {axis=-1, output_scale=0.75, output_zero=1} "Cat+Q"
  %5: s8[1,3,3,2] = q_avg_pool(%0) {kernel=[2,2], mode=1, input_zero=7, output_zero=1, multiplier=1.25} "Avg+Q"
  %6: s8[1,1,1,2] = q_reduce(%0) {axes=[1,2], axis_count=2, mode=1, input_zero=7, output_zero=1, real_multiplier=1.25} "Mean+Q"
  %7: u8[1,4,4,2] = q_lut(%0, @_2) "H+S+Q"
  yield %2, %3, %4, %5, %6, %7
}
)",
              0.01);
}

// What is constant may be the data, not a parameter: every integer form with constants of every shape that can pass for one.
TEST(QuantElementsTest, TheDataMayBeConstant) {
  const char* functions[] = {"relu(%1)",
                             "hard_swish(%1)",
                             "sigmoid(%1)",
                             "mul(%1, f32[]{0.5})",
                             "mul(f32[1]{0.5}, %1)",
                             "sub(f32[]{0.5}, %1)",
                             "prelu(%1, f32[1]{0.25})",
                             "pow(%1, f32[]{2})",
                             "add(%1, %1)",
                             "mul(%1, %1)",
                             "sub(%1, f32[1]{0.25})",
                             "reduce_mean(%1) {keep_dims=1}",
                             "reduce_sum(%1) {keep_dims=1}"};
  for (const std::string shape : {"[]", "[1]", "[5]", "[300]", "[2,3]", "[1,4,4,2]"})
    for (const std::string f : functions)
      for (const std::string type : {"s8", "u8"}) {
        SCOPED_TRACE(f + " of " + type + shape);
        const std::string zero = "f32[]{0.01}, " + type + "[]{3}";
        const std::string to = type == "s8" ? "5" : "6";
        const std::string text =
            run_all("constant @x: " + type + shape + " = seed 1\nmethod \"m\"() -> (\"y\") {\n  %1 = dequantize(@x, " + zero +
                        ")\n  %2 = " + f + "\n  %3 = quantize(%2, f32[]{0.02}, " + type + "[]{3}) {to=" + to + "}\n  yield %3\n}",
                    0.01);
        EXPECT_NE(text, "");
      }
}

// The same of products, windows and moves: data and weights are both constants.
TEST(QuantProductsTest, TheDataMayBeConstant) {
  const char* nodes[] = {"conv(%1, %2)",
                         "max_pool(%1) {kernel=[2,2]}",
                         "avg_pool(%1) {kernel=[2,2]}",
                         "concat(%1, %1) {axis=1}",
                         "pad(%1) {begin=[0,1], end=[0,1]}",
                         "transpose(%1) {perm=[0,3,1,2], rank=4}",
                         "reshape(%1) {dims=[4,8], rank=2}",
                         "matmul(%1, %3)"};
  for (const std::string node : nodes)
    for (const bool per_channel : {false, true}) {
      SCOPED_TRACE(node + (per_channel ? " per channel" : ""));
      const std::string scales = per_channel ? "f32[3]{0.01,0.02,0.03}, s8[3]{0,0,0}) {axis=" : "f32[]{0.01}, s8[]{0}) {axis=";
      const std::string text = run_all(
          "constant @x: s8[1,4,4,2] = seed 1\nconstant @w: s8[3,3,3,2] = seed 2\nconstant @v: s8[2,3] = seed 3\n"
          "method \"m\"() -> (\"y\") {\n  %1 = dequantize(@x, f32[]{0.01}, s8[]{3})\n  %2 = dequantize(@w, " +
              scales + "0}\n  %3 = dequantize(@v, " + scales + "1}\n  %4 = " + node +
              "\n  %5 = quantize(%4, f32[]{0.05}, s8[]{3}) {to=5}\n  yield %5\n}",
          0.02);
      EXPECT_NE(text, "");
    }
}

TEST(QuantElementsTest, AConstantVectorBecomesWhatItsFunctionGives) {
  expect_pass({"quant_elements", "fold", "dce"},
              R"(
method "m"() -> ("y") {
  %1 = dequantize(s8[5]{-100,-3,0,5,99}, f32[]{0.01}, s8[]{0})
  %2 = relu(%1)
  %3 = quantize(%2, f32[]{0.02}, s8[]{0})
  yield %3
})",
              R"(method "m"() -> ("y") {
  yield s8[5]{0, 0, 0, 2, 50}
}
)",
              0);
}

TEST(QuantDynamicTest, ScalesAndBiasGoIntoTheProduct) {
  expect_pass({"quant_dynamic"},
              R"(
constant @w: s8[3,4] = seed 1
method "m"(%0 "x": f32[2,4]) -> ("y") {
  %1, %2, %3 = dynamic_quantize(%0) "DynamicQuantize"
  %4 = q_matmul(%1, @w, _, _, _, %3) {to=9} "MatMulInteger"
  %5 = cast(%4) {to=1} "Cast"
  %6 = mul(%2, f32[3]{0.5,0.25,1}) "Scales"
  %7 = mul(%5, %6) "Mul"
  %8 = add(f32[3]{1,2,3}, %7) "Add"
  yield %8
})",
              R"(method "m"(%0 "x": f32[2,4]) -> ("y") {
  %1: u8[2,4], %2: f32[], %3: u8[] = dynamic_quantize(%0) "DynamicQuantize"
  %4: f32[2,3] = q_matmul(%1, @w, f32[3]{1, 2, 3}, f32[3]{0.5, 0.25, 1}, _, %3, _, %2) {to=1} "MatMulInteger+Cast+Mul+Add"
  yield %4
}
)");
}

}  // namespace
}  // namespace mote::passes
