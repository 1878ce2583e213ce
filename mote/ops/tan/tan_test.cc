#include "mote/ops/tan/tan.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpTan, MatchesOracle) {
  check_unary(OpId::tan, NoAttrs{}, ops::tan::Types{}, [](double x) { return std::tan(x); }, {-1.5, 1.5});
}

TEST(OpTan, KnownValues) {
  const auto r = run(OpId::tan, NoAttrs{}, {Array::of<double>({4}, {0, 1, -0.5, 2})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, 1.5574077246549023, -0.5463024898437905, -2.185039863261519});
}

TEST(OpTan, InfinityGivesNan) {
  const auto r = run(OpId::tan, NoAttrs{}, {Array::of<float>({3}, {INFINITY, -INFINITY, NAN})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {NAN, NAN, NAN});
}

TEST(OpTan, RefusesIntegers) { EXPECT_EQ(run(OpId::tan, NoAttrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
