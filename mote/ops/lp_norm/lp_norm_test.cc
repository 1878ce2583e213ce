#include "mote/ops/lp_norm/lp_norm.h"

#include "mote/ops/testing/norm_cases.h"

namespace mote::optest {
namespace lp_norm_case {
namespace {

double oracle(const Array& x, const ops::lp_norm::Attrs& a, const Shape& at) {
  double sum = 0;
  Shape k = at;
  const size_t axis = static_cast<size_t>(a.axis);
  for (int32_t i = 0; i < (at.empty() ? 1 : x.shape()[axis]); ++i) {
    if (!at.empty()) k[axis] = i;
    sum += std::pow(std::fabs(x.at(k)), a.p);
  }
  if (a.epsilon_mode == 1) sum = std::max(sum, static_cast<double>(a.epsilon));
  if (a.epsilon_mode == 2) sum += a.epsilon;
  const double norm = std::pow(sum, 1.0 / a.p);
  return x.at(at) / (a.epsilon_mode == 0 ? std::max(norm, static_cast<double>(a.epsilon)) : norm);
}

}  // namespace
}  // namespace lp_norm_case

TEST(OpLpNorm, EveryTypeShapeAxisOrderAndEpsilon) {
  for (DType type : types_of(ops::lp_norm::Types{})) {
    for (const Shape& shape : norm_shapes()) {
      for (int axis = 0; axis < std::max<int>(1, static_cast<int>(shape.size())); ++axis) {
        for (float p : {1.f, 2.f, 3.f}) {
          for (uint32_t mode = 0; mode < 3; ++mode) {
            SCOPED_TRACE(std::string(dtype_name(type)) + ::testing::PrintToString(shape) + " axis " + std::to_string(axis));
            const ops::lp_norm::Attrs a{axis, p, 2, mode};
            const Array x = Array::random(type, shape, 1);
            const auto r = run_in_place(OpId::lp_norm, a, {x});
            ASSERT_TRUE(r.ok()) << r.message();
            expect_shape(r.outputs[0], shape);
            expect_oracle(
                r.outputs[0], [&](const Shape& at) { return lp_norm_case::oracle(x, a, at); }, 4);
          }
        }
      }
    }
  }
}

TEST(OpLpNorm, ZerosStayZeroAndNanSpreads) {
  const auto r = run(OpId::lp_norm, ops::lp_norm::Attrs{}, {Array::of<float>({3, 2}, {0, 0, NAN, 1, INFINITY, 1})});
  expect_values(r.outputs[0], {0, 0, NAN, NAN, NAN, 0});
}

TEST(OpLpNorm, Refuses) {
  const Array x = Array::random(DType::f32, {2, 3}, 1);
  const auto why = [&](ops::lp_norm::Attrs a) { return run(OpId::lp_norm, a, {x}).status.why(); };
  EXPECT_EQ(why({2, 2, 0, 0}), Why::kAxis);
  EXPECT_EQ(why({-1, 0, 0, 0}), Why::kAttribute);
  EXPECT_EQ(why({-1, NAN, 0, 0}), Why::kAttribute);
  EXPECT_EQ(why({-1, 2, -1, 0}), Why::kAttribute);
  EXPECT_EQ(why({-1, 2, 0, 3}), Why::kAttribute);
  EXPECT_EQ(run(OpId::lp_norm, ops::lp_norm::Attrs{}, {Array::random(DType::s8, {2}, 1)}).status.why(), Why::kDType);
}

}  // namespace mote::optest
