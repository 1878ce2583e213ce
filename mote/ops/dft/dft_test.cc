#include "mote/ops/dft/dft.h"

#include <complex>

#include "mote/ops/testing/nn_test_pattern.h"

namespace mote::optest {
namespace dft_case {
namespace {

using ops::dft::Attrs;

// The sum as it is defined, for output element `at` of a transform of n points.
double oracle(const Attrs& a, const Array& x, int axis, int n, const Shape& at) {
  const bool mirror = a.inverse && a.onesided;
  const auto input = [&](int i) {
    Shape k = at;
    k[axis] = i;
    if (i >= x.shape()[axis] || (mirror && i > n / 2)) return std::complex<double>();
    k.back() = 0;
    const double re = x.at(k);
    k.back() = 1;
    return std::complex<double>(re, x.shape().back() == 2 ? x.at(k) : 0);
  };
  std::complex<double> sum;
  for (int i = 0; i < n; ++i) {
    const std::complex<double> v = mirror && i > n / 2 ? std::conj(input(n - i)) : input(i);
    const double angle = 2 * M_PI * static_cast<double>(static_cast<int64_t>(i) * at[axis] % n) / n;
    sum += v * std::polar(1.0, a.inverse ? angle : -angle);
  }
  if (a.inverse) sum /= n;
  return at.back() == 0 ? sum.real() : sum.imag();
}

}  // namespace
}  // namespace dft_case

TEST(OpDft, EveryTypeLengthAndSide) {
  using namespace dft_case;
  for (DType type : types_of(ops::dft::Types{})) {
    SCOPED_TRACE(dtype_name(type));
    for (int size : {1, 2, 3, 8, 12, 15, 17, 64})
      for (int parts : {1, 2})
        for (int mode = 0; mode < 4; ++mode)
          for (int length : {0, 5, 20}) {
            const Attrs a{1, mode / 2, mode % 2, length};
            const int n = length != 0 ? length : mode == 3 ? 2 * (size - 1) : size;
            if (n == 0) continue;
            const Array x = Array::random(type, {2, size, parts}, static_cast<uint32_t>(size), -1, 1);
            const auto r = run(OpId::dft, a, {x});
            ASSERT_TRUE(r.ok()) << r.message();
            expect_shape(r.outputs[0], {2, mode == 1 ? n / 2 + 1 : n, mode == 3 ? 1 : 2});
            expect_oracle(
                r.outputs[0], [&](const Shape& at) { return oracle(a, x, 1, n, at); }, 12);
          }
  }
}

TEST(OpDft, EveryAxis) {
  using namespace dft_case;
  const Array x = Array::random(DType::f64, {3, 4, 5, 2}, 1);
  for (int axis = 0; axis < 3; ++axis) {
    const auto r = run(OpId::dft, Attrs{axis - 4, 0, 0, 0}, {x});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_oracle(
        r.outputs[0], [&](const Shape& at) { return oracle({}, x, axis, x.shape()[axis], at); }, 8);
  }
}

TEST(OpDft, AgreesWithOnnx) {
  auto r = run(OpId::dft, ops::dft::Attrs{-2, 1, 1, 0}, {pattern(DType::f32, {2, 5, 2}, 1)});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0],
                {0.25, 0.541053414, 0.125, 0.0928300619, 0, -0.166053385, -0.125, -0.967830062, 0.28125, 0.7673859, -0.28125, -0.2048859,
                 0.40625, -0.2048859, -0.53125, 0.7673859},
                2e-6);
  r = run(OpId::dft, ops::dft::Attrs{1, 0, 1, 7}, {pattern(DType::f32, {2, 5, 1}, 1)});
  expect_values(r.outputs[0],
                {0, 0, 1.81144583, -0.413450688, -1.36314368, -2.83059692, -1.32330215, 1.05529821, -1.75, 0, -0.715734184, -0.0668134391,
                 -0.460291594, 0.251399517, -2.32397413, -2.46116519},
                2e-6);
}

TEST(OpDft, EmptyNanAndRefused) {
  using ops::dft::Attrs;
  EXPECT_TRUE(run(OpId::dft, Attrs{}, {Array(DType::f32, {0, 4, 1})}).ok());
  const auto r = run(OpId::dft, Attrs{}, {Array::of<float>({2, 1}, {NAN, 1})});
  expect_values(r.outputs[0], {NAN, NAN, NAN, NAN});
  const auto why = [](const Attrs& a, const Array& x) { return run(OpId::dft, a, {x}).status.why(); };
  const Array x(DType::f32, {2, 4, 1});
  EXPECT_EQ(why({}, Array(DType::s32, {2, 4, 1})), Why::kDType);
  EXPECT_EQ(why({}, Array(DType::f32, {1})), Why::kRank);
  EXPECT_EQ(why({3, 0, 0, 0}, x), Why::kAxis);
  EXPECT_EQ(why({2, 0, 0, 0}, x), Why::kAxis);
  EXPECT_EQ(why({}, Array(DType::f32, {2, 4, 3})), Why::kDimMismatch);
  EXPECT_EQ(why({1, 2, 0, 0}, x), Why::kAttribute);
  EXPECT_EQ(why({1, 0, 2, 0}, x), Why::kAttribute);
  EXPECT_EQ(why({1, 0, 0, -4}, x), Why::kWindow);
  EXPECT_EQ(why({1, 0, 0, (1 << 24) + 1}, x), Why::kWindow);
  EXPECT_EQ(why({}, Array(DType::f32, {2, 0, 1})), Why::kWindow);
}

TEST(OpDft, RankEight) {
  const Array x = pattern(DType::f32, {2, 5, 2}, 1);
  expect_same_elements(OpId::dft, ops::dft::Attrs{1, 0, 0, 0}, {x}, ops::dft::Attrs{4, 0, 0, 0}, {x.reshaped({1, 2, 1, 1, 5, 1, 1, 2})});
}

}  // namespace mote::optest
