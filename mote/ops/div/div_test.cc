#include "mote/ops/div/div.h"

#include "mote/ops/testing/binary_cases.h"

namespace mote::optest {

TEST(OpDiv, FloatsMatchOracle) {
  check_binary(OpId::div, ops::div::Attrs{}, FloatTypes{}, [](double a, double b) { return a / b; });
}

TEST(OpDiv, FloatsRoundToZeroOnRequest) {
  check_binary(OpId::div, ops::div::Attrs{ops::div::kToZero}, TypeList<float, double>{},
               [](double a, double b) { return std::trunc(a / b); });
}

TEST(OpDiv, IntegersRoundToZero) {
  for (int32_t rounding : {ops::div::kExact, ops::div::kToZero})
    check_binary(OpId::div, ops::div::Attrs{rounding}, IntTypes{}, [](double a, double b) { return b == 0 ? 0 : std::trunc(a / b); });
}

TEST(OpDiv, LowestIntegerByMinusOneWraps) {
  const Array minus = Array::of<int64_t>({1}, {-1});
  expect_values(run(OpId::div, ops::div::Attrs{}, {Array::of<int64_t>({1}, {-9223372036854775808.0}), minus}).outputs[0],
                {-9223372036854775808.0});
  const Array m32 = Array::of<int32_t>({1}, {-1}), m8 = Array::of<int8_t>({1}, {-1});
  expect_values(run(OpId::div, ops::div::Attrs{}, {Array::of<int32_t>({1}, {-2147483648.0}), m32}).outputs[0], {-2147483648.0});
  expect_values(run(OpId::div, ops::div::Attrs{}, {Array::of<int8_t>({1}, {-128}), m8}).outputs[0], {-128});
}

TEST(OpDiv, RefusesUnknownRounding) {
  const Array x(DType::f32, {1});
  for (int32_t bad : {-1, 2}) EXPECT_EQ(run(OpId::div, ops::div::Attrs{bad}, {x, x}).status.why(), Why::kAttribute);
}

TEST(OpDiv, RefusesOtherTypes) { check_binary_refusals(OpId::div, ops::div::Attrs{}, DType::f32, DType::s32, DType::boolean); }

}  // namespace mote::optest
