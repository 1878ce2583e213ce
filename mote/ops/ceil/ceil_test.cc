#include "mote/ops/ceil/ceil.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpCeil, MatchesOracle) {
  check_unary(OpId::ceil, NoAttrs{}, ops::ceil::Types{}, [](double x) { return std::ceil(x); });
}

TEST(OpCeil, KnownValues) {
  const auto r = run(OpId::ceil, NoAttrs{}, {Array::of<float>({5}, {-1.5, 1.25, 1.75, -2.25, 3})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-1, 2, 2, -2, 3});
}

TEST(OpCeil, IntegersStay) {
  const auto r = run(OpId::ceil, NoAttrs{}, {Array::of<int64_t>({4}, {-9223372036854775808.0, -3, 0, 4611686018427387904.0})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-9223372036854775808.0, -3, 0, 4611686018427387904.0});
}

TEST(OpCeil, KeepsTheSignOfZero) {
  const auto r = run(OpId::ceil, NoAttrs{}, {Array::of<float>({2}, {-0.0, -0.25})});
  EXPECT_TRUE(std::signbit(r.outputs[0].get(0)));
  EXPECT_TRUE(std::signbit(r.outputs[0].get(1)));
}

TEST(OpCeil, RefusesBool) { EXPECT_EQ(run(OpId::ceil, NoAttrs{}, {Array::of<bool>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
