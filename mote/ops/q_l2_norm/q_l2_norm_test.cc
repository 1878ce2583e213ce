#include "mote/ops/q_l2_norm/q_l2_norm.h"

#include "mote/ops/testing/quant_cases.h"

namespace mote::optest {

TEST(OpQL2Norm, CloseToTheRealNormForEveryType) {
  for (DType type : types_of(ops::q_l2_norm::Types{})) {
    for (const Shape& shape : {Shape{6}, Shape{3, 5}, Shape{0, 4}, Shape{2, 0}, Shape{2, 1, 300}, Shape{1, 2, 1, 1, 2, 1, 1, 3}}) {
      const Array x = full_range(type, shape, 1);
      const int32_t z = some_zero(type);
      const auto r = run(OpId::q_l2_norm, ops::q_l2_norm::Attrs{z}, {x});
      ASSERT_TRUE(r.ok()) << r.message();
      for_each_index(shape, [&](const Shape& i) {
        double sum = 0;
        Shape k = i;
        for (k.back() = 0; k.back() < shape.back(); ++k.back()) sum += (x.at(k) - z) * (x.at(k) - z);
        EXPECT_NEAR(r.outputs[0].at(i), saturated((x.at(i) - z) / std::sqrt(sum) * 128 + (type == DType::u8 ? 128 : 0), type), 0.6);
      });
    }
  }
}

TEST(OpQL2Norm, ZeroRowsStayZeroAndBadZeroPointsAreRefused) {
  expect_values(run(OpId::q_l2_norm, ops::q_l2_norm::Attrs{4}, {Array::of<int8_t>({2}, {4, 4})}).outputs[0], {0, 0});
  EXPECT_EQ(run(OpId::q_l2_norm, ops::q_l2_norm::Attrs{128}, {Array(DType::s8, {2})}).status.why(), Why::kAttribute);
  EXPECT_EQ(run(OpId::q_l2_norm, ops::q_l2_norm::Attrs{}, {Array(DType::s8, {})}).status.why(), Why::kRank);
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQL2Norm, AgreesWithTfliteInt8) {
  const auto r = run(OpId::q_l2_norm, ops::q_l2_norm::Attrs{-9},
                     {Array::of<int8_t>({3, 5}, {112, 126, -54, 99, -64, 106, 40, -65, -113, -28, 62, -70, 3, -97, -20})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {70, 78, -26, 62, -32, 85, 36, -41, -77, -14, 70, -60, 12, -87, -11});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQL2Norm, AgreesWithTfliteUint8) {
  const auto r = run(OpId::q_l2_norm, ops::q_l2_norm::Attrs{119},
                     {Array::of<uint8_t>({3, 5}, {96, 85, 68, 81, 226, 79, 126, 239, 175, 33, 18, 57, 221, 58, 80})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {106, 95, 78, 91, 233, 97, 134, 222, 172, 60, 53, 82, 204, 83, 99});
}

}  // namespace mote::optest
