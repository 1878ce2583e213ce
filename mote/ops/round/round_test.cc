#include "mote/ops/round/round.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpRound, MatchesOracle) {
  const auto oracle = [](double x) {
    if (!std::isfinite(x)) return x;
    const double down = std::floor(x), rest = x - down;
    const bool up = rest > 0.5 || (rest == 0.5 && std::fmod(down, 2) != 0);
    return up ? down + 1 : down;
  };
  check_unary(OpId::round, NoAttrs{}, ops::round::Types{}, oracle);
}

TEST(OpRound, HalvesGoToTheEvenNeighbour) {
  for (DType type : types_of(FloatTypes{})) {
    const auto r = run(OpId::round, NoAttrs{}, {Array::from(type, {8}, {0.5, 1.5, 2.5, 3.5, -0.5, -1.5, -2.5, -3.5})});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[0], {0, 2, 2, 4, 0, -2, -2, -4}, 0);
  }
}

TEST(OpRound, JustBelowAHalfAndLargeValues) {
  const auto r = run(OpId::round, NoAttrs{}, {Array::of<double>({3}, {0.49999999999999994, 4503599627370497.0, 1e300})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, 4503599627370497.0, 1e300});
}

TEST(OpRound, IntegersStay) {
  const auto r = run(OpId::round, NoAttrs{}, {Array::of<int64_t>({4}, {-9223372036854775808.0, -3, 0, 4611686018427387904.0})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-9223372036854775808.0, -3, 0, 4611686018427387904.0});
}

TEST(OpRound, KeepsTheSignOfZero) {
  const auto r = run(OpId::round, NoAttrs{}, {Array::of<float>({2}, {-0.0, -0.25})});
  EXPECT_TRUE(std::signbit(r.outputs[0].get(0)));
  EXPECT_TRUE(std::signbit(r.outputs[0].get(1)));
}

TEST(OpRound, RefusesBool) { EXPECT_EQ(run(OpId::round, NoAttrs{}, {Array::of<bool>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
