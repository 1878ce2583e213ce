#include "mote/ops/sinh/sinh.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpSinh, MatchesOracle) {
  check_unary(OpId::sinh, NoAttrs{}, ops::sinh::Types{}, [](double x) { return std::sinh(x); }, {-5, 5});
}

TEST(OpSinh, KnownValues) {
  const auto r = run(OpId::sinh, NoAttrs{}, {Array::of<double>({4}, {0, 1, -0.5, 2})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, 1.1752011936438014, -0.5210953054937474, 3.626860407847019});
}

TEST(OpSinh, OverflowsToInfinity) {
  const auto r = run(OpId::sinh, NoAttrs{}, {Array::of<float>({5}, {1000, -1000, INFINITY, -INFINITY, NAN})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {INFINITY, -INFINITY, INFINITY, -INFINITY, NAN});
}

TEST(OpSinh, RefusesIntegers) { EXPECT_EQ(run(OpId::sinh, NoAttrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
