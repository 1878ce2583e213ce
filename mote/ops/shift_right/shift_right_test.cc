#include "mote/ops/shift_right/shift_right.h"

#include <cmath>

#include "mote/ops/testing/binary_cases.h"

namespace mote::optest {

TEST(OpShiftRight, MatchesOracle) {
  ElementwiseOptions options;
  options.lo = -100, options.hi = 100;
  options.lo2 = 0;
  check_binary(
      OpId::shift_right, NoAttrs{}, ops::shift_right::Types{}, [](double a, double b) { return std::floor(a / std::exp2(b)); }, options);
}

TEST(OpShiftRight, WildAmountsShiftEverythingOut) {
  auto r = run(OpId::shift_right, NoAttrs{},
               {Array::of<int8_t>({6}, {-128, -128, -128, 127, 127, -5}), Array::of<int8_t>({6}, {7, 8, -1, 8, -1, -128})});
  expect_values(r.outputs[0], {-1, -1, -1, 0, 0, -1});
  r = run(OpId::shift_right, NoAttrs{},
          {Array::of<uint32_t>({3}, {4294967295.0, 4294967295.0, 4294967295.0}), Array::of<uint32_t>({3}, {31, 32, 4294967295.0})});
  expect_values(r.outputs[0], {1, 0, 0});
}

TEST(OpShiftRight, RefusesOtherTypes) { check_binary_refusals(OpId::shift_right, NoAttrs{}, DType::s32, DType::u8, DType::f32); }

}  // namespace mote::optest
