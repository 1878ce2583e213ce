// Formulas as exporters write them, and the one operator they are.

#include "mote/compiler/passes/testing.h"

namespace mote::passes {
namespace {

// Runs the passes over a method of x: f32[2,3,4]; the body's result is %y.
void expect_becomes(const std::string& body, const std::string& op, const std::string& input = "f32[2,3,4]") {
  const std::string text = run_all("method \"m\"(%x \"x\": " + input + ") -> (\"y\") {\n" + body + "\n  yield %y\n}", 1e-4);
  EXPECT_NE(text.find("%1: " + input + " = " + op), std::string::npos) << text;
  EXPECT_EQ(text.find("%2"), std::string::npos) << text;
}

TEST(ActivationsTest, GeluByErf) {
  for (const char* tail : {"%d = mul(%x, %c)\n %y = mul(%d, f32[]{0.5})", "%d = mul(%x, f32[]{0.5})\n %y = mul(%d, %c)",
                           "%d = mul(f32[1]{0.5}, %c)\n %y = mul(%x, %d)"}) {
    expect_becomes(std::string("%a = div(%x, f32[]{1.4142135})\n %b = erf(%a)\n %c = add(%b, f32[]{1})\n ") + tail, "gelu(%0)");
    expect_becomes(std::string("%a = mul(f32[]{0.70710677}, %x)\n %b = erf(%a)\n %c = add(f32[]{1}, %b)\n ") + tail, "gelu(%0)");
  }
}

TEST(ActivationsTest, GeluByTanh) {
  const char* gelu = "gelu(%0) {approximate=1}";
  const std::string tail = "\n %t = tanh(%u)\n %v = add(%t, f32[]{1})\n %w = mul(%x, %v)\n %y = mul(%w, f32[]{0.5})";
  expect_becomes("%a = pow(%x, f32[]{3})\n %b = mul(%a, f32[]{0.044715})\n %c = add(%x, %b)\n %u = mul(%c, f32[]{0.7978846})" + tail, gelu);
  expect_becomes(
      "%a = mul(%x, %x)\n %b = mul(%a, %x)\n %c = mul(f32[]{0.044715}, %b)\n %d = add(%c, %x)\n %u = mul(f32[]{0.7978846}, %d)" + tail,
      gelu);
  expect_becomes(
      "%a = square(%x)\n %b = mul(%a, f32[]{0.044715})\n %c = add(%b, f32[]{1})\n %d = mul(%x, f32[]{0.7978846})\n %u = mul(%d, %c)" + tail,
      gelu);
}

TEST(ActivationsTest, HardSwishSiluMishSoftplus) {
  expect_becomes("%a = add(%x, f32[]{3})\n %b = clip(%a) {lo=0, hi=6}\n %c = mul(%x, %b)\n %y = div(%c, f32[]{6})", "hard_swish(%0)");
  expect_becomes("%a = add(%x, f32[]{3})\n %b = clip(%a, f32[]{0}, f32[]{6})\n %c = mul(%b, f32[]{0.16666667})\n %y = mul(%x, %c)",
                 "hard_swish(%0)");
  expect_becomes("%a = hard_sigmoid(%x)\n %y = mul(%a, %x)", "hard_swish(%0)");
  expect_becomes("%a = add(%x, f32[]{3})\n %b = relu(%a)\n %c = minimum(%b, f32[]{6})\n %y = div(%c, f32[]{6})", "hard_sigmoid(%0)");
  expect_becomes("%a = sigmoid(%x)\n %y = mul(%x, %a)", "silu(%0)");
  expect_becomes("%a = mul(%x, f32[]{1.75})\n %b = sigmoid(%a)\n %y = mul(%x, %b)", "silu(%0) {alpha=1.75}");
  expect_becomes("%a = exp(%x)\n %b = add(%a, f32[]{1})\n %y = log(%b)", "softplus(%0)");
  expect_becomes("%a = softplus(%x)\n %b = tanh(%a)\n %y = mul(%x, %b)", "mish(%0)");
}

TEST(ActivationsTest, WhatOnlyLooksAlikeStays) {
  const std::string text = run_all(R"(
method "m"(%x "x": f32[2,3], %z "z": f32[2,3]) -> ("a", "b", "c", "d") {
  %1 = sigmoid(%x)
  %2 = mul(%z, %1)
  %3 = add(%x, f32[]{3})
  %4 = clip(%3) {lo=0, hi=6}
  %5 = mul(%x, %4)
  %6 = div(%5, f32[]{5})
  %7 = erf(%x)
  %8 = add(%7, f32[]{1})
  %9 = mul(%x, %8)
  %10 = mul(%9, f32[]{0.5})
  yield %2, %6, %10, %4
})");
  for (const char* op : {"silu", "hard_swish", "hard_sigmoid", "gelu"}) EXPECT_EQ(text.find(op), std::string::npos) << text;
}

TEST(NormsTest, LayerNormWithScaleAndShift) {
  expect_becomes(
      "%m = reduce_mean(%x) {axes=[-1], axis_count=1}\n %d = sub(%x, %m)\n %p = pow(%d, f32[]{2})\n"
      " %v = reduce_mean(%p) {axes=[-1], axis_count=1}\n %e = add(%v, f32[]{0.00001})\n %s = sqrt(%e)\n %n = div(%d, %s)\n"
      " %g = mul(%n, f32[4]{1,2,3,4})\n %y = add(%g, f32[4]{4,3,2,1})",
      "layer_norm(%0, f32[4]{1, 2, 3, 4}, f32[4]{4, 3, 2, 1}) {axis=2}");
  expect_becomes(
      "%m = reduce_mean(%x) {axes=[1,2], axis_count=2}\n %d = sub(%x, %m)\n %v = reduce_var(%x) {axes=[2,1], axis_count=2, correction=0}\n"
      " %e = add(%v, f32[]{0.5})\n %s = rsqrt(%e)\n %y = mul(%d, %s)",
      "layer_norm(%0) {axis=1, epsilon=0.5}");
}

TEST(NormsTest, RmsNormInstanceNormAndLength) {
  expect_becomes(
      "%p = mul(%x, %x)\n %v = reduce_mean(%p) {axes=[2], axis_count=1}\n %e = add(%v, f32[]{0.001})\n %s = sqrt(%e)\n"
      " %r = reciprocal(%s)\n %n = mul(%x, %r)\n %y = mul(f32[4]{1,2,3,4}, %n)",
      "rms_norm(%0, f32[4]{1, 2, 3, 4}) {axis=2, epsilon=0.00100000005}");
  expect_becomes(
      "%m = reduce_mean(%x) {axes=[1], axis_count=1}\n %d = sub(%x, %m)\n %p = square(%d)\n"
      " %v = reduce_mean(%p) {axes=[1], axis_count=1}\n %e = add(%v, f32[]{0.25})\n %s = sqrt(%e)\n %n = div(%d, %s)\n"
      " %g = mul(%n, f32[1,1,4]{1,2,3,4})\n %y = add(%g, f32[4]{4,3,2,1})",
      "instance_norm(%0, f32[4]{1, 2, 3, 4}, f32[4]{4, 3, 2, 1}) {epsilon=0.25}");
  expect_becomes(
      "%l = reduce_l2(%x) {axes=[1], axis_count=1}\n %c = clip(%l) {lo=0.001}\n %e = expand(%c) {dims=[2,3,4], rank=3}\n %y = div(%x, %e)",
      "lp_norm(%0) {axis=1, epsilon=0.00100000005}");
}

TEST(NormsTest, GroupNormOfAnExporter) {
  const std::string text = run_all(R"(
constant @w: f32[6,1,1,6] = seed 1
method "m"(%x "x": f32[2,3,4,6]) -> ("y") {
  %1 = conv(%x, @w) "Conv"
  %2 = transpose(%1) {perm=[0,3,1,2], rank=4} "Conv"
  %3 = reshape(%2) {dims=[2,3,-1], rank=3} "Reshape_1"
  %4 = transpose(%3) {perm=[0,2,1], rank=3} "Norm"
  %5 = instance_norm(%4, f32[3]{1,1,1}, f32[3]{0,0,0}) {epsilon=0.25} "Norm"
  %6 = transpose(%5) {perm=[0,2,1], rank=3} "Norm"
  %7 = reshape(%6) {dims=[2,6,3,4], rank=4} "Reshape_2"
  %8 = mul(%7, f32[6,1,1]{1,2,3,4,5,6}) "Mul"
  %9 = add(%8, f32[6,1,1]{6,5,4,3,2,1}) "Add"
  %10 = transpose(%9) {perm=[0,2,3,1], rank=4} "Next"
  %11 = conv(%10, @w) "Next"
  yield %11
})");
  EXPECT_NE(text.find("group_norm(%1, f32[6]{1, 2, 3, 4, 5, 6}, f32[6]{6, 5, 4, 3, 2, 1}) {groups=3, epsilon=0.25} "
                      "\"Reshape_1+Norm+Reshape_2+Mul+Add\""),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("transpose("), std::string::npos) << text;
}

TEST(AttentionsTest, HeadsScaleAndMask) {
  const std::string text = run_all(R"(
symbol "seq" 1..6
method "m"(%q "q": f32[1,?"seq",2,4], %k "k": f32[1,?"seq",2,4], %v "v": f32[1,?"seq",2,4], %m "m": f32[1,1,1,?"seq"]) -> ("y") {
  %1 = transpose(%q) {perm=[0,2,1,3], rank=4} "Q"
  %2 = transpose(%k) {perm=[0,2,3,1], rank=4} "K"
  %3 = transpose(%v) {perm=[0,2,1,3], rank=4} "V"
  %4 = matmul(%1, %2) "QK"
  %5 = div(%4, f32[]{2}) "Scale"
  %6 = add(%5, %m) "Mask"
  %7 = softmax(%6) "Softmax"
  %8 = matmul(%7, %3) "PV"
  %9 = transpose(%8) {perm=[0,2,1,3], rank=4} "O"
  yield %9
})");
  EXPECT_NE(text.find("%7: f32[1,2,?6,4] = attention(%4, %6, %5, %3) {scale=0.5} \"QK+Scale+Mask+Softmax+PV\""), std::string::npos) << text;
  EXPECT_EQ(text.find("softmax("), std::string::npos) << text;
}

TEST(AttentionsTest, HeadsAsBatches) {
  const std::string text = run_all(R"(
method "m"(%q "q": f32[3,5,4], %k "k": f32[3,6,4], %v "v": f32[3,6,2]) -> ("y") {
  %1 = transpose(%k) {perm=[0,2,1], rank=3}
  %2 = matmul(%q, %1)
  %3 = softmax(%2)
  %4 = matmul(%3, %v)
  yield %4
})");
  EXPECT_NE(text.find("attention("), std::string::npos) << text;
  EXPECT_EQ(text.find("transpose("), std::string::npos) << text;
}

}  // namespace
}  // namespace mote::passes
