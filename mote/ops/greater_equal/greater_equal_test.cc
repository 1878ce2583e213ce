#include "mote/ops/greater_equal/greater_equal.h"

#include "mote/ops/testing/binary_cases.h"

namespace mote::optest {

TEST(OpGreaterEqual, MatchesOracle) {
  ElementwiseOptions options;
  options.in_place = false;
  check_binary(
      OpId::greater_equal, NoAttrs{}, ops::greater_equal::Types{}, [](double a, double b) { return a >= b ? 1 : 0; }, options);
}

TEST(OpGreaterEqual, ResultIsBoolAndExact) {
  const auto r =
      run(OpId::greater_equal, NoAttrs{}, {Array::of<float>({3}, {16777215, 16777216, 16777218}), Array::of<float>({}, {16777216})});
  ASSERT_EQ(r.outputs[0].dtype(), DType::boolean);
  expect_values(r.outputs[0], {0, 1, 1});
}

TEST(OpGreaterEqual, RefusesOtherTypes) { check_binary_refusals(OpId::greater_equal, NoAttrs{}, DType::f32, DType::s32, DType::boolean); }

}  // namespace mote::optest
