#include "mote/ops/fmod/fmod.h"

#include <cmath>

#include "mote/ops/testing/binary_cases.h"

namespace mote::optest {

TEST(OpFmod, FloatsMatchOracle) {
  check_binary(OpId::fmod, NoAttrs{}, FloatTypes{}, [](double a, double b) {
    if (std::isinf(b) && std::isfinite(a)) return a;
    return static_cast<double>(static_cast<long double>(a) - std::trunc(static_cast<long double>(a) / b) * b);
  });
}

TEST(OpFmod, IntegersTakeTheSignOfTheDividend) {
  check_binary(OpId::fmod, NoAttrs{}, IntTypes{}, [](double a, double b) { return b == 0 ? 0 : a - std::trunc(a / b) * b; });
  const auto r =
      run(OpId::fmod, NoAttrs{}, {Array::of<int64_t>({3}, {-9223372036854775808.0, -7, -7}), Array::of<int64_t>({3}, {-1, 4, 0})});
  expect_values(r.outputs[0], {0, -3, 0});
}

TEST(OpFmod, RefusesOtherTypes) { check_binary_refusals(OpId::fmod, NoAttrs{}, DType::f32, DType::s32, DType::boolean); }

}  // namespace mote::optest
