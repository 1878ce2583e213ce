#include "mote/ops/expm1/expm1.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpExpm1, MatchesOracle) {
  check_unary(OpId::expm1, NoAttrs{}, ops::expm1::Types{}, [](double x) { return std::expm1(x); }, {-6, 6});
}

TEST(OpExpm1, KnownValues) {
  const auto r = run(OpId::expm1, NoAttrs{}, {Array::of<double>({4}, {0, 1, -1, 0.5})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, 1.718281828459045, -0.6321205588285577, 0.6487212707001282});
}

TEST(OpExpm1, OverflowsToInfinityAndEndsAtMinusOne) {
  const auto r = run(OpId::expm1, NoAttrs{}, {Array::of<float>({4}, {1000, -1000, INFINITY, -INFINITY})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {INFINITY, -1, INFINITY, -1});
}

TEST(OpExpm1, RefusesIntegers) { EXPECT_EQ(run(OpId::expm1, NoAttrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
