#include "mote/ops/hard_swish/hard_swish.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpHardSwish, MatchesOracle) {
  const auto oracle = [](double x) { return x <= -3 ? x * 0 : x >= 3 ? x : x * (x + 3) / 6; };
  check_unary(OpId::hard_swish, NoAttrs{}, ops::hard_swish::Types{}, oracle, {-5, 5});
}

TEST(OpHardSwish, KnownValues) {
  const auto r = run(OpId::hard_swish, NoAttrs{}, {Array::of<float>({8}, {-4, -3, -1.5, 0, 1.5, 3, 1000, 3e38})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, 0, -0.375, 0, 1.125, 3, 1000, 3e38});
}

TEST(OpHardSwish, MinusInfinityGivesNan) {
  const auto r = run(OpId::hard_swish, NoAttrs{}, {Array::of<float>({3}, {-INFINITY, INFINITY, NAN})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {NAN, INFINITY, NAN});
}

TEST(OpHardSwish, RefusesIntegers) {
  EXPECT_EQ(run(OpId::hard_swish, NoAttrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType);
}

}  // namespace mote::optest
