#include "mote/ops/prelu/prelu.h"

#include "mote/ops/testing/binary_cases.h"

namespace mote::optest {

TEST(OpPrelu, MatchesOracle) {
  check_binary(OpId::prelu, NoAttrs{}, ops::prelu::Types{}, [](double x, double slope) { return x < 0 ? x * slope : x; });
}

TEST(OpPrelu, IntegersWrap) {
  const auto r = run(OpId::prelu, NoAttrs{}, {Array::of<int8_t>({2}, {-128, 100}), Array::of<int8_t>({}, {-1})});
  expect_values(r.outputs[0], {-128, 100});
}

TEST(OpPrelu, RefusesOtherTypes) { check_binary_refusals(OpId::prelu, NoAttrs{}, DType::f32, DType::s32, DType::boolean); }

}  // namespace mote::optest
