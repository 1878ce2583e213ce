#include "mote/ops/reciprocal/reciprocal.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpReciprocal, MatchesOracle) {
  check_unary(OpId::reciprocal, NoAttrs{}, ops::reciprocal::Types{}, [](double x) { return 1 / x; }, {0.1, 4});
}

TEST(OpReciprocal, KnownValues) {
  const auto r = run(OpId::reciprocal, NoAttrs{}, {Array::of<double>({4}, {1, -2, 8, -0.25})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {1, -0.5, 0.125, -4});
}

TEST(OpReciprocal, ZeroGivesInfinityOfItsSign) {
  const auto r = run(OpId::reciprocal, NoAttrs{}, {Array::of<float>({4}, {0.0, -0.0, INFINITY, -INFINITY})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {INFINITY, -INFINITY, 0, 0});
}

TEST(OpReciprocal, RefusesIntegers) {
  EXPECT_EQ(run(OpId::reciprocal, NoAttrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType);
}

}  // namespace mote::optest
