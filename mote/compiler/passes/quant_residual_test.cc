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

}  // namespace
}  // namespace mote::passes
