#include "mote/ops/silu/silu.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpSilu, MatchesOracle) {
  for (const float alpha : {1.0f, 1.702f, -0.5f}) {
    const auto oracle = [=](double x) { return x / (1 + std::exp(-alpha * x)); };
    check_unary(OpId::silu, ops::silu::Attrs{alpha}, ops::silu::Types{}, oracle, {-8, 8});
  }
}

TEST(OpSilu, KnownValues) {
  const auto r = run(OpId::silu, ops::silu::Attrs{}, {Array::of<double>({3}, {0, 1, -1})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, 0.7310585786300049, -0.2689414213699951});
}

TEST(OpSilu, LargeValuesDoNotOverflow) {
  const auto r = run(OpId::silu, ops::silu::Attrs{}, {Array::of<float>({3}, {1e30, -1e30, INFINITY})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {1e30, 0, INFINITY});
}

TEST(OpSilu, MinusInfinityGivesNan) {
  const auto r = run(OpId::silu, ops::silu::Attrs{}, {Array::of<float>({2}, {-INFINITY, NAN})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {NAN, NAN});
}

TEST(OpSilu, RefusesIntegers) { EXPECT_EQ(run(OpId::silu, ops::silu::Attrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
