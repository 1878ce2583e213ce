#include "mote/ops/q_sub/q_sub.h"

#include "mote/ops/testing/quant_cases.h"

namespace mote::optest {

namespace q_sub_case {
namespace {

double right(const Array& a, const Shape& at) {
  Shape i(a.shape().size());
  for (size_t k = 0; k < i.size(); ++k) i[k] = a.shape()[k] == 1 ? 0 : at[at.size() - i.size() + k];
  return a.at(i);
}

}  // namespace
}  // namespace q_sub_case

TEST(OpQSub, EveryTypeShapeAndMode) {
  struct Pair {
    Shape a, b;
  };
  const Pair pairs[] = {
      {{}, {}}, {{9}, {9}}, {{2, 3}, {3}}, {{2, 1, 4}, {1, 3, 1}}, {{0}, {1}}, {{1, 2, 1, 2, 1, 2, 1, 3}, {2, 1, 2, 1, 2, 1, 2, 1}}};
  for (DType type : types_of(ops::q_sub::Types{})) {
    for (const Pair& p : pairs) {
      const Array x = full_range(type, p.a, 1), y = full_range(type, p.b, 2);
      const auto op = [&](double v, double w) { return v - w; };
      ops::q_sub::Attrs a;
      a.a_zero = some_zero(type), a.b_zero = some_zero(type) / 2, a.y_zero = some_zero(type);
      a.mode = 1, a.a_scale = 0.5f, a.b_scale = 0.25f, a.y_scale = 0.75f;
      auto r = run(OpId::q_sub, a, {x, y});
      ASSERT_TRUE(r.ok()) << r.message();
      expect_oracle(r.outputs[0], [&](const Shape& i) {
        const double sum = op((q_sub_case::right(x, i) - a.a_zero) * 0.5, (q_sub_case::right(y, i) - a.b_zero) * 0.25);
        return saturated(std::nearbyint(static_cast<float>(sum) / 0.75f) + a.y_zero, type);
      });
      a.mode = 0, a.left_shift = type == DType::s16 ? 14 : 20;
      const FixedFactor fa = fixed_factor(0.4), fb = fixed_factor(0.2), fy = fixed_factor(std::ldexp(1.9, -a.left_shift));
      a.a_multiplier = fa.multiplier, a.a_shift = fa.shift, a.b_multiplier = fb.multiplier, a.b_shift = fb.shift,
      a.y_multiplier = fy.multiplier, a.y_shift = fy.shift;
      r = run(OpId::q_sub, a, {x, y});
      ASSERT_TRUE(r.ok()) << r.message();
      expect_oracle(r.outputs[0], [&](const Shape& i) {
        const double up = std::ldexp(1.0, a.left_shift);
        const double sum =
            op(tflite_scaled((q_sub_case::right(x, i) - a.a_zero) * up, fa), tflite_scaled((q_sub_case::right(y, i) - a.b_zero) * up, fb));
        return saturated(tflite_scaled(sum, fy) + a.y_zero, type);
      });
      a.mode = 2, a.a_zero = a.b_zero = a.y_zero = 0, a.a_shift = 0, a.b_shift = -3, a.clamp_lo = 0, a.clamp_hi = 100;
      r = run(OpId::q_sub, a, {x, y});
      ASSERT_TRUE(r.ok()) << r.message();
      expect_oracle(r.outputs[0], [&](const Shape& i) {
        return std::fmin(std::fmax(op(q_sub_case::right(x, i), std::round(q_sub_case::right(y, i) / 8)), 0), 100);
      });
    }
  }
}

TEST(OpQSub, RefusesWhatDoesNotFit) {
  const Array x = full_range(DType::s8, {2, 3}, 1);
  const auto why = [](const ops::q_sub::Attrs& a, const std::vector<Array>& in) { return run(OpId::q_sub, a, in).status.why(); };
  ops::q_sub::Attrs a;
  EXPECT_EQ(why(a, {x, full_range(DType::s8, {2}, 1)}), Why::kBroadcast);
  EXPECT_EQ(why(a, {x, full_range(DType::u8, {2, 3}, 1)}), Why::kDTypeMismatch);
  EXPECT_EQ(why(a, {Array::of<float>({1}, {1}), x}), Why::kDType);
  for (int32_t ops::q_sub::Attrs::*field :
       {&ops::q_sub::Attrs::a_zero, &ops::q_sub::Attrs::b_zero, &ops::q_sub::Attrs::y_zero, &ops::q_sub::Attrs::left_shift,
        &ops::q_sub::Attrs::a_shift, &ops::q_sub::Attrs::b_shift, &ops::q_sub::Attrs::clamp_lo}) {
    a = {};
    a.*field = 200;
    EXPECT_EQ(why(a, {x, x}), Why::kAttribute);
  }
  a = {};
  a.mode = 3;
  EXPECT_EQ(why(a, {x, x}), Why::kAttribute);
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQSub, AgreesWithTfliteInt8) {
  ops::q_sub::Attrs a;
  a.a_zero = 5, a.b_zero = -3, a.y_zero = 7, a.left_shift = 20;
  a.a_multiplier = 1326386869, a.a_shift = -1, a.b_multiplier = 1073741824, a.b_shift = 0, a.y_multiplier = 1460288938, a.y_shift = -19;
  const auto r =
      run(OpId::q_sub, a,
          {Array::of<int8_t>({8}, {41, 10, -53, -73, 53, -65, -75, -44}), Array::of<int8_t>({8}, {90, -11, 24, -108, -40, 64, 69, 20})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-41, 15, -36, 46, 52, -68, -76, -29});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQSub, AgreesWithTfliteUint8) {
  ops::q_sub::Attrs a;
  a.a_zero = 120, a.b_zero = 130, a.y_zero = 125, a.left_shift = 20;
  a.a_multiplier = 1326386869, a.a_shift = -1, a.b_multiplier = 1073741824, a.b_shift = 0, a.y_multiplier = 1460288938, a.y_shift = -19;
  const auto r = run(
      OpId::q_sub, a,
      {Array::of<uint8_t>({8}, {193, 200, 42, 100, 235, 214, 152, 248}), Array::of<uint8_t>({8}, {84, 216, 239, 151, 39, 75, 131, 71})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {187, 100, 18, 102, 235, 202, 138, 219});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQSub, AgreesWithTfliteInt16) {
  ops::q_sub::Attrs a;
  a.a_zero = 0, a.b_zero = 0, a.y_zero = 0, a.left_shift = 15;
  a.a_multiplier = 1326386954, a.a_shift = -1, a.b_multiplier = 1073741824, a.b_shift = 0, a.y_multiplier = 1460288806, a.y_shift = -14;
  const auto r = run(OpId::q_sub, a,
                     {Array::of<int16_t>({8}, {6144, 7923, 19835, 17543, -6846, 16400, -29178, -10235}),
                      Array::of<int16_t>({8}, {-18507, -15925, 26337, -4089, -27985, -705, -28230, -23481})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {15165, 14157, -9578, 10149, 16154, 7367, 6942, 11668});
}

}  // namespace mote::optest
