#include "mote/ops/not_equal/not_equal.h"

#include "mote/ops/testing/binary_cases.h"

namespace mote::optest {

TEST(OpNotEqual, MatchesOracle) {
  ElementwiseOptions options;
  options.in_place = false;
  check_binary(
      OpId::not_equal, NoAttrs{}, ops::not_equal::Types{}, [](double a, double b) { return a != b ? 1 : 0; }, options);
}

TEST(OpNotEqual, ResultIsBoolAndExact) {
  const auto r = run(OpId::not_equal, NoAttrs{}, {Array::of<float>({3}, {16777215, 16777216, 16777218}), Array::of<float>({}, {16777216})});
  ASSERT_EQ(r.outputs[0].dtype(), DType::boolean);
  expect_values(r.outputs[0], {1, 0, 1});
}

TEST(OpNotEqual, RefusesOtherTypes) { check_binary_refusals(OpId::not_equal, NoAttrs{}, DType::f32, DType::s32, DType::s4); }

}  // namespace mote::optest
