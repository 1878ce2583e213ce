#include "mote/ops/mean_variance_norm/mean_variance_norm.h"

#include "mote/ops/testing/norm_cases.h"

namespace mote::optest {

TEST(OpMeanVarianceNorm, EveryTypeShapeAndSetOfAxes) {
  for (DType type : types_of(ops::mean_variance_norm::Types{})) {
    for (const Shape& shape : norm_shapes()) {
      const uint32_t all = 1u << std::min<size_t>(shape.size(), 4);
      for (uint32_t mask = 0; mask < all; ++mask) {
        SCOPED_TRACE(std::string(dtype_name(type)) + ::testing::PrintToString(shape) + " axes " + std::to_string(mask));
        ops::mean_variance_norm::Attrs a;
        a.epsilon = 0.5f;
        a.epsilon_inside = mask & 1;
        const int rank = static_cast<int>(shape.size());
        for (int d = 0; d < rank; ++d)
          if ((mask >> d & 1) != 0) a.axes[a.axis_count++] = d % 2 == 0 ? d : d - rank;
        const Array x = Array::random(type, shape, 1);
        const auto r = run_in_place(OpId::mean_variance_norm, a, {x});
        ASSERT_TRUE(r.ok()) << r.message();
        expect_shape(r.outputs[0], shape);
        expect_oracle(
            r.outputs[0],
            [&](const Shape& at) {
              const SliceStats s = slice_stats(x, at, [&](size_t d) { return (mask >> d & 1) != 0; });
              return (x.at(at) - s.mean) / (a.epsilon_inside ? std::sqrt(s.variance + 0.5) : std::sqrt(s.variance) + 0.5);
            },
            20);
      }
    }
  }
}

TEST(OpMeanVarianceNorm, NanSpreadsOverItsSlice) {
  const auto r =
      run(OpId::mean_variance_norm, ops::mean_variance_norm::Attrs{{0}, 1, 1e-9f, 0}, {Array::of<float>({2, 2}, {NAN, 1, 3, 3})});
  expect_values(r.outputs[0], {NAN, -1, NAN, 1});
}

TEST(OpMeanVarianceNorm, Refuses) {
  const Array x = Array::random(DType::f32, {2, 3}, 1);
  const auto why = [&](ops::mean_variance_norm::Attrs a) { return run(OpId::mean_variance_norm, a, {x}).status.why(); };
  EXPECT_EQ(why({{2}, 1, 0, 0}), Why::kAxis);
  EXPECT_EQ(why({{0, -2}, 2, 0, 0}), Why::kAxis);
  EXPECT_EQ(why({{}, 9, 0, 0}), Why::kAttribute);
  EXPECT_EQ(why({{}, -1, 0, 0}), Why::kAttribute);
  EXPECT_EQ(why({{}, 0, 0, 2}), Why::kAttribute);
  EXPECT_EQ(why({{}, 0, -1, 0}), Why::kAttribute);
  EXPECT_EQ(run(OpId::mean_variance_norm, ops::mean_variance_norm::Attrs{}, {Array::random(DType::s8, {2}, 1)}).status.why(), Why::kDType);
}

}  // namespace mote::optest
