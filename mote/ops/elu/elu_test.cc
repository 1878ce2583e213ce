#include "mote/ops/elu/elu.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpElu, MatchesOracle) {
  const ops::elu::Attrs cases[] = {{}, {0.5f}, {1.6732632f, 1.0507010f}, {2, 1, 0.5f}, {-1, 3, 2}};
  for (const ops::elu::Attrs& a : cases) {
    const auto oracle = [=](double x) { return double{a.scale} * (x > 0 ? x : double{a.alpha} * (std::exp(x * a.input_scale) - 1)); };
    check_unary(OpId::elu, a, ops::elu::Types{}, oracle);
  }
}

TEST(OpElu, NegativeSideEndsAtMinusAlpha) {
  const auto r = run(OpId::elu, ops::elu::Attrs{1.5f}, {Array::of<float>({5}, {-INFINITY, -1000, 0, INFINITY, NAN})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-1.5, -1.5, 0, INFINITY, NAN});
}

TEST(OpElu, KeepsSmallNegativeValues) {
  const auto r = run(OpId::elu, ops::elu::Attrs{}, {Array::of<float>({1}, {-1e-10})});
  EXPECT_NEAR(r.outputs[0].get(0) / -1e-10, 1, 1e-6);
}

TEST(OpElu, RefusesIntegers) { EXPECT_EQ(run(OpId::elu, ops::elu::Attrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
