#include "mote/ops/is_nan/is_nan.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpIsNan, MatchesOracle) {
  ElementwiseOptions options;
  options.in_place = false;
  check_unary(
      OpId::is_nan, NoAttrs{}, ops::is_nan::Types{}, [](double x) { return x != x; }, options);
}

TEST(OpIsNan, AnswersWithBool) {
  const auto r = run(OpId::is_nan, NoAttrs{}, {Array::of<f16>({4}, {1, NAN, -INFINITY, -NAN})});
  ASSERT_TRUE(r.ok()) << r.message();
  EXPECT_EQ(r.outputs[0].dtype(), DType::boolean);
  expect_values(r.outputs[0], {0, 1, 0, 1});
}

TEST(OpIsNan, RefusesIntegers) { EXPECT_EQ(run(OpId::is_nan, NoAttrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType); }

}  // namespace mote::optest
