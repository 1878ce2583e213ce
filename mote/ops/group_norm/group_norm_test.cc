#include "mote/ops/group_norm/group_norm.h"

#include "mote/ops/testing/norm_cases.h"

namespace mote::optest {

TEST(OpGroupNorm, EveryTypeShapeAndGrouping) {
  for (DType type : types_of(ops::group_norm::Types{})) {
    for (const Shape& shape : norm_shapes()) {
      const int32_t channels = shape.empty() ? 1 : shape.back();
      for (int32_t groups = 1; groups <= std::max(1, channels); ++groups) {
        if (channels % groups != 0) continue;
        SCOPED_TRACE(std::string(dtype_name(type)) + ::testing::PrintToString(shape) + " groups " + std::to_string(groups));
        const int32_t size = channels / groups;
        const Array x = Array::random(type, shape, 1), scale = Array::random(type, {channels}, 2),
                    bias = Array::random(type, {channels}, 3);
        for (bool affine : {false, true}) {
          std::vector<Array> inputs = {x};
          if (affine) inputs = {x, scale, bias};
          const auto r = run_in_place(OpId::group_norm, ops::group_norm::Attrs{groups, 0.5f}, inputs);
          ASSERT_TRUE(r.ok()) << r.message();
          expect_shape(r.outputs[0], shape);
          expect_oracle(
              r.outputs[0],
              [&](const Shape& at) {
                const auto same_group = [&](const Shape& i) { return i.empty() || i.back() / size == at.back() / size; };
                const SliceStats s = slice_stats(
                    x, at, [&](size_t d) { return d > 0 || shape.size() < 2; }, same_group);
                const int32_t ch = shape.empty() ? 0 : at.back();
                return (x.at(at) - s.mean) / std::sqrt(s.variance + 0.5) * (affine ? scale.get(ch) : 1) + (affine ? bias.get(ch) : 0);
              },
              20);
        }
      }
    }
  }
}

TEST(OpGroupNorm, NanSpreadsOverItsGroupAlone) {
  const auto r = run(OpId::group_norm, ops::group_norm::Attrs{2, 0}, {Array::of<float>({1, 1, 4}, {NAN, 3, 1, 3})});
  expect_values(r.outputs[0], {NAN, NAN, -1, 1});
}

TEST(OpGroupNorm, Refuses) {
  const Array x = Array::random(DType::f32, {2, 3, 4}, 1);
  const auto why = [&](ops::group_norm::Attrs a, const std::vector<Array>& inputs) {
    return run(OpId::group_norm, a, inputs).status.why();
  };
  EXPECT_EQ(why({}, {Array::random(DType::s32, {2, 3, 4}, 1)}), Why::kDType);
  EXPECT_EQ(why({0, 0}, {x}), Why::kGroups);
  EXPECT_EQ(why({3, 0}, {x}), Why::kGroups);
  EXPECT_EQ(why({2, -1}, {x}), Why::kAttribute);
  EXPECT_EQ(why({}, {x, Array::random(DType::f32, {3}, 1)}), Why::kDimMismatch);
  EXPECT_EQ(why({}, {x, Array::none(), Array::random(DType::f16, {4}, 1)}), Why::kDTypeMismatch);
}

}  // namespace mote::optest
