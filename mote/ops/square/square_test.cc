#include "mote/ops/square/square.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpSquare, MatchesOracle) {
  check_unary(OpId::square, NoAttrs{}, ops::square::Types{}, [](double x) { return x * x; });
}

TEST(OpSquare, IntegersWrap) {
  const auto r = run(OpId::square, NoAttrs{}, {Array::of<int8_t>({4}, {16, 12, -128, 127})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, -112, 0, 1});
}

TEST(OpSquare, WideIntegersWrap) {
  const auto r = run(OpId::square, NoAttrs{}, {Array::of<int32_t>({3}, {65536, 46341, -2147483648.0})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, -2147479015, 0});
}

TEST(OpSquare, OverflowsToInfinity) {
  const auto r = run(OpId::square, NoAttrs{}, {Array::of<float>({2}, {1e30, -1e30})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {INFINITY, INFINITY});
}

TEST(OpSquare, RefusesBool) { EXPECT_EQ(run(OpId::square, NoAttrs{}, {Array::of<bool>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
