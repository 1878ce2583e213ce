#include "mote/ops/requantize/requantize.h"

#include "mote/ops/testing/quant_cases.h"

namespace mote::optest {

TEST(OpRequantize, EveryTypeShapeAndArithmetic) {
  const double real = 0.0371;
  const FixedFactor f = fixed_factor(real);
  for (DType from : types_of(ops::requantize::Types{})) {
    for (DType to : {DType::s8, DType::u8, DType::s16, DType::s32}) {
      for (const Shape& shape : {Shape{}, Shape{0}, Shape{2, 3, 4}, Shape{1, 2, 1, 2, 1, 2, 1, 3}}) {
        const Array x = from == DType::s32 ? Array::random(from, shape, 3, -9000, 9000) : full_range(from, shape, 3);
        ops::requantize::Attrs a;
        a.to = static_cast<uint32_t>(to);
        a.input_zero = some_zero(from);
        a.output_zero = some_zero(to);
        auto r = run(OpId::requantize, a, {x, int_vector({double(f.multiplier)}), int_vector({double(f.shift)})});
        ASSERT_TRUE(r.ok()) << r.message();
        expect_oracle(r.outputs[0],
                      [&](const Shape& i) { return saturated(tflite_scaled(x.at(i) - a.input_zero, f) + a.output_zero, to); });
        r = run(OpId::requantize, a, {x, real_vector({real})});
        ASSERT_TRUE(r.ok()) << r.message();
        expect_oracle(r.outputs[0], [&](const Shape& i) {
          const float v = static_cast<float>(x.at(i) - a.input_zero) * static_cast<float>(real);
          return saturated(std::nearbyint(v) + a.output_zero, to);
        });
      }
    }
  }
}

TEST(OpRequantize, MultipliersRunAlongAnAxisAndResultsAreClamped) {
  const Array x = Array::random(DType::s32, {4, 3}, 3, -900, 900);
  const FixedFactor f[] = {fixed_factor(0.1), fixed_factor(3.7), fixed_factor(0.002)};
  ops::requantize::Attrs a;
  a.axis = -1;
  a.clamp_lo = -50;
  a.clamp_hi = 60;
  const auto r = run(OpId::requantize, a,
                     {x, int_vector({double(f[0].multiplier), double(f[1].multiplier), double(f[2].multiplier)}),
                      int_vector({double(f[0].shift), double(f[1].shift), double(f[2].shift)})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_oracle(r.outputs[0], [&](const Shape& i) { return std::fmin(std::fmax(tflite_scaled(x.at(i), f[i[1]]), -50), 60); });
}

TEST(OpRequantize, AnyShiftAndValueIsSafe) {
  for (const double shift : {-2147483648.0, -40.0, 31.0, 40.0, 2147483647.0})
    for (const double multiplier : {-2147483648.0, 0.0, 2147483647.0})
      EXPECT_TRUE(run(OpId::requantize, ops::requantize::Attrs{},
                      {int_vector({-2147483648.0, 2147483647}), int_vector({multiplier}), int_vector({shift})})
                      .ok());
}

TEST(OpRequantize, RefusesWhatDoesNotFit) {
  const Array x = Array::of<int8_t>({2}, {1, 2}), m = int_vector({1 << 30}), s = int_vector({0});
  const auto why = [](const ops::requantize::Attrs& a, const std::vector<Array>& in) { return run(OpId::requantize, a, in).status.why(); };
  ops::requantize::Attrs a;
  EXPECT_EQ(why(a, {x, m}), Why::kInputCount);
  EXPECT_EQ(why(a, {x, real_vector({1}), s}), Why::kInputCount);
  EXPECT_EQ(why(a, {x, m, int_vector({0, 0})}), Why::kDimMismatch);
  EXPECT_EQ(why(a, {x, int_vector({1, 2, 3}), int_vector({1, 2, 3})}), Why::kDimMismatch);
  a.input_zero = 200;
  EXPECT_EQ(why(a, {x, m, s}), Why::kAttribute);
  a.input_zero = 0, a.output_zero = -200;
  EXPECT_EQ(why(a, {x, m, s}), Why::kAttribute);
  a.output_zero = 0, a.clamp_lo = 5, a.clamp_hi = 4;
  EXPECT_EQ(why(a, {x, m, s}), Why::kAttribute);
  a.clamp_lo = 300, a.clamp_hi = 400;
  EXPECT_EQ(why(a, {x, m, s}), Why::kAttribute);
  a = {};
  a.to = 1;
  EXPECT_EQ(why(a, {x, m, s}), Why::kDType);
  a = {};
  a.axis = 3;
  EXPECT_EQ(why(a, {x, m, s}), Why::kAxis);
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpRequantize, AgreesWithTfliteInt8ToInt8) {
  ops::requantize::Attrs a;
  a.to = static_cast<uint32_t>(dtype_of<int8_t>), a.input_zero = 3, a.output_zero = -5;
  const auto r = run(
      OpId::requantize, a,
      {Array::of<int8_t>({7}, {121, -47, -25, -118, 63, -28, -125}), Array::of<int32_t>({1}, {1416425410}), Array::of<int32_t>({1}, {0})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {73, -38, -23, -85, 35, -25, -89});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpRequantize, AgreesWithTfliteUint8ToInt8) {
  ops::requantize::Attrs a;
  a.to = static_cast<uint32_t>(dtype_of<int8_t>), a.input_zero = 120, a.output_zero = 7;
  const auto r =
      run(OpId::requantize, a,
          {Array::of<uint8_t>({7}, {39, 45, 20, 17, 145, 59, 244}), Array::of<int32_t>({1}, {1416425410}), Array::of<int32_t>({1}, {0})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-46, -42, -59, -61, 23, -33, 89});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpRequantize, AgreesWithTfliteInt8ToUint8) {
  ops::requantize::Attrs a;
  a.to = static_cast<uint32_t>(dtype_of<uint8_t>), a.input_zero = -4, a.output_zero = 131;
  const auto r =
      run(OpId::requantize, a,
          {Array::of<int8_t>({7}, {18, 20, 6, 37, 72, -46, 29}), Array::of<int32_t>({1}, {1416425410}), Array::of<int32_t>({1}, {0})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {146, 147, 138, 158, 181, 103, 153});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpRequantize, AgreesWithTfliteInt16ToInt8) {
  ops::requantize::Attrs a;
  a.to = static_cast<uint32_t>(dtype_of<int8_t>), a.input_zero = 0, a.output_zero = 2;
  const auto r = run(OpId::requantize, a,
                     {Array::of<int16_t>({7}, {4661, 12172, 16531, 17304, 5851, -28095, 19842}), Array::of<int32_t>({1}, {1416425410}),
                      Array::of<int32_t>({1}, {0})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {127, 127, 127, 127, 127, -128, 127});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpRequantize, AgreesWithTfliteInt16ToInt16) {
  ops::requantize::Attrs a;
  a.to = static_cast<uint32_t>(dtype_of<int16_t>), a.input_zero = 0, a.output_zero = 0;
  const auto r = run(OpId::requantize, a,
                     {Array::of<int16_t>({7}, {30697, 3307, -3942, -19783, -2686, 5421, 18028}), Array::of<int32_t>({1}, {1416425410}),
                      Array::of<int32_t>({1}, {0})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {20247, 2181, -2600, -13048, -1772, 3576, 11891});
}

}  // namespace mote::optest
