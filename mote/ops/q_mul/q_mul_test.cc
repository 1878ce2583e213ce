#include "mote/ops/q_mul/q_mul.h"

#include "mote/ops/testing/quant_cases.h"

namespace mote::optest {

TEST(OpQMul, EveryTypeShapeAndMode) {
  const Shape shapes[] = {{}, {9}, {0}, {2, 3}, {1, 2, 1, 2, 1, 2, 1, 3}};
  const FixedFactor f = fixed_factor(0.0041);
  for (DType type : types_of(ops::q_mul::Types{})) {
    for (const Shape& shape : shapes) {
      const Array x = full_range(type, shape, 1), y = full_range(type, shape, 2);
      ops::q_mul::Attrs a;
      a.a_zero = some_zero(type), a.b_zero = some_zero(type) / 2, a.y_zero = some_zero(type), a.multiplier = f.multiplier,
      a.shift = f.shift;
      auto r = run(OpId::q_mul, a, {x, y});
      ASSERT_TRUE(r.ok()) << r.message();
      expect_oracle(r.outputs[0], [&](const Shape& i) {
        return saturated(tflite_scaled((x.at(i) - a.a_zero) * (y.at(i) - a.b_zero), f) + a.y_zero, type);
      });
      a.mode = 1, a.a_scale = 0.5f, a.b_scale = 0.25f, a.y_scale = 8, a.clamp_lo = -20, a.clamp_hi = 90;
      r = run(OpId::q_mul, a, {x, y});
      ASSERT_TRUE(r.ok()) << r.message();
      expect_oracle(r.outputs[0], [&](const Shape& i) {
        const float v = static_cast<float>((x.at(i) - a.a_zero) * 0.5) * static_cast<float>((y.at(i) - a.b_zero) * 0.25) / 8;
        return std::fmin(std::fmax(saturated(std::nearbyint(v) + a.y_zero, type), type == DType::u8 ? 0 : -20), 90);
      });
    }
  }
}

TEST(OpQMul, BroadcastsAndRefusesWhatDoesNotFit) {
  ops::q_mul::Attrs a;
  a.mode = 1;
  const Array x = Array::of<int8_t>({2, 1}, {2, 3}), y = Array::of<int8_t>({3}, {1, 10, 100});
  expect_values(run(OpId::q_mul, a, {x, y}).outputs[0], {2, 20, 127, 3, 30, 127});
  EXPECT_EQ(run(OpId::q_mul, a, {Array::of<int8_t>({2}, {2, 3}), y}).status.why(), Why::kBroadcast);
  a.mode = 2;
  EXPECT_EQ(run(OpId::q_mul, a, {x, y}).status.why(), Why::kAttribute);
  a = {}, a.b_zero = 128;
  EXPECT_EQ(run(OpId::q_mul, a, {x, y}).status.why(), Why::kAttribute);
  a = {}, a.clamp_hi = -129;
  EXPECT_EQ(run(OpId::q_mul, a, {x, y}).status.why(), Why::kAttribute);
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQMul, AgreesWithTfliteInt8) {
  ops::q_mul::Attrs a;
  a.a_zero = 5, a.b_zero = -3, a.y_zero = 7, a.multiplier = 1090349032, a.shift = -6;
  const auto r =
      run(OpId::q_mul, a,
          {Array::of<int8_t>({8}, {96, -52, -86, -109, -77, 67, 103, -95}), Array::of<int8_t>({8}, {0, -94, 88, -95, 35, -108, 60, 104})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {9, 48, -59, 90, -18, -45, 56, -78});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQMul, AgreesWithTfliteUint8) {
  ops::q_mul::Attrs a;
  a.a_zero = 120, a.b_zero = 130, a.y_zero = 125, a.multiplier = 1090349032, a.shift = -6;
  const auto r = run(
      OpId::q_mul, a,
      {Array::of<uint8_t>({8}, {23, 43, 247, 97, 147, 112, 205, 25}), Array::of<uint8_t>({8}, {72, 149, 205, 118, 179, 205, 164, 209})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {170, 113, 201, 127, 136, 120, 148, 65});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQMul, AgreesWithTfliteInt16) {
  ops::q_mul::Attrs a;
  a.a_zero = 0, a.b_zero = 0, a.y_zero = 0, a.multiplier = 1477743591, a.shift = -14;
  const auto r = run(OpId::q_mul, a,
                     {Array::of<int16_t>({8}, {-7636, -3845, -17565, 9163, -205, -23874, 21110, -23722}),
                      Array::of<int16_t>({8}, {-9213, -21383, 29059, -14200, 24056, 30258, -18411, -31078})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {2955, 3453, -21438, -5465, -207, -30340, -16324, 30964});
}

}  // namespace mote::optest
