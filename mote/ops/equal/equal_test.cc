#include "mote/ops/equal/equal.h"

#include "mote/ops/testing/binary_cases.h"

namespace mote::optest {

TEST(OpEqual, MatchesOracle) {
  ElementwiseOptions options;
  options.in_place = false;
  check_binary(
      OpId::equal, NoAttrs{}, ops::equal::Types{}, [](double a, double b) { return a == b ? 1 : 0; }, options);
}

TEST(OpEqual, ResultIsBoolAndExact) {
  const auto r = run(OpId::equal, NoAttrs{}, {Array::of<float>({3}, {16777215, 16777216, 16777218}), Array::of<float>({}, {16777216})});
  ASSERT_EQ(r.outputs[0].dtype(), DType::boolean);
  expect_values(r.outputs[0], {0, 1, 0});
}

TEST(OpEqual, RefusesOtherTypes) { check_binary_refusals(OpId::equal, NoAttrs{}, DType::f32, DType::s32, DType::s4); }

}  // namespace mote::optest
