#include "mote/ops/mod/mod.h"

#include <cmath>

#include "mote/ops/testing/binary_cases.h"

namespace mote::optest {

namespace mod_case {
namespace {

double oracle(double a, double b) {
  if (std::isinf(b) && std::isfinite(a)) return a != 0 && (a < 0) != (b < 0) ? b : a;
  return static_cast<double>(static_cast<long double>(a) - std::floor(static_cast<long double>(a) / b) * b);
}

}  // namespace
}  // namespace mod_case

TEST(OpMod, FloatsMatchOracle) { check_binary(OpId::mod, NoAttrs{}, FloatTypes{}, mod_case::oracle); }

TEST(OpMod, IntegersTakeTheSignOfTheDivisor) {
  check_binary(OpId::mod, NoAttrs{}, IntTypes{}, [](double a, double b) { return b == 0 ? 0 : a - std::floor(a / b) * b; });
  const auto r = run(OpId::mod, NoAttrs{},
                     {Array::of<int32_t>({3}, {-2147483648.0, 2147483647, -7}), Array::of<int32_t>({3}, {-1, -2147483648.0, 0})});
  expect_values(r.outputs[0], {0, -1, 0});
}

TEST(OpMod, RefusesOtherTypes) { check_binary_refusals(OpId::mod, NoAttrs{}, DType::f32, DType::s32, DType::boolean); }

}  // namespace mote::optest
