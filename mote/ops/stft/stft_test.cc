#include "mote/ops/stft/stft.h"

#include <complex>

#include "mote/ops/testing/nn_test_pattern.h"

namespace mote::optest {

TEST(OpStft, EveryTypeAndForm) {
  for (DType type : types_of(ops::stft::Types{})) {
    SCOPED_TRACE(dtype_name(type));
    for (const Shape& shape : {Shape{2, 23}, Shape{2, 23, 1}, Shape{2, 23, 2}})
      for (int n : {5, 8, 12})
        for (int onesided : {0, 1})
          for (bool windowed : {false, true}) {
            const Array x = Array::random(type, shape, 1, -1, 1), w = windowed ? Array::random(type, {n}, 2, 0, 1) : Array::none();
            const auto r = run(OpId::stft, ops::stft::Attrs{3, windowed ? 0 : n, onesided}, {x, w});
            ASSERT_TRUE(r.ok()) << r.message();
            expect_shape(r.outputs[0], {2, (23 - n) / 3 + 1, onesided ? n / 2 + 1 : n, 2});
            expect_oracle(
                r.outputs[0],
                [&](const Shape& at) {
                  std::complex<double> sum;
                  for (int i = 0; i < n; ++i) {
                    const int t = at[1] * 3 + i;
                    const double re = shape.size() == 2 ? x.at({at[0], t}) : x.at({at[0], t, 0}),
                                 im = shape.size() == 3 && shape[2] == 2 ? x.at({at[0], t, 1}) : 0;
                    sum += std::complex<double>(re, im) * (windowed ? w.get(i) : 1) * std::polar(1.0, -2 * M_PI * i * at[2] / n);
                  }
                  return at[3] == 0 ? sum.real() : sum.imag();
                },
                8);
          }
  }
}

TEST(OpStft, AgreesWithOnnx) {
  const auto r = run(OpId::stft, ops::stft::Attrs{3, 5, 1}, {pattern(DType::f32, {1, 12, 1}, 1), pattern(DType::f32, {5}, 2)});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0],
                {-0.25, 0, -0.669262767, 1.29035807, 0.169262752, 0.304612219, -4.8125, 0, -0.636936426, -0.462761402, -0.706813574,
                 -2.17534852, 3.625, 0, 0.20788987, 0.510217547, -0.770389855, 1.3010776},
                2e-6);
}

TEST(OpStft, EmptyNanAndRefused) {
  using ops::stft::Attrs;
  auto r = run(OpId::stft, Attrs{1, 8, 1}, {Array(DType::f32, {1, 7})});
  expect_shape(r.outputs[0], {1, 0, 5, 2});
  r = run(OpId::stft, Attrs{2, 2, 1}, {Array::of<float>({1, 4}, {NAN, 1, 1, 1})});
  expect_values(r.outputs[0], {NAN, NAN, NAN, NAN, 2, 0, 0, 0});
  const auto why = [](const Attrs& a, const std::vector<Array>& in) { return run(OpId::stft, a, in).status.why(); };
  const Array x(DType::f32, {1, 9});
  EXPECT_EQ(why({}, {Array(DType::s32, {1, 9})}), Why::kDType);
  EXPECT_EQ(why({}, {Array(DType::f32, {9})}), Why::kRank);
  EXPECT_EQ(why({}, {Array(DType::f32, {1, 9, 3})}), Why::kDimMismatch);
  EXPECT_EQ(why({0, 4, 1}, {x}), Why::kAttribute);
  EXPECT_EQ(why({1, 4, 2}, {x}), Why::kAttribute);
  EXPECT_EQ(why({1, -4, 1}, {x}), Why::kWindow);
  EXPECT_EQ(why({1, (1 << 24) + 1, 1}, {x}), Why::kWindow);
  EXPECT_EQ(why({1, 4, 1}, {x, Array(DType::f32, {5})}), Why::kDimMismatch);
  EXPECT_EQ(why({1, 4, 1}, {x, Array(DType::f64, {4})}), Why::kDTypeMismatch);
  EXPECT_EQ(why({1, 4, 1}, {x, Array(DType::f32, {2, 2})}), Why::kRank);
}

}  // namespace mote::optest
