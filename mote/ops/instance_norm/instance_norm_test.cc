#include "mote/ops/instance_norm/instance_norm.h"

#include "mote/ops/testing/norm_cases.h"

namespace mote::optest {

TEST(OpInstanceNorm, EveryTypeAndShape) {
  for (DType type : types_of(ops::instance_norm::Types{})) {
    for (const Shape& shape : norm_shapes()) {
      for (int factors = 0; factors < 4; ++factors) {
        SCOPED_TRACE(std::string(dtype_name(type)) + ::testing::PrintToString(shape));
        const int32_t channels = shape.empty() ? 1 : shape.back();
        const Array x = Array::random(type, shape, 1), scale = Array::random(type, {channels}, 2),
                    bias = Array::random(type, {channels}, 3);
        const auto r = run_in_place(OpId::instance_norm, ops::instance_norm::Attrs{0.5f},
                                    {x, factors & 1 ? scale : Array::none(), factors & 2 ? bias : Array::none()});
        ASSERT_TRUE(r.ok()) << r.message();
        expect_shape(r.outputs[0], shape);
        expect_oracle(
            r.outputs[0],
            [&](const Shape& at) {
              const SliceStats s = slice_stats(x, at, [&](size_t d) { return d > 0 && d + 1 < shape.size(); });
              const int32_t ch = shape.empty() ? 0 : at.back();
              const double v = (x.at(at) - s.mean) / std::sqrt(s.variance + 0.5);
              return v * (factors & 1 ? scale.get(ch) : 1) + (factors & 2 ? bias.get(ch) : 0);
            },
            20);
      }
    }
  }
}

TEST(OpInstanceNorm, NanSpreadsOverItsChannelAlone) {
  const auto r = run(OpId::instance_norm, ops::instance_norm::Attrs{}, {Array::of<float>({1, 2, 2}, {NAN, 3, 1, 3})});
  expect_values(r.outputs[0], {NAN, 0, NAN, 0});
}

TEST(OpInstanceNorm, Refuses) {
  const Array x = Array::random(DType::f32, {2, 3, 4}, 1);
  const auto why = [&](float epsilon, const std::vector<Array>& inputs) {
    return run(OpId::instance_norm, ops::instance_norm::Attrs{epsilon}, inputs).status.why();
  };
  EXPECT_EQ(why(0, {Array::random(DType::s32, {2, 3, 4}, 1)}), Why::kDType);
  EXPECT_EQ(why(-1, {x}), Why::kAttribute);
  EXPECT_EQ(why(0, {x, Array::random(DType::f32, {3}, 1)}), Why::kDimMismatch);
  EXPECT_EQ(why(0, {x, Array::none(), Array::random(DType::f32, {1, 4}, 1)}), Why::kRank);
}

}  // namespace mote::optest
