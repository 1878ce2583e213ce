#include "mote/ops/exp2/exp2.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpExp2, MatchesOracle) {
  check_unary(OpId::exp2, NoAttrs{}, ops::exp2::Types{}, [](double x) { return std::exp2(x); }, {-8, 8});
}

TEST(OpExp2, KnownValues) {
  const auto r = run(OpId::exp2, NoAttrs{}, {Array::of<double>({4}, {0, 3, -2, 0.5})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {1, 8, 0.25, 1.4142135623730951});
}

TEST(OpExp2, OverflowsToInfinityAndUnderflowsToZero) {
  const auto r = run(OpId::exp2, NoAttrs{}, {Array::of<float>({4}, {1000, -1000, INFINITY, -INFINITY})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {INFINITY, 0, INFINITY, 0});
}

TEST(OpExp2, RefusesIntegers) { EXPECT_EQ(run(OpId::exp2, NoAttrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
