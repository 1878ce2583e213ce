#include "mote/ops/tanh/tanh.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpTanh, MatchesOracle) {
  check_unary(OpId::tanh, NoAttrs{}, ops::tanh::Types{}, [](double x) { return std::tanh(x); }, {-5, 5});
}

TEST(OpTanh, KnownValues) {
  const auto r = run(OpId::tanh, NoAttrs{}, {Array::of<double>({4}, {0, 1, -0.5, 2})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, 0.7615941559557649, -0.46211715726000974, 0.9640275800758169});
}

TEST(OpTanh, LargeValuesGiveOne) {
  const auto r = run(OpId::tanh, NoAttrs{}, {Array::of<float>({5}, {1000, -1000, INFINITY, -INFINITY, NAN})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {1, -1, 1, -1, NAN});
}

TEST(OpTanh, RefusesIntegers) { EXPECT_EQ(run(OpId::tanh, NoAttrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
