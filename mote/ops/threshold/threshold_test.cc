#include "mote/ops/threshold/threshold.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpThreshold, MatchesOracle) {
  const ops::threshold::Attrs cases[] = {{}, {1, 0}, {-1.5f, 7}, {0.5f, -INFINITY}};
  for (const ops::threshold::Attrs& a : cases) {
    const auto oracle = [=](double x) { return std::isnan(x) || x > a.threshold ? x : a.value; };
    check_unary(OpId::threshold, a, ops::threshold::Types{}, oracle);
  }
}

TEST(OpThreshold, TheThresholdItselfIsReplaced) {
  const auto r = run(OpId::threshold, ops::threshold::Attrs{1, 20}, {Array::of<float>({4}, {1, 1.5, -3, NAN})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {20, 1.5, 20, NAN});
}

TEST(OpThreshold, RefusesIntegers) {
  EXPECT_EQ(run(OpId::threshold, ops::threshold::Attrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType);
}

}  // namespace mote::optest
