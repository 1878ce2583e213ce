#include "mote/ops/q_prelu/q_prelu.h"

#include "mote/ops/testing/quant_cases.h"

namespace mote::optest {

TEST(OpQPrelu, EveryTypeAndShape) {
  const FixedFactor p = fixed_factor(0.8), n = fixed_factor(0.013);
  for (DType type : types_of(ops::q_prelu::Types{})) {
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{2, 5}, Shape{1, 2, 1, 2, 1, 2, 1, 3}}) {
      const Array x = full_range(type, shape, 1), alpha = full_range(type, shape, 2);
      const int32_t z = some_zero(type);
      const ops::q_prelu::Attrs a{z, z / 2, z, p.multiplier, p.shift, n.multiplier, n.shift};
      const auto r = run(OpId::q_prelu, a, {x, alpha});
      ASSERT_TRUE(r.ok()) << r.message();
      expect_oracle(r.outputs[0], [&](const Shape& i) {
        const double v = x.at(i) - z;
        return saturated((v >= 0 ? tflite_scaled(v, p) : tflite_scaled(v * (alpha.at(i) - z / 2), n)) + z, type);
      });
    }
  }
}

TEST(OpQPrelu, RefusesWhatDoesNotFit) {
  const Array x = full_range(DType::s8, {2, 3}, 1);
  EXPECT_EQ(run(OpId::q_prelu, ops::q_prelu::Attrs{}, {x, full_range(DType::s8, {2}, 1)}).status.why(), Why::kBroadcast);
  EXPECT_EQ(run(OpId::q_prelu, ops::q_prelu::Attrs{128, 0, 0, 0, 0, 0, 0}, {x, x}).status.why(), Why::kAttribute);
  EXPECT_EQ(run(OpId::q_prelu, ops::q_prelu::Attrs{}, {x, full_range(DType::u8, {2, 3}, 1)}).status.why(), Why::kDTypeMismatch);
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQPrelu, AgreesWithTfliteInt8) {
  ops::q_prelu::Attrs a;
  a.input_zero = 5, a.alpha_zero = -3, a.output_zero = 7;
  a.positive_multiplier = 1342177330, a.positive_shift = 1, a.negative_multiplier = 1717986944, a.negative_shift = -6;
  const auto r = run(OpId::q_prelu, a,
                     {Array::of<int8_t>({2, 4}, {-89, -120, -100, -48, -29, -49, -14, 56}), Array::of<int8_t>({4}, {-65, -12, 58, -114})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {80, 21, -73, 81, 33, 13, -7, 71});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQPrelu, AgreesWithTfliteUint8) {
  ops::q_prelu::Attrs a;
  a.input_zero = 120, a.alpha_zero = 130, a.output_zero = 125;
  a.positive_multiplier = 1342177330, a.positive_shift = 1, a.negative_multiplier = 1717986944, a.negative_shift = -6;
  const auto r = run(OpId::q_prelu, a,
                     {Array::of<uint8_t>({2, 4}, {90, 82, 114, 237, 95, 63, 148, 198}), Array::of<uint8_t>({4}, {242, 71, 227, 218})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {83, 153, 118, 255, 90, 167, 160, 223});
}

}  // namespace mote::optest
