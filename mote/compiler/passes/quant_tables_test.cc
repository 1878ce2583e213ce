#include "mote/compiler/passes/testing.h"

namespace mote::passes {
namespace {

TEST(QuantTablesTest, FunctionsOfOneTensorBecomeOneTable) {
  expect_pass({"quant_tables", "dce"},
              R"(
constant @t: u8[256] = seed 1
method "m"(%0 "x": u8[1,4,4,3], %1 "other": u8[1,1,1,3]) -> ("y", "z") {
  %2 = q_lut(%0, @t) "Sigmoid_0"
  %3 = q_mul(%0, %2) {mode=1, a_zero=5, b_zero=0, y_zero=3, a_scale=0.5, b_scale=0.00390625, y_scale=0.25} "Mul_0"
  %4 = q_lut(%3, @t) "Sigmoid_1"
  %5 = q_mul(%4, %1) {mode=1, a_scale=0.5, b_scale=0.25, y_scale=0.5} "Scale"
  yield %4, %5
})",
              R"(method "m"(%0 "x": u8[1,4,4,3], %1 "other": u8[1,1,1,3]) -> ("y", "z") {
  %2: u8[1,4,4,3] = q_lut(%0, @_2) "Sigmoid_0+Mul_0+Sigmoid_1"
  %3: u8[1,4,4,3] = q_mul(%2, %1) {mode=1, a_scale=0.5, b_scale=0.25, y_scale=0.5} "Scale"
  yield %2, %3
}
)",
              0);
}

}  // namespace
}  // namespace mote::passes
