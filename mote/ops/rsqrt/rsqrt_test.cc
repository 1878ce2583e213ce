#include "mote/ops/rsqrt/rsqrt.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpRsqrt, MatchesOracle) {
  check_unary(OpId::rsqrt, NoAttrs{}, ops::rsqrt::Types{}, [](double x) { return 1 / std::sqrt(x); }, {0.05, 9});
}

TEST(OpRsqrt, KnownValues) {
  const auto r = run(OpId::rsqrt, NoAttrs{}, {Array::of<double>({4}, {1, 2, 4, 0.0625})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {1, 0.7071067811865476, 0.5, 4});
}

TEST(OpRsqrt, ZeroGivesInfinityAndNegativeNan) {
  const auto r = run(OpId::rsqrt, NoAttrs{}, {Array::of<float>({3}, {0, -1, INFINITY})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {INFINITY, NAN, 0});
}

TEST(OpRsqrt, RefusesIntegers) { EXPECT_EQ(run(OpId::rsqrt, NoAttrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
