#include "mote/ops/atanh/atanh.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpAtanh, MatchesOracle) {
  check_unary(OpId::atanh, NoAttrs{}, ops::atanh::Types{}, [](double x) { return std::atanh(x); }, {-0.95, 0.95});
}

TEST(OpAtanh, KnownValues) {
  const auto r = run(OpId::atanh, NoAttrs{}, {Array::of<double>({4}, {0, 0.5, -0.5, 0.75})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {0, 0.5493061443340549, -0.5493061443340549, 0.9729550745276566});
}

TEST(OpAtanh, EndsGiveInfinityAndBeyondNan) {
  const auto r = run(OpId::atanh, NoAttrs{}, {Array::of<float>({4}, {1, -1, 1.5, -INFINITY})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {INFINITY, -INFINITY, NAN, NAN});
}

TEST(OpAtanh, RefusesIntegers) { EXPECT_EQ(run(OpId::atanh, NoAttrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
