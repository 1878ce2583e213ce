#include "mote/ops/mish/mish.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpMish, MatchesOracle) {
  // tanh(log(s)) = (s^2 - 1) / (s^2 + 1)
  const auto oracle = [](double x) {
    if (std::isinf(x) && x > 0) return x;
    const double e = std::exp(x), more = e * (e + 2);
    return x * (more / (more + 2));
  };
  check_unary(OpId::mish, NoAttrs{}, ops::mish::Types{}, oracle, {-8, 8});
}

TEST(OpMish, KnownValues) {
  const auto r = run(OpId::mish, NoAttrs{}, {Array::of<double>({3}, {0, 1, -1})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, 0.8650983882673103, -0.30340146137410895});
}

TEST(OpMish, LargeValuesDoNotOverflow) {
  const auto r = run(OpId::mish, NoAttrs{}, {Array::of<float>({4}, {1000, -1000, 1e38, INFINITY})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {1000, 0, 1e38, INFINITY});
}

TEST(OpMish, MinusInfinityGivesNan) {
  const auto r = run(OpId::mish, NoAttrs{}, {Array::of<float>({2}, {-INFINITY, NAN})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {NAN, NAN});
}

TEST(OpMish, RefusesIntegers) { EXPECT_EQ(run(OpId::mish, NoAttrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
