#include "mote/ops/less_equal/less_equal.h"

#include "mote/ops/testing/binary_cases.h"

namespace mote::optest {

TEST(OpLessEqual, MatchesOracle) {
  ElementwiseOptions options;
  options.in_place = false;
  check_binary(
      OpId::less_equal, NoAttrs{}, ops::less_equal::Types{}, [](double a, double b) { return a <= b ? 1 : 0; }, options);
}

TEST(OpLessEqual, ResultIsBoolAndExact) {
  const auto r =
      run(OpId::less_equal, NoAttrs{}, {Array::of<float>({3}, {16777215, 16777216, 16777218}), Array::of<float>({}, {16777216})});
  ASSERT_EQ(r.outputs[0].dtype(), DType::boolean);
  expect_values(r.outputs[0], {1, 1, 0});
}

TEST(OpLessEqual, RefusesOtherTypes) { check_binary_refusals(OpId::less_equal, NoAttrs{}, DType::f32, DType::s32, DType::boolean); }

}  // namespace mote::optest
