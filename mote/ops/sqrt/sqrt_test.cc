#include "mote/ops/sqrt/sqrt.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpSqrt, MatchesOracle) {
  check_unary(OpId::sqrt, NoAttrs{}, ops::sqrt::Types{}, [](double x) { return std::sqrt(x); }, {0, 9});
}

TEST(OpSqrt, KnownValues) {
  const auto r = run(OpId::sqrt, NoAttrs{}, {Array::of<double>({4}, {0, 1, 2, 6.25})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, 1, 1.4142135623730951, 2.5});
}

TEST(OpSqrt, NegativeGivesNan) {
  const auto r = run(OpId::sqrt, NoAttrs{}, {Array::of<float>({4}, {-1, -1e-30, -INFINITY, INFINITY})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {NAN, NAN, NAN, INFINITY});
}

TEST(OpSqrt, RefusesIntegers) { EXPECT_EQ(run(OpId::sqrt, NoAttrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
