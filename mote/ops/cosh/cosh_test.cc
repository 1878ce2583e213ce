#include "mote/ops/cosh/cosh.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpCosh, MatchesOracle) {
  check_unary(OpId::cosh, NoAttrs{}, ops::cosh::Types{}, [](double x) { return std::cosh(x); }, {-5, 5});
}

TEST(OpCosh, KnownValues) {
  const auto r = run(OpId::cosh, NoAttrs{}, {Array::of<double>({4}, {0, 1, -0.5, 2})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {1, 1.5430806348152437, 1.1276259652063807, 3.7621956910836314});
}

TEST(OpCosh, OverflowsToInfinity) {
  const auto r = run(OpId::cosh, NoAttrs{}, {Array::of<float>({5}, {1000, -1000, INFINITY, -INFINITY, NAN})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {INFINITY, INFINITY, INFINITY, INFINITY, NAN});
}

TEST(OpCosh, RefusesIntegers) { EXPECT_EQ(run(OpId::cosh, NoAttrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
