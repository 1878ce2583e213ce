#include "mote/ops/pow/pow.h"

#include <cmath>

#include "mote/ops/testing/binary_cases.h"

namespace mote::optest {

TEST(OpPow, FloatsMatchOracle) {
  check_binary(OpId::pow, NoAttrs{}, FloatTypes{}, [](double a, double b) { return std::pow(a, b); });
}

TEST(OpPow, IntegersMatchOracle) {
  ElementwiseOptions small;
  small.lo = -3, small.hi = 3;
  small.lo2 = -3, small.hi2 = 4;
  check_binary(
      OpId::pow, NoAttrs{}, IntTypes{}, [](double a, double b) { return a == 0 && b < 0 ? 0 : std::trunc(std::pow(a, b)); }, small);
}

TEST(OpPow, IntegersWrapAndNegativePowersVanish) {
  auto r = run(OpId::pow, NoAttrs{},
               {Array::of<int32_t>({5}, {3, -1, -1, 1, 0}), Array::of<int32_t>({5}, {21, -2147483647, -2147483648.0, -5, -1})});
  expect_values(r.outputs[0], {1870418611, -1, 1, 1, 0});  // 3^21 mod 2^32
  r = run(OpId::pow, NoAttrs{}, {Array::of<uint64_t>({2}, {2, 2}), Array::of<uint64_t>({2}, {63, 64})});
  expect_values(r.outputs[0], {9223372036854775808.0, 0});
}

TEST(OpPow, RefusesOtherTypes) { check_binary_refusals(OpId::pow, NoAttrs{}, DType::f32, DType::s32, DType::boolean); }

}  // namespace mote::optest
