#include "mote/ops/q_avg_pool/q_avg_pool.h"

#include "mote/ops/testing/quant_cases.h"

namespace mote::optest {

TEST(OpQAvgPool, EveryTypeModeAndPadding) {
  for (DType type : types_of(ops::q_avg_pool::Types{})) {
    for (const uint32_t mode : {0u, 1u}) {
      for (const uint32_t include : {0u, 1u}) {
        const Array x = full_range(type, {2, 5, 4, 3}, 1);
        ops::q_avg_pool::Attrs a;
        a.kernel[0] = 3, a.kernel[1] = 2, a.strides[0] = 2, a.pads_begin[0] = a.pads_end[0] = a.pads_end[1] = 1;
        a.count_include_pad = include, a.mode = mode, a.input_zero = some_zero(type), a.output_zero = some_zero(type) / 2,
        a.multiplier = 0.5f;
        a.clamp_hi = 200;
        const auto r = run(OpId::q_avg_pool, a, {x});
        ASSERT_TRUE(r.ok()) << r.message();
        expect_shape(r.outputs[0], {2, 3, 4, 3});
        expect_oracle(r.outputs[0], [&](const Shape& i) {
          double sum = 0, count = 0;
          for (int h = 0; h < 3; ++h) {
            for (int w = 0; w < 2; ++w) {
              const int y = i[1] * 2 + h - 1, z = i[2] + w;
              const bool inside = y >= 0 && y < 5 && z < 4;
              if (inside) sum += x.at({i[0], y, z, i[3]}) - (mode == 1 ? a.input_zero : 0);
              if (!inside && include && mode == 0) sum += a.input_zero;
              count += inside || include;
            }
          }
          const double mean = mode == 0 ? std::round(sum / count)
                                        : std::nearbyint(static_cast<float>(sum) / static_cast<float>(count) * 0.5f) + a.output_zero;
          return std::fmin(saturated(mean, type), 200);
        });
      }
    }
  }
}

// Mode 0 rounds codes away from zero; mode 1 rounds to the even number, to which it then adds the zero point.
TEST(OpQAvgPool, TiesFollowTheMode) {
  ops::q_avg_pool::Attrs a;
  a.kernel[0] = 2, a.strides[0] = 2;
  const Array x = Array::of<int8_t>({1, 8, 1, 1}, {0, 1, 1, 2, 0, -1, -1, -2});  // 0.5, 1.5, -0.5, -1.5
  expect_values(run(OpId::q_avg_pool, a, {x}).outputs[0], {1, 2, -1, -2});
  a.mode = 1;
  expect_values(run(OpId::q_avg_pool, a, {x}).outputs[0], {0, 2, 0, -2});
  a.input_zero = 1, a.output_zero = 5;  // -0.5, 0.5, -1.5, -2.5
  expect_values(run(OpId::q_avg_pool, a, {x}).outputs[0], {5, 5, 3, 3});
  a.multiplier = 3;  // -1.5, 1.5, -4.5, -7.5
  expect_values(run(OpId::q_avg_pool, a, {x}).outputs[0], {3, 7, 1, -3});
}

TEST(OpQAvgPool, WholeDimensionRowsAndEmpty) {
  ops::q_avg_pool::Attrs a;
  a.kernel[0] = a.kernel[1] = 0;
  expect_values(run(OpId::q_avg_pool, a, {Array::of<int8_t>({1, 2, 2, 1}, {-1, -2, -3, -4})}).outputs[0], {-3});
  EXPECT_TRUE(run(OpId::q_avg_pool, a, {Array(DType::s8, {0, 2, 2, 1})}).ok());
  a.kernel[0] = 2, a.kernel[1] = 1;
  const Array x = full_range(DType::u8, {1, 5, 2, 2}, 3);
  check_row_range(OpId::q_avg_pool, a, {x});
}

TEST(OpQAvgPool, RefusesWhatDoesNotFit) {
  const Array x = full_range(DType::s8, {1, 3, 3, 2}, 1);
  const auto why = [&](const ops::q_avg_pool::Attrs& a) { return run(OpId::q_avg_pool, a, {x}).status.why(); };
  ops::q_avg_pool::Attrs a;
  a.kernel[0] = 4;
  EXPECT_EQ(why(a), Why::kWindow);
  a.kernel[0] = -1;
  EXPECT_EQ(why(a), Why::kWindow);
  a = {}, a.mode = 2;
  EXPECT_EQ(why(a), Why::kAttribute);
  a = {}, a.input_zero = 999;
  EXPECT_EQ(why(a), Why::kAttribute);
  a = {}, a.clamp_lo = 128;
  EXPECT_EQ(why(a), Why::kAttribute);
  EXPECT_EQ(run(OpId::q_avg_pool, ops::q_avg_pool::Attrs{}, {Array(DType::s8, {3, 3})}).status.why(), Why::kRank);
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQAvgPool, AgreesWithTfliteInt8) {
  ops::q_avg_pool::Attrs a;
  a.kernel[0] = a.kernel[1] = 3;
  a.strides[0] = a.strides[1] = 2;
  a.pads_begin[0] = a.pads_end[0] = a.pads_end[1] = 1;
  const auto r = run(OpId::q_avg_pool, a, {Array::of<int8_t>({1, 3, 4, 2}, {59,  -60, 87, -50, 64,  85, -4,  30,   90, -81, -123, -17,
                                                                            -82, 98,  93, -32, -49, 53, -12, -104, 41, 58,  -111, 70})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {16, -4, 18, 45, -23, 1, -15, 49});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQAvgPool, AgreesWithTfliteUint8) {
  ops::q_avg_pool::Attrs a;
  a.kernel[0] = a.kernel[1] = 3;
  a.strides[0] = a.strides[1] = 2;
  a.pads_begin[0] = a.pads_end[0] = a.pads_end[1] = 1;
  const auto r = run(OpId::q_avg_pool, a, {Array::of<uint8_t>({1, 3, 4, 2}, {243, 55,  110, 57, 106, 0,   177, 60, 213, 184, 85,  116,
                                                                             171, 106, 53,  11, 141, 136, 196, 33, 16,  188, 186, 204})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {155, 86, 127, 44, 137, 127, 107, 127});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQAvgPool, AgreesWithTfliteInt16) {
  ops::q_avg_pool::Attrs a;
  a.kernel[0] = a.kernel[1] = 3;
  a.strides[0] = a.strides[1] = 2;
  a.pads_begin[0] = a.pads_end[0] = a.pads_end[1] = 1;
  const auto r =
      run(OpId::q_avg_pool, a,
          {Array::of<int16_t>({1, 3, 4, 2}, {-31886, -20727, -6519, -21952, 29946, -1682,  22805, -31781, -24086, -2742, -22107, -22091,
                                             -31189, -15097, 17258, 19165,  584,   -20705, -3288, 7676,   -23125, -6140, 21167,  -5401})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-14307, -14049, 9705, -7349, -17202, -9850, -3972, -1868});
}

// The same means over one, two and three spatial dimensions.
TEST(OpQAvgPool, EverySpatialRank) {
  const Array x = full_range(DType::u8, {2, 5, 3}, 1);
  ops::q_avg_pool::Attrs line, space;
  line.kernel[0] = space.kernel[1] = 3, line.strides[0] = space.strides[1] = 2, line.pads_begin[0] = space.pads_begin[1] = 1;
  expect_same_elements(OpId::q_avg_pool, line, {x.reshaped({2, 5, 1, 3})}, line, {x});
  expect_same_elements(OpId::q_avg_pool, line, {x.reshaped({2, 5, 1, 3})}, space, {x.reshaped({2, 1, 5, 1, 3})});
}

}  // namespace mote::optest
