#include "mote/ops/atan/atan.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpAtan, MatchesOracle) {
  check_unary(OpId::atan, NoAttrs{}, ops::atan::Types{}, [](double x) { return std::atan(x); }, {-6, 6});
}

TEST(OpAtan, KnownValues) {
  const auto r = run(OpId::atan, NoAttrs{}, {Array::of<double>({4}, {0, 1, -1, 2})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, 0.7853981633974483, -0.7853981633974483, 1.1071487177940904});
}

TEST(OpAtan, InfinityGivesARightAngle) {
  const auto r = run(OpId::atan, NoAttrs{}, {Array::of<float>({3}, {INFINITY, -INFINITY, NAN})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {1.5707963267948966, -1.5707963267948966, NAN});
}

TEST(OpAtan, RefusesIntegers) { EXPECT_EQ(run(OpId::atan, NoAttrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
