#include "mote/ops/q_matmul/q_matmul.h"

#include "mote/ops/testing/quant_cases.h"

namespace mote::optest {

namespace q_matmul_case {
namespace {

double sum_of(const Array& x, const Array& w, int m, int n, double xz, double wz) {
  double s = 0;
  for (int k = 0; k < x.shape()[1]; ++k) s += (x.at({m, k}) - xz) * (w.at({n, k}) - wz);
  return s;
}

}  // namespace
}  // namespace q_matmul_case

TEST(OpQMatmul, EveryTypeOfOperandsAndArithmetic) {
  const FixedFactor f = fixed_factor(0.0021);
  for (DType xt : types_of(ops::q_matmul::Types{})) {
    for (DType wt : {DType::s8, DType::u8, DType::s4, DType::s16}) {
      const Array x = full_range(xt, {3, 7}, 1), w = full_range(wt, {5, 7}, 2), bias = Array::random(DType::s32, {5}, 3, -900, 900);
      ops::q_matmul::Attrs a;
      a.input_zero = some_zero(xt);
      a.weight_zero = wt == DType::s4 ? 1 : some_zero(wt);
      a.output_zero = some_zero(xt);
      const auto sum = [&](const Shape& i) { return q_matmul_case::sum_of(x, w, i[0], i[1], a.input_zero, a.weight_zero); };
      if (xt != DType::s16 && wt != DType::s16) {
        const auto r = run(OpId::q_matmul, a, {x, w, bias, int_vector({double(f.multiplier)}), int_vector({double(f.shift)})});
        ASSERT_TRUE(r.ok()) << r.message();
        expect_oracle(r.outputs[0],
                      [&](const Shape& i) { return saturated(tflite_scaled(sum(i) + bias.get(i[1]), f) + a.output_zero, xt); });
      }
      auto r = run(OpId::q_matmul, a, {x, w, bias, real_vector({0.001, 0.002, 0.003, 0.004, 0.005})});
      ASSERT_TRUE(r.ok()) << r.message();
      expect_oracle(r.outputs[0], [&](const Shape& i) {
        const double total = sum(i) + bias.get(i[1]);
        const float acc = static_cast<float>(static_cast<int32_t>(static_cast<uint32_t>(static_cast<int64_t>(total))));
        return saturated(std::nearbyint(acc * static_cast<float>(0.001 * (i[1] + 1))) + a.output_zero, xt);
      });
    }
  }
}

TEST(OpQMatmul, DoubleMultipliersRoundOnceTiesAwayFromZero) {
  const Array x = full_range(DType::s8, {3, 7}, 1), w = full_range(DType::s8, {2, 7}, 2);
  ops::q_matmul::Attrs a;
  a.to = static_cast<uint32_t>(DType::s16);
  a.input_zero = some_zero(DType::s8);
  Array factors = Array::random(DType::f64, {2}, 3, 0, 0);
  factors.set(0, 0.5);  // every odd sum is a tie
  factors.set(1, 0.0123456789012345);
  const auto r = run(OpId::q_matmul, a, {x, w, Array::none(), factors});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_oracle(r.outputs[0], [&](const Shape& i) {
    return saturated(std::round(q_matmul_case::sum_of(x, w, i[0], i[1], a.input_zero, 0) * factors.get(i[1])), DType::s16);
  });
}

TEST(OpQMatmul, ReadsPackedWeights) {
  const Array x = full_range(DType::s8, {3, 7}, 1), w = full_range(DType::s8, {19, 7}, 2), n = Array::random(DType::s4, {19, 7}, 2, -8, 7);
  ops::q_matmul::Attrs a;
  a.to = static_cast<uint32_t>(DType::s32);
  a.output_zero = 0;
  const auto plain = run(OpId::q_matmul, a, {x, w}), packed = run(OpId::q_matmul, a, {x, w.packed(Layout::kPanel16k4)});
  ASSERT_TRUE(packed.ok()) << packed.message();
  EXPECT_EQ(plain.outputs[0].bytes(), packed.outputs[0].bytes());
  EXPECT_EQ(run(OpId::q_matmul, a, {x, n}).outputs[0].bytes(),
            run(OpId::q_matmul, a, {x, n.packed(Layout::kPanel16k8)}).outputs[0].bytes());
}

TEST(OpQMatmul, PlainSumsWithZeroPointsPerRowAndChannel) {
  const Array x = full_range(DType::u8, {3, 7}, 1), w = full_range(DType::s8, {5, 7}, 2);
  const Array xz = Array::random(DType::u8, {3}, 3, 0, 255), wz = Array::random(DType::s8, {5}, 4, -9, 9);
  ops::q_matmul::Attrs a;
  a.to = static_cast<uint32_t>(DType::s32);
  const auto r = run(OpId::q_matmul, a, {x, w, Array::none(), Array::none(), Array::none(), xz, wz});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_oracle(r.outputs[0], [&](const Shape& i) { return q_matmul_case::sum_of(x, w, i[0], i[1], xz.get(i[0]), wz.get(i[1])); });
}

TEST(OpQMatmul, BatchesBroadcast) {
  const Array x = full_range(DType::s8, {2, 1, 3, 4}, 1), w = full_range(DType::s8, {3, 5, 4}, 2);
  ops::q_matmul::Attrs a;
  a.to = static_cast<uint32_t>(DType::s32);
  const auto r = run(OpId::q_matmul, a, {x, w});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_shape(r.outputs[0], {2, 3, 3, 5});
  expect_oracle(r.outputs[0], [&](const Shape& i) {
    double s = 0;
    for (int k = 0; k < 4; ++k) s += x.at({i[0], 0, i[2], k}) * w.at({i[1], i[3], k});
    return s;
  });
  EXPECT_EQ(run(OpId::q_matmul, a, {full_range(DType::s8, {2, 3, 4}, 1), w}).status.why(), Why::kBroadcast);
}

TEST(OpQMatmul, FloatResultsTakeRunTimeScales) {
  const Array x = full_range(DType::u8, {2, 4}, 1), w = full_range(DType::s8, {3, 4}, 2), bias = Array::random(DType::f32, {3}, 3);
  const Array xs = real_vector({0.5, 0.25}), ws = real_vector({0.1, 0.2, 0.3});
  ops::q_matmul::Attrs a;
  a.to = static_cast<uint32_t>(DType::f32);
  const auto r = run(OpId::q_matmul, a, {x, w, bias, ws, Array::none(), Array::of<int32_t>({2}, {7, 100}), Array::none(), xs});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_oracle(
      r.outputs[0],
      [&](const Shape& i) {
        return q_matmul_case::sum_of(x, w, i[0], i[1], i[0] == 0 ? 7 : 100, 0) * xs.get(i[0]) * ws.get(i[1]) + bias.get(i[1]);
      },
      4);
}

TEST(OpQMatmul, EmptyAndExtreme) {
  ops::q_matmul::Attrs a;
  a.to = static_cast<uint32_t>(DType::s32);
  EXPECT_TRUE(run(OpId::q_matmul, a, {Array(DType::s8, {0, 4}), Array(DType::s8, {3, 4})}).ok());
  expect_values(run(OpId::q_matmul, a, {Array(DType::s8, {1, 0}), Array(DType::s8, {2, 0}), int_vector({4, 5})}).outputs[0], {4, 5});
  a.to = 0;
  a.wide = 1;
  const Array big = Array::of<int64_t>({1}, {9.2e18});
  EXPECT_TRUE(run(OpId::q_matmul, a,
                  {full_range(DType::s16, {1, 4}, 1), full_range(DType::s16, {1, 4}, 1), big, int_vector({2147483647}), int_vector({100})})
                  .ok());
  EXPECT_TRUE(run(OpId::q_matmul, a,
                  {full_range(DType::s16, {1, 4}, 1), full_range(DType::s16, {1, 4}, 1), big, int_vector({2147483647}), int_vector({-100})})
                  .ok());
}

TEST(OpQMatmul, RefusesWhatDoesNotFit) {
  const Array x = full_range(DType::s8, {2, 4}, 1), w = full_range(DType::s8, {3, 4}, 2), m = int_vector({1 << 30}), s = int_vector({0}),
              no = Array::none();
  const auto why = [](const ops::q_matmul::Attrs& a, const std::vector<Array>& in) { return run(OpId::q_matmul, a, in).status.why(); };
  ops::q_matmul::Attrs a;
  EXPECT_EQ(why(a, {x, w}), Why::kInputCount);
  EXPECT_EQ(why(a, {x, w, no, m}), Why::kInputCount);
  EXPECT_EQ(why(a, {x, w, no, real_vector({1}), s}), Why::kInputCount);
  EXPECT_EQ(why(a, {x, w, int_vector({1, 2}), m, s}), Why::kDimMismatch);
  EXPECT_EQ(why(a, {x, w, Array::of<int64_t>({1}, {1}), m, s}), Why::kDType);
  EXPECT_EQ(why(a, {x, full_range(DType::s8, {3, 5}, 2), no, m, s}), Why::kDimMismatch);
  EXPECT_EQ(why(a, {full_range(DType::s8, {4}, 1), w, no, m, s}), Why::kRank);
  EXPECT_EQ(why(a, {x.packed(Layout::kPanel16k4), w, no, m, s}), Why::kLayout);
  EXPECT_EQ(why(a, {x, w, no, m, s, no, no, real_vector({1})}), Why::kInputCount);
  EXPECT_EQ(why(a, {x, w, no, m, s, int_vector({1, 2, 3})}), Why::kDimMismatch);
  EXPECT_EQ(why(a, {x, w, no, Array::of<int32_t>({1, 1}, {1}), s}), Why::kRank);
  a.wide = 2;
  EXPECT_EQ(why(a, {x, w, no, m, s}), Why::kAttribute);
  a = {};
  a.input_zero = 128;
  EXPECT_EQ(why(a, {x, w, no, m, s}), Why::kAttribute);
  a = {};
  a.to = static_cast<uint32_t>(DType::f64);
  EXPECT_EQ(why(a, {x, w, no, m, s}), Why::kDType);
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQMatmul, AgreesWithTfliteInt8) {
  ops::q_matmul::Attrs a;
  a.input_zero = -7;
  a.output_zero = 11;
  a.wide = 0;
  const auto r =
      run(OpId::q_matmul, a,
          {Array::of<int8_t>({2, 5}, {-104, -111, -65, -18, -87, 4, 10, 115, 62, -64}),
           Array::of<int8_t>({3, 5}, {73, 78, 46, 45, -48, 55, -93, 33, 107, 120, -51, -43, 30, -26, 59}),
           Array::of<int32_t>({3}, {-1783, -1986, -2696}), Array::of<int32_t>({1}, {1099511530}), Array::of<int32_t>({1}, {-7})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-54, -30, 13, 58, 17, -11});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQMatmul, AgreesWithTfliteInt8PerChannel) {
  ops::q_matmul::Attrs a;
  a.input_zero = -7;
  a.output_zero = 11;
  a.wide = 0;
  const auto r = run(OpId::q_matmul, a,
                     {Array::of<int8_t>({2, 5}, {-8, -74, -52, 106, 80, 87, 23, -100, 63, 26}),
                      Array::of<int8_t>({3, 5}, {104, -5, -83, 24, -11, 41, -32, -49, -96, 118, 65, -9, -68, 33, -22}),
                      Array::of<int32_t>({3}, {811, -2459, -1897}), Array::of<int32_t>({3}, {1099511535, 1099511535, 1869169753}),
                      Array::of<int32_t>({3}, {-7, -8, -8})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {37, 14, 23, 89, 15, 51});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQMatmul, AgreesWithTfliteInt16) {
  ops::q_matmul::Attrs a;
  a.input_zero = 0;
  a.output_zero = 0;
  a.wide = 1;
  const auto r = run(OpId::q_matmul, a,
                     {Array::of<int16_t>({2, 5}, {15400, -28714, 11639, -5799, -32558, 17303, 13093, 20658, 25917, 15072}),
                      Array::of<int8_t>({3, 5}, {87, -99, 107, 105, 49, 77, 62, 96, 99, 6, 81, 106, -52, -116, -84}),
                      Array::of<int64_t>({3}, {-2819, -393, -2879}), Array::of<int32_t>({1}, {1099511573}), Array::of<int32_t>({1}, {-6})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {25766, -1976, 8025, 32767, 32767, -20481});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQMatmul, AgreesWithTfliteInt16With32BitSums) {
  ops::q_matmul::Attrs a;
  a.input_zero = 0;
  a.output_zero = 0;
  a.wide = 0;
  const auto r = run(OpId::q_matmul, a,
                     {Array::of<int16_t>({2, 5}, {-15798, -16203, 13547, -16478, 29480, -20480, 30919, 4394, -16779, -30214}),
                      Array::of<int8_t>({3, 5}, {-50, 23, -100, -85, -98, 45, -105, -122, -11, -48, 18, 112, 91, 10, 36}),
                      Array::of<int32_t>({3}, {1870, -376, 948}), Array::of<int32_t>({1}, {1099511573}), Array::of<int32_t>({1}, {-6})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-19392, -15172, 249, 32767, -24558, 17917});
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQMatmul, AgreesWithTfliteHybrid) {
  ops::q_matmul::Attrs a;
  a.to = static_cast<uint32_t>(DType::f32);
  const auto r = run(OpId::q_matmul, a,
                     {Array::of<int8_t>({2, 5}, {127, -105, 72, 41, 73, 127, 100, -77, -114, 55}),
                      Array::of<int8_t>({3, 5}, {-88, -99, -51, 32, -95, 76, -50, -48, 42, 93, -16, 76, -50, -95, 84}),
                      Array::of<float>({3}, {0.03853476420044899, -0.8605155944824219, -1.5134943723678589}),
                      Array::of<float>({1}, {0.019999999552965164}), Array::none(), Array::of<int32_t>({2}, {0, 0}), Array::none(),
                      Array::of<float>({2}, {0.0119289206340909, 0.014795340597629547})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0],
                {-2.3653810024261475, 3.9007935523986816, -4.227323532104492, -7.6615519523620605, 1.7064757347106934, 5.845115661621094},
                1e-7);
}

// Values computed by LiteRT's reference kernels (BUILTIN_REF).
TEST(OpQMatmul, AgreesWithTfliteHybridAsymmetric) {
  ops::q_matmul::Attrs a;
  a.to = static_cast<uint32_t>(DType::f32);
  const auto r = run(OpId::q_matmul, a,
                     {Array::of<int8_t>({2, 5}, {47, -48, -128, 127, 60, 127, -126, -66, -128, -108}),
                      Array::of<int8_t>({3, 5}, {68, -9, 100, -92, -86, -39, -121, -2, 38, 41, -73, -86, 16, 34, 113}),
                      Array::of<float>({3}, {-0.0894879624247551, -0.01402973011136055, -1.4498637914657593}),
                      Array::of<float>({1}, {0.019999999552965164}), Array::none(), Array::of<int32_t>({2}, {67, 53}), Array::none(),
                      Array::of<float>({2}, {0.008428088389337063, 0.005512045230716467})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0],
                {-4.26021146774292, 2.8646678924560547, 0.14793312549591064, 2.6931025981903076, 0.5958229303359985, -3.2422704696655273},
                1e-7);
}

TEST(OpQMatmul, RankEight) {
  const Array x = full_range(DType::s8, {2, 3, 4}, 1), w = full_range(DType::s8, {5, 4}, 2);
  ops::q_matmul::Attrs a;
  a.to = static_cast<uint32_t>(DType::s32);
  a.input_zero = -5;
  expect_same_elements(OpId::q_matmul, a, {x, w}, a, {x.reshaped({1, 1, 2, 1, 1, 1, 3, 4}), w});
}

}  // namespace mote::optest
