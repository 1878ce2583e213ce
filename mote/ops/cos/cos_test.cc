#include "mote/ops/cos/cos.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpCos, MatchesOracle) {
  check_unary(OpId::cos, NoAttrs{}, ops::cos::Types{}, [](double x) { return std::cos(x); }, {-7, 7});
}

TEST(OpCos, KnownValues) {
  const auto r = run(OpId::cos, NoAttrs{}, {Array::of<double>({4}, {0, 1, -0.5, 2})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {1, 0.5403023058681398, 0.8775825618903728, -0.4161468365471424});
}

TEST(OpCos, InfinityGivesNan) {
  const auto r = run(OpId::cos, NoAttrs{}, {Array::of<float>({3}, {INFINITY, -INFINITY, NAN})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {NAN, NAN, NAN});
}

TEST(OpCos, RefusesIntegers) { EXPECT_EQ(run(OpId::cos, NoAttrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
