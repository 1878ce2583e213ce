#include "mote/ops/less/less.h"

#include "mote/ops/testing/binary_cases.h"

namespace mote::optest {

TEST(OpLess, MatchesOracle) {
  ElementwiseOptions options;
  options.in_place = false;
  check_binary(
      OpId::less, NoAttrs{}, ops::less::Types{}, [](double a, double b) { return a < b ? 1 : 0; }, options);
}

TEST(OpLess, ResultIsBoolAndExact) {
  const auto r = run(OpId::less, NoAttrs{}, {Array::of<float>({3}, {16777215, 16777216, 16777218}), Array::of<float>({}, {16777216})});
  ASSERT_EQ(r.outputs[0].dtype(), DType::boolean);
  expect_values(r.outputs[0], {1, 0, 0});
}

TEST(OpLess, RefusesOtherTypes) { check_binary_refusals(OpId::less, NoAttrs{}, DType::f32, DType::s32, DType::boolean); }

}  // namespace mote::optest
