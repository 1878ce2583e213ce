#include "mote/ops/floor/floor.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpFloor, MatchesOracle) {
  check_unary(OpId::floor, NoAttrs{}, ops::floor::Types{}, [](double x) { return std::floor(x); });
}

TEST(OpFloor, KnownValues) {
  const auto r = run(OpId::floor, NoAttrs{}, {Array::of<float>({5}, {-1.5, 1.25, 1.75, -2.25, 3})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-2, 1, 1, -3, 3});
}

TEST(OpFloor, IntegersStay) {
  const auto r = run(OpId::floor, NoAttrs{}, {Array::of<int64_t>({4}, {-9223372036854775808.0, -3, 0, 4611686018427387904.0})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-9223372036854775808.0, -3, 0, 4611686018427387904.0});
}

TEST(OpFloor, KeepsTheSignOfZero) {
  const auto r = run(OpId::floor, NoAttrs{}, {Array::of<float>({2}, {-0.0, 0.25})});
  EXPECT_TRUE(std::signbit(r.outputs[0].get(0)));
  EXPECT_FALSE(std::signbit(r.outputs[0].get(1)));
}

TEST(OpFloor, RefusesBool) { EXPECT_EQ(run(OpId::floor, NoAttrs{}, {Array::of<bool>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
