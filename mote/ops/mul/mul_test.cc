#include "mote/ops/mul/mul.h"

#include "mote/ops/testing/binary_cases.h"

namespace mote::optest {

TEST(OpMul, MatchesOracle) {
  check_binary(OpId::mul, NoAttrs{}, ops::mul::Types{}, [](double a, double b) { return a * b; });
}

TEST(OpMul, IntegersWrap) {
  auto r = run(OpId::mul, NoAttrs{}, {Array::of<int8_t>({3}, {127, -128, 64}), Array::of<int8_t>({3}, {2, -1, 4})});
  expect_values(r.outputs[0], {-2, -128, 0});
  r = run(OpId::mul, NoAttrs{}, {Array::of<int32_t>({2}, {2147483647, -2147483648.0}), Array::of<int32_t>({2}, {2, -1})});
  expect_values(r.outputs[0], {-2, -2147483648.0});
}

TEST(OpMul, RefusesOtherTypes) { check_binary_refusals(OpId::mul, NoAttrs{}, DType::f32, DType::s32, DType::boolean); }

}  // namespace mote::optest
