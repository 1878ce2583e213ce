#include "mote/ops/acos/acos.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpAcos, MatchesOracle) {
  check_unary(OpId::acos, NoAttrs{}, ops::acos::Types{}, [](double x) { return std::acos(x); }, {-1, 1});
}

TEST(OpAcos, KnownValues) {
  const auto r = run(OpId::acos, NoAttrs{}, {Array::of<double>({4}, {0, 1, -1, 0.5})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {1.5707963267948966, 0, 3.141592653589793, 1.0471975511965979});
}

TEST(OpAcos, OutsideOfDomainGivesNan) {
  const auto r = run(OpId::acos, NoAttrs{}, {Array::of<float>({4}, {1.5, -2, INFINITY, -INFINITY})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {NAN, NAN, NAN, NAN});
}

TEST(OpAcos, RefusesIntegers) { EXPECT_EQ(run(OpId::acos, NoAttrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
