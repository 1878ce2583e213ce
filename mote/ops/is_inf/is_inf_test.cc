#include "mote/ops/is_inf/is_inf.h"

#include <cmath>

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpIsInf, MatchesOracle) {
  ElementwiseOptions options;
  options.in_place = false;
  for (const int32_t negative : {0, 1}) {
    for (const int32_t positive : {0, 1}) {
      const auto oracle = [=](double x) { return (negative == 1 && x == -INFINITY) || (positive == 1 && x == INFINITY); };
      check_unary(OpId::is_inf, ops::is_inf::Attrs{negative, positive}, ops::is_inf::Types{}, oracle, options);
    }
  }
}

TEST(OpIsInf, CountsBothSignsUnlessToldOtherwise) {
  const Array x = Array::of<float>({4}, {-INFINITY, INFINITY, NAN, 3e38});
  const auto r = run(OpId::is_inf, ops::is_inf::Attrs{}, {x});
  ASSERT_TRUE(r.ok()) << r.message();
  EXPECT_EQ(r.outputs[0].dtype(), DType::boolean);
  expect_values(r.outputs[0], {1, 1, 0, 0});
  expect_values(run(OpId::is_inf, ops::is_inf::Attrs{0, 1}, {x}).outputs[0], {0, 1, 0, 0});
  expect_values(run(OpId::is_inf, ops::is_inf::Attrs{1, 0}, {x}).outputs[0], {1, 0, 0, 0});
}

TEST(OpIsInf, RefusesOddSwitches) {
  for (const auto& a : {ops::is_inf::Attrs{2, 1}, ops::is_inf::Attrs{1, -1}})
    EXPECT_EQ(run(OpId::is_inf, a, {Array::of<float>({1}, {1})}).status.why(), Why::kAttribute);
}

TEST(OpIsInf, RefusesIntegers) {
  EXPECT_EQ(run(OpId::is_inf, ops::is_inf::Attrs{}, {Array::of<int32_t>({1}, {1})}).status.why(), Why::kDType);
}

}  // namespace mote::optest
