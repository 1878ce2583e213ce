#include "mote/ops/exp/exp.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpExp, MatchesOracle) {
  check_unary(OpId::exp, NoAttrs{}, ops::exp::Types{}, [](double x) { return std::exp(x); }, {-6, 6});
}

TEST(OpExp, KnownValues) {
  const auto r = run(OpId::exp, NoAttrs{}, {Array::of<double>({4}, {0, 1, -1, 0.5})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {1, 2.718281828459045, 0.36787944117144233, 1.6487212707001282});
}

TEST(OpExp, OverflowsToInfinityAndUnderflowsToZero) {
  const auto r = run(OpId::exp, NoAttrs{}, {Array::of<float>({5}, {1000, -1000, INFINITY, -INFINITY, NAN})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {INFINITY, 0, INFINITY, 0, NAN});
}

TEST(OpExp, RefusesIntegers) { EXPECT_EQ(run(OpId::exp, NoAttrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
