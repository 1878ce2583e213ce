#include "mote/ops/log2/log2.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpLog2, MatchesOracle) {
  check_unary(OpId::log2, NoAttrs{}, ops::log2::Types{}, [](double x) { return std::log2(x); }, {0.01, 9});
}

TEST(OpLog2, KnownValues) {
  const auto r = run(OpId::log2, NoAttrs{}, {Array::of<double>({4}, {1, 8, 0.25, 10})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, 3, -2, 3.321928094887362});
}

TEST(OpLog2, ZeroGivesMinusInfinityAndNegativeNan) {
  const auto r = run(OpId::log2, NoAttrs{}, {Array::of<float>({4}, {0, -1, -INFINITY, INFINITY})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-INFINITY, NAN, NAN, INFINITY});
}

TEST(OpLog2, RefusesIntegers) { EXPECT_EQ(run(OpId::log2, NoAttrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
