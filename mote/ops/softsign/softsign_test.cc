#include "mote/ops/softsign/softsign.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpSoftsign, MatchesOracle) {
  check_unary(OpId::softsign, NoAttrs{}, ops::softsign::Types{}, [](double x) { return x / (1 + std::fabs(x)); });
}

TEST(OpSoftsign, KnownValues) {
  const auto r = run(OpId::softsign, NoAttrs{}, {Array::of<float>({4}, {0, 1, -3, 1e+30})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, 0.5, -0.75, 1});
}

TEST(OpSoftsign, InfinityGivesNan) {
  const auto r = run(OpId::softsign, NoAttrs{}, {Array::of<float>({3}, {INFINITY, -INFINITY, NAN})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {NAN, NAN, NAN});
}

TEST(OpSoftsign, RefusesIntegers) { EXPECT_EQ(run(OpId::softsign, NoAttrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
