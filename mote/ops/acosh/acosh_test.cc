#include "mote/ops/acosh/acosh.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpAcosh, MatchesOracle) {
  check_unary(OpId::acosh, NoAttrs{}, ops::acosh::Types{}, [](double x) { return std::acosh(x); }, {1, 9});
}

TEST(OpAcosh, KnownValues) {
  const auto r = run(OpId::acosh, NoAttrs{}, {Array::of<double>({4}, {1, 1.5, 2, 10})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, 0.9624236501192069, 1.3169578969248166, 2.993222846126381});
}

TEST(OpAcosh, OutsideOfDomainGivesNan) {
  const auto r = run(OpId::acosh, NoAttrs{}, {Array::of<float>({4}, {0.5, -2, -INFINITY, INFINITY})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {NAN, NAN, NAN, INFINITY});
}

TEST(OpAcosh, RefusesIntegers) { EXPECT_EQ(run(OpId::acosh, NoAttrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
