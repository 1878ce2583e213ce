#include "mote/ops/floor_div/floor_div.h"

#include <cmath>

#include "mote/ops/testing/binary_cases.h"

namespace mote::optest {

namespace floor_div_case {
namespace {

double oracle(double a, double b) {
  if (std::isnan(a) || std::isnan(b) || (std::isinf(a) && b != 0)) return NAN;
  if (b == 0) return a / b;
  if (std::isinf(b)) return a != 0 && (a < 0) != (b < 0) ? -1 : 0;
  return static_cast<double>(std::floor(static_cast<long double>(a) / b));
}

}  // namespace
}  // namespace floor_div_case

TEST(OpFloorDiv, FloatsMatchOracle) { check_binary(OpId::floor_div, NoAttrs{}, FloatTypes{}, floor_div_case::oracle); }

TEST(OpFloorDiv, FloatsUseTheExactQuotient) {
  const auto r = run(OpId::floor_div, NoAttrs{}, {Array::of<double>({3}, {1, -1, 6}), Array::of<double>({3}, {0.1, 0.1, 0.1})});
  expect_values(r.outputs[0], {9, -10, 59});
}

TEST(OpFloorDiv, IntegersRoundDown) {
  check_binary(OpId::floor_div, NoAttrs{}, IntTypes{}, [](double a, double b) { return b == 0 ? 0 : std::floor(a / b); });
  const auto r =
      run(OpId::floor_div, NoAttrs{}, {Array::of<int32_t>({2}, {-2147483648.0, -2147483648.0}), Array::of<int32_t>({2}, {-1, 3})});
  expect_values(r.outputs[0], {-2147483648.0, -715827883});
}

TEST(OpFloorDiv, RefusesOtherTypes) { check_binary_refusals(OpId::floor_div, NoAttrs{}, DType::f32, DType::s32, DType::boolean); }

}  // namespace mote::optest
