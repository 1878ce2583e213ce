#include "mote/ops/shrink/shrink.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpShrink, MatchesOracle) {
  const ops::shrink::Attrs cases[] = {{}, {1.5f, 1.5f}, {0, 0.25f}, {2, -1}};
  for (const ops::shrink::Attrs& a : cases) {
    const auto oracle = [=](double x) { return std::fabs(x) <= a.lambd ? 0 : std::copysign(1.0, x) * (std::fabs(x) - a.bias); };
    check_unary(OpId::shrink, a, ops::shrink::Types{}, oracle);
  }
}

TEST(OpShrink, BoundsThemselvesBecomeZero) {
  const auto r = run(OpId::shrink, ops::shrink::Attrs{1, 0.5f}, {Array::of<float>({4}, {-1, 1, -1.25, 1.25})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, 0, -0.75, 0.75});
}

TEST(OpShrink, ANegativeBoundTakesTheFirstRule) {
  const auto r = run(OpId::shrink, ops::shrink::Attrs{-1, 0.25f}, {Array::of<float>({4}, {-2, 0, 0.5, 2})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-1.75, 0.25, 0.75, 1.75});
}

TEST(OpShrink, NanStaysNan) {
  const auto r = run(OpId::shrink, ops::shrink::Attrs{}, {Array::of<float>({3}, {NAN, INFINITY, -INFINITY})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {NAN, INFINITY, -INFINITY});
}

TEST(OpShrink, RefusesIntegers) {
  EXPECT_EQ(run(OpId::shrink, ops::shrink::Attrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType);
}

}  // namespace mote::optest
