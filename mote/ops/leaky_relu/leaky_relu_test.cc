#include "mote/ops/leaky_relu/leaky_relu.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpLeakyRelu, MatchesOracle) {
  for (const float slope : {0.01f, 0.2f, 0.0f, 1.5f, -0.5f}) {
    const auto oracle = [=](double x) { return x < 0 ? x * slope : x; };
    check_unary(OpId::leaky_relu, ops::leaky_relu::Attrs{slope}, ops::leaky_relu::Types{}, oracle);
  }
}

TEST(OpLeakyRelu, DefaultSlopeIsAHundredth) {
  const auto r = run(OpId::leaky_relu, ops::leaky_relu::Attrs{}, {Array::of<double>({3}, {-2, 3, NAN})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-2 * double{0.01f}, 3, NAN});
}

TEST(OpLeakyRelu, RefusesIntegers) {
  EXPECT_EQ(run(OpId::leaky_relu, ops::leaky_relu::Attrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType);
}

}  // namespace mote::optest
