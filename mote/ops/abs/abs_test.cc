#include "mote/ops/abs/abs.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpAbs, MatchesOracle) {
  check_unary(OpId::abs, NoAttrs{}, ops::abs::Types{}, [](double x) { return x < 0 || std::signbit(x) ? -x : x; });
}

TEST(OpAbs, LeastIntegerWraps) {
  auto r = run(OpId::abs, NoAttrs{}, {Array::of<int8_t>({3}, {-128, -127, 127})});
  expect_values(r.outputs[0], {-128, 127, 127});
  r = run(OpId::abs, NoAttrs{}, {Array::of<int32_t>({2}, {-2147483648.0, -2147483647.0})});
  expect_values(r.outputs[0], {-2147483648.0, 2147483647.0});
  r = run(OpId::abs, NoAttrs{}, {Array::of<int64_t>({1}, {-9223372036854775808.0})});
  expect_values(r.outputs[0], {-9223372036854775808.0});
}

TEST(OpAbs, NegativeZeroBecomesZero) {
  const auto r = run(OpId::abs, NoAttrs{}, {Array::of<float>({1}, {-0.0})});
  EXPECT_FALSE(std::signbit(r.outputs[0].get(0)));
}

TEST(OpAbs, RefusesBool) { EXPECT_EQ(run(OpId::abs, NoAttrs{}, {Array::of<bool>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
