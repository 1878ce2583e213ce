#include "mote/ops/asinh/asinh.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpAsinh, MatchesOracle) {
  check_unary(OpId::asinh, NoAttrs{}, ops::asinh::Types{}, [](double x) { return std::asinh(x); }, {-9, 9});
}

TEST(OpAsinh, KnownValues) {
  const auto r = run(OpId::asinh, NoAttrs{}, {Array::of<double>({4}, {0, 1, -0.5, 2})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, 0.881373587019543, -0.48121182505960347, 1.4436354751788103});
}

TEST(OpAsinh, InfinityStays) {
  const auto r = run(OpId::asinh, NoAttrs{}, {Array::of<float>({3}, {INFINITY, -INFINITY, NAN})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {INFINITY, -INFINITY, NAN});
}

TEST(OpAsinh, RefusesIntegers) { EXPECT_EQ(run(OpId::asinh, NoAttrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
