#include "mote/ops/shift_left/shift_left.h"

#include <cmath>

#include "mote/ops/testing/binary_cases.h"

namespace mote::optest {

TEST(OpShiftLeft, MatchesOracle) {
  ElementwiseOptions options;
  options.lo2 = 0;
  check_binary(
      OpId::shift_left, NoAttrs{}, ops::shift_left::Types{}, [](double a, double b) { return a * std::exp2(b); }, options);
}

TEST(OpShiftLeft, BitsLeaveAndWildAmountsGiveZero) {
  auto r =
      run(OpId::shift_left, NoAttrs{}, {Array::of<int8_t>({6}, {64, -1, -1, -1, -1, 3}), Array::of<int8_t>({6}, {1, 7, 8, 127, -1, -128})});
  expect_values(r.outputs[0], {-128, -128, 0, 0, 0, 0});
  r = run(OpId::shift_left, NoAttrs{}, {Array::of<uint64_t>({3}, {1, 1, 1}), Array::of<uint64_t>({3}, {63, 64, 9223372036854775808.0})});
  expect_values(r.outputs[0], {9223372036854775808.0, 0, 0});
}

TEST(OpShiftLeft, RefusesOtherTypes) { check_binary_refusals(OpId::shift_left, NoAttrs{}, DType::s32, DType::u8, DType::f32); }

}  // namespace mote::optest
