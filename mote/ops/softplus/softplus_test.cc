#include "mote/ops/softplus/softplus.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpSoftplus, MatchesOracle) {
  const ops::softplus::Attrs cases[] = {{}, {1, 0}, {2, 3}, {0.5f, 0.25f}, {-1, 20}, {3, -1}};
  for (const ops::softplus::Attrs& a : cases) {
    const auto oracle = [=](double x) {
      const double z = x * a.beta;
      return (a.threshold > 0 && z > a.threshold) || z > 500 ? x : std::log(1 + std::exp(z)) / a.beta;
    };
    check_unary(OpId::softplus, a, ops::softplus::Types{}, oracle, {-8, 8});
  }
}

TEST(OpSoftplus, LargeValuesDoNotOverflow) {
  const Array x = Array::of<float>({6}, {1000, -1000, 3e38, INFINITY, -INFINITY, NAN});
  for (const float threshold : {20.0f, 0.0f}) {
    const auto r = run(OpId::softplus, ops::softplus::Attrs{2, threshold}, {x});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[0], {1000, 0, 3e38, INFINITY, 0, NAN});
  }
}

TEST(OpSoftplus, ThresholdCutsTheBendOff) {
  const Array x = Array::of<double>({2}, {0.5, 1.5});
  expect_values(run(OpId::softplus, ops::softplus::Attrs{1, 1}, {x}).outputs[0], {0.97407698418010669, 1.5});
  expect_values(run(OpId::softplus, ops::softplus::Attrs{1, 0}, {x}).outputs[0], {0.97407698418010669, 1.7014132779827524});
}

TEST(OpSoftplus, RefusesABetaThatCannotDivide) {
  for (const float beta : {0.0f, -0.0f, INFINITY, NAN})
    EXPECT_EQ(run(OpId::softplus, ops::softplus::Attrs{beta, 20}, {Array::of<float>({1}, {1})}).status.why(), Why::kAttribute);
}

TEST(OpSoftplus, RefusesIntegers) {
  EXPECT_EQ(run(OpId::softplus, ops::softplus::Attrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType);
}

}  // namespace mote::optest
