#include "mote/ops/log10/log10.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpLog10, MatchesOracle) {
  check_unary(OpId::log10, NoAttrs{}, ops::log10::Types{}, [](double x) { return std::log10(x); }, {0.01, 9});
}

TEST(OpLog10, KnownValues) {
  const auto r = run(OpId::log10, NoAttrs{}, {Array::of<double>({4}, {1, 1000, 0.01, 2})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, 3, -2, 0.3010299956639812});
}

TEST(OpLog10, ZeroGivesMinusInfinityAndNegativeNan) {
  const auto r = run(OpId::log10, NoAttrs{}, {Array::of<float>({4}, {0, -1, -INFINITY, INFINITY})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-INFINITY, NAN, NAN, INFINITY});
}

TEST(OpLog10, RefusesIntegers) { EXPECT_EQ(run(OpId::log10, NoAttrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
