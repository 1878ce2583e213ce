#include "mote/ops/rms_norm/rms_norm.h"

#include "mote/ops/testing/norm_cases.h"

namespace mote::optest {

TEST(OpRmsNorm, EveryTypeShapeAndAxis) {
  for (DType type : types_of(ops::rms_norm::Types{})) {
    for (const Shape& shape : norm_shapes()) {
      for (int axis = 0; axis < std::max<int>(1, static_cast<int>(shape.size())); ++axis) {
        SCOPED_TRACE(std::string(dtype_name(type)) + ::testing::PrintToString(shape) + " axis " + std::to_string(axis));
        const ops::rms_norm::Attrs a{axis, 0.5f};
        const Array x = Array::random(type, shape, 1);
        const Array scale = Array::random(type, Shape(shape.begin() + (shape.empty() ? 0 : axis), shape.end()), 2);
        for (bool scaled : {false, true}) {
          const auto r = run_in_place(OpId::rms_norm, a, {x, scaled ? scale : Array::none()});
          ASSERT_TRUE(r.ok()) << r.message();
          expect_shape(r.outputs[0], shape);
          expect_oracle(
              r.outputs[0],
              [&](const Shape& at) {
                const SliceStats s = slice_stats(x, at, [&](size_t d) { return static_cast<int>(d) >= axis; });
                return x.at(at) / std::sqrt(s.mean_square + 0.5) * (scaled ? broadcast_value(scale, at) : 1);
              },
              20);
        }
      }
    }
  }
}

TEST(OpRmsNorm, NanSpreadsOverItsSlice) {
  const auto r = run(OpId::rms_norm, ops::rms_norm::Attrs{-1, 0}, {Array::of<float>({2, 2}, {NAN, 1, 3, -3})});
  expect_values(r.outputs[0], {NAN, NAN, 1, -1});
}

TEST(OpRmsNorm, Refuses) {
  const Array x = Array::random(DType::f32, {2, 3}, 1);
  const auto why = [&](ops::rms_norm::Attrs a, const std::vector<Array>& inputs) { return run(OpId::rms_norm, a, inputs).status.why(); };
  EXPECT_EQ(why({}, {Array::random(DType::s32, {2, 3}, 1)}), Why::kDType);
  EXPECT_EQ(why({-3, 0}, {x}), Why::kAxis);
  EXPECT_EQ(why({-1, NAN}, {x}), Why::kAttribute);
  EXPECT_EQ(why({}, {x, Array::random(DType::f32, {2}, 1)}), Why::kBroadcast);
}

}  // namespace mote::optest
