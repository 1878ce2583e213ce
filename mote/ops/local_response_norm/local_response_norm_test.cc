#include "mote/ops/local_response_norm/local_response_norm.h"

#include "mote/ops/testing/linear_cases.h"

namespace mote::optest {
namespace local_response_norm_case {
namespace {

double oracle(const Array& x, const ops::local_response_norm::Attrs& a, const Shape& at) {
  const int32_t before = a.even_before ? a.size / 2 : static_cast<int32_t>(std::floor((a.size - 1) / 2.0));
  double sum = 0;
  for (int32_t i = 0; i < a.size; ++i) {
    Shape k = at;
    k.back() += i - before;
    if (k.back() >= 0 && k.back() < x.shape().back()) sum += x.at(k) * x.at(k);
  }
  return x.at(at) / std::pow(a.bias + static_cast<double>(a.alpha) / a.size * sum, a.beta);
}

}  // namespace
}  // namespace local_response_norm_case

TEST(OpLocalResponseNorm, EveryTypeShapeAndSize) {
  const Shape shapes[] = {{7}, {2, 5}, {2, 0}, {0, 3}, {2, 3, 2, 6}, {1, 2, 1, 2, 1, 2, 1, 4}};
  for (DType type : types_of(ops::local_response_norm::Types{})) {
    for (const Shape& shape : shapes) {
      for (int32_t size : {1, 2, 3, 4, 9}) {
        for (uint32_t before : {0u, 1u}) {
          SCOPED_TRACE(std::string(dtype_name(type)) + ::testing::PrintToString(shape) + " size " + std::to_string(size));
          const ops::local_response_norm::Attrs a{size, 0.3f, 0.75f, 1.5f, before};
          const Array x = Array::random(type, shape, 1);
          const auto r = run(OpId::local_response_norm, a, {x});
          ASSERT_TRUE(r.ok()) << r.message();
          expect_shape(r.outputs[0], shape);
          expect_oracle(
              r.outputs[0], [&](const Shape& at) { return local_response_norm_case::oracle(x, a, at); }, 4);
        }
      }
    }
  }
}

TEST(OpLocalResponseNorm, LargestSizeStripsAndNan) {
  const Array x = Array::random(DType::f32, {1, 4, 2, 3}, 1);
  const auto row = [](int32_t begin, int32_t end) { return std::make_pair(begin, end); };
  check_strips(OpId::local_response_norm, ops::local_response_norm::Attrs{0x7fffffff, 1, 1, 1, 1}, {x}, row);
  const auto r =
      run(OpId::local_response_norm, ops::local_response_norm::Attrs{1, 1, 1, 1, 0}, {Array::of<float>({3}, {NAN, 1, INFINITY})});
  expect_values(r.outputs[0], {NAN, 0.5, NAN});
}

TEST(OpLocalResponseNorm, Refuses) {
  const auto why = [](ops::local_response_norm::Attrs a, const Array& x) { return run(OpId::local_response_norm, a, {x}).status.why(); };
  EXPECT_EQ(why({}, Array::random(DType::s8, {3}, 1)), Why::kDType);
  EXPECT_EQ(why({}, Array::random(DType::f32, {}, 1)), Why::kRank);
  EXPECT_EQ(why({0, 1, 1, 1, 0}, Array::random(DType::f32, {3}, 1)), Why::kAttribute);
  EXPECT_EQ(why({1, 1, 1, 1, 2}, Array::random(DType::f32, {3}, 1)), Why::kAttribute);
}

}  // namespace mote::optest
