#include "mote/ops/log/log.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpLog, MatchesOracle) {
  check_unary(OpId::log, NoAttrs{}, ops::log::Types{}, [](double x) { return std::log(x); }, {0.01, 9});
}

TEST(OpLog, KnownValues) {
  const auto r = run(OpId::log, NoAttrs{}, {Array::of<double>({4}, {1, 2, 10, 0.5})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, 0.6931471805599453, 2.302585092994046, -0.6931471805599453});
}

TEST(OpLog, ZeroGivesMinusInfinityAndNegativeNan) {
  const auto r = run(OpId::log, NoAttrs{}, {Array::of<float>({4}, {0, -1, -INFINITY, INFINITY})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-INFINITY, NAN, NAN, INFINITY});
}

TEST(OpLog, RefusesIntegers) { EXPECT_EQ(run(OpId::log, NoAttrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
