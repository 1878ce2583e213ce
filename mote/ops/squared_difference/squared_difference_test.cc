#include "mote/ops/squared_difference/squared_difference.h"

#include "mote/ops/testing/binary_cases.h"

namespace mote::optest {

TEST(OpSquaredDifference, MatchesOracle) {
  check_binary(OpId::squared_difference, NoAttrs{}, ops::squared_difference::Types{}, [](double a, double b) { return (a - b) * (a - b); });
}

TEST(OpSquaredDifference, IntegersWrap) {
  const auto r = run(OpId::squared_difference, NoAttrs{}, {Array::of<int8_t>({2}, {127, 20}), Array::of<int8_t>({2}, {-128, 0})});
  expect_values(r.outputs[0], {1, -112});
}

TEST(OpSquaredDifference, RefusesOtherTypes) {
  check_binary_refusals(OpId::squared_difference, NoAttrs{}, DType::f32, DType::s32, DType::boolean);
}

}  // namespace mote::optest
