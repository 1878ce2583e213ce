#include "mote/ops/sin/sin.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpSin, MatchesOracle) {
  check_unary(OpId::sin, NoAttrs{}, ops::sin::Types{}, [](double x) { return std::sin(x); }, {-7, 7});
}

TEST(OpSin, KnownValues) {
  const auto r = run(OpId::sin, NoAttrs{}, {Array::of<double>({4}, {0, 1, -0.5, 2})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, 0.8414709848078965, -0.479425538604203, 0.9092974268256817});
}

TEST(OpSin, InfinityGivesNan) {
  const auto r = run(OpId::sin, NoAttrs{}, {Array::of<float>({3}, {INFINITY, -INFINITY, NAN})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {NAN, NAN, NAN});
}

TEST(OpSin, RefusesIntegers) { EXPECT_EQ(run(OpId::sin, NoAttrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
