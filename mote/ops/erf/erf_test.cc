#include "mote/ops/erf/erf.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpErf, MatchesOracle) {
  check_unary(OpId::erf, NoAttrs{}, ops::erf::Types{}, [](double x) { return std::erf(x); }, {-3, 3});
}

TEST(OpErf, KnownValues) {
  const auto r = run(OpId::erf, NoAttrs{}, {Array::of<double>({4}, {0, 1, -0.5, 2})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, 0.8427007929497149, -0.5204998778130465, 0.9953222650189527});
}

TEST(OpErf, LargeValuesGiveOne) {
  const auto r = run(OpId::erf, NoAttrs{}, {Array::of<float>({5}, {100, -100, INFINITY, -INFINITY, NAN})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {1, -1, 1, -1, NAN});
}

TEST(OpErf, RefusesIntegers) { EXPECT_EQ(run(OpId::erf, NoAttrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
