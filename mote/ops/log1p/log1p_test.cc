#include "mote/ops/log1p/log1p.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpLog1p, MatchesOracle) {
  check_unary(OpId::log1p, NoAttrs{}, ops::log1p::Types{}, [](double x) { return std::log1p(x); }, {-0.95, 8});
}

TEST(OpLog1p, KnownValues) {
  const auto r = run(OpId::log1p, NoAttrs{}, {Array::of<double>({4}, {0, 1, -0.5, 9})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, 0.6931471805599453, -0.6931471805599453, 2.302585092994046});
}

TEST(OpLog1p, MinusOneGivesMinusInfinityAndLessNan) {
  const auto r = run(OpId::log1p, NoAttrs{}, {Array::of<float>({4}, {-1, -2, -INFINITY, INFINITY})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-INFINITY, NAN, NAN, INFINITY});
}

TEST(OpLog1p, RefusesIntegers) { EXPECT_EQ(run(OpId::log1p, NoAttrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
