#include "mote/ops/asin/asin.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpAsin, MatchesOracle) {
  check_unary(OpId::asin, NoAttrs{}, ops::asin::Types{}, [](double x) { return std::asin(x); }, {-1, 1});
}

TEST(OpAsin, KnownValues) {
  const auto r = run(OpId::asin, NoAttrs{}, {Array::of<double>({4}, {0, 1, -1, 0.5})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, 1.5707963267948966, -1.5707963267948966, 0.5235987755982988});
}

TEST(OpAsin, OutsideOfDomainGivesNan) {
  const auto r = run(OpId::asin, NoAttrs{}, {Array::of<float>({4}, {1.5, -2, INFINITY, -INFINITY})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {NAN, NAN, NAN, NAN});
}

TEST(OpAsin, RefusesIntegers) { EXPECT_EQ(run(OpId::asin, NoAttrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
