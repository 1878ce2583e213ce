#include "mote/ops/sigmoid/sigmoid.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpSigmoid, MatchesOracle) {
  check_unary(OpId::sigmoid, NoAttrs{}, ops::sigmoid::Types{}, [](double x) { return 1 / (1 + std::exp(-x)); }, {-9, 9});
}

TEST(OpSigmoid, KnownValues) {
  const auto r = run(OpId::sigmoid, NoAttrs{}, {Array::of<double>({4}, {0, 1, -1, 2})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0.5, 0.7310585786300049, 0.2689414213699951, 0.8807970779778824});
}

TEST(OpSigmoid, LargeValuesEndAtZeroAndOne) {
  const auto r = run(OpId::sigmoid, NoAttrs{}, {Array::of<float>({5}, {1000, -1000, INFINITY, -INFINITY, NAN})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {1, 0, 1, 0, NAN});
}

TEST(OpSigmoid, TailKeepsItsPrecision) {
  const auto r = run(OpId::sigmoid, NoAttrs{}, {Array::of<float>({1}, {-87})});
  EXPECT_NEAR(r.outputs[0].get(0) / std::exp(-87.0), 1, 1e-6);
}

TEST(OpSigmoid, RefusesIntegers) { EXPECT_EQ(run(OpId::sigmoid, NoAttrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
