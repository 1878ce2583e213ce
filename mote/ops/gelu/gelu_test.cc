#include "mote/ops/gelu/gelu.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpGelu, MatchesOracle) {
  const auto oracle = [](double x) { return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0))); };
  check_unary(OpId::gelu, ops::gelu::Attrs{0}, ops::gelu::Types{}, oracle, {-6, 6});
}

TEST(OpGelu, TanhFormulaMatchesOracle) {
  const double pi = std::acos(-1.0);
  const auto oracle = [=](double x) { return x / 2 * (1 + std::tanh(std::sqrt(2 / pi) * (x + 0.044715 * std::pow(x, 3)))); };
  check_unary(OpId::gelu, ops::gelu::Attrs{1}, ops::gelu::Types{}, oracle, {-6, 6});
}

TEST(OpGelu, KnownValues) {
  const auto r = run(OpId::gelu, ops::gelu::Attrs{0}, {Array::of<double>({3}, {0, 1, -1})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, 0.8413447460685429, -0.15865525393145707});
}

TEST(OpGelu, LargeValuesDoNotOverflow) {
  for (const int32_t approximate : {0, 1}) {
    const auto r = run(OpId::gelu, ops::gelu::Attrs{approximate}, {Array::of<float>({5}, {1e30, -1e30, INFINITY, -INFINITY, NAN})});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_values(r.outputs[0], {1e30, 0, INFINITY, NAN, NAN});
  }
}

TEST(OpGelu, RefusesAnUnknownFormula) {
  for (const int32_t approximate : {-1, 2})
    EXPECT_EQ(run(OpId::gelu, ops::gelu::Attrs{approximate}, {Array::of<float>({1}, {1})}).status.why(), Why::kAttribute);
}

TEST(OpGelu, RefusesIntegers) { EXPECT_EQ(run(OpId::gelu, ops::gelu::Attrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
