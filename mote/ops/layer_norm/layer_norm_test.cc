#include "mote/ops/layer_norm/layer_norm.h"

#include "mote/ops/testing/norm_cases.h"

namespace mote::optest {

TEST(OpLayerNorm, EveryTypeShapeAndAxis) {
  for (DType type : types_of(ops::layer_norm::Types{})) {
    for (const Shape& shape : norm_shapes()) {
      for (int axis = 0; axis < std::max<int>(1, static_cast<int>(shape.size())); ++axis) {
        SCOPED_TRACE(std::string(dtype_name(type)) + ::testing::PrintToString(shape) + " axis " + std::to_string(axis));
        const ops::layer_norm::Attrs a{axis, 0.5f};
        const Shape factors(shape.begin() + (shape.empty() ? 0 : axis), shape.end());
        const Array x = Array::random(type, shape, 1), scale = Array::random(type, factors, 2), bias = Array::random(type, factors, 3);
        const auto r = run(OpId::layer_norm, a, {x, scale, bias}, 3);
        ASSERT_TRUE(r.ok()) << r.message();
        const auto stats = [&](const Shape& at) { return slice_stats(x, at, [&](size_t d) { return static_cast<int>(d) >= axis; }); };
        expect_shape(r.outputs[0], shape);
        expect_oracle(
            r.outputs[0],
            [&](const Shape& at) {
              const SliceStats s = stats(at);
              return (x.at(at) - s.mean) / std::sqrt(s.variance + 0.5) * broadcast_value(scale, at) + broadcast_value(bias, at);
            },
            20);
        Shape kept = shape;
        for (size_t d = static_cast<size_t>(axis); d < kept.size(); ++d) kept[d] = 1;
        EXPECT_EQ(r.outputs[1].dtype(), type == DType::f64 ? DType::f64 : DType::f32);
        expect_shape(r.outputs[1], kept);
        expect_shape(r.outputs[2], kept);
        expect_oracle(
            r.outputs[1], [&](const Shape& at) { return stats(at).mean; }, 4);
        expect_oracle(
            r.outputs[2], [&](const Shape& at) { return 1 / std::sqrt(stats(at).variance + 0.5); }, 4);
      }
    }
  }
}

TEST(OpLayerNorm, FactorsBroadcastAndMayBeAbsent) {
  const Array x = Array::random(DType::f32, {2, 3, 4}, 1), bias = Array::random(DType::f32, {3, 1}, 2);
  for (bool with_bias : {false, true}) {
    const auto r = run_in_place(OpId::layer_norm, ops::layer_norm::Attrs{}, {x, Array::none(), with_bias ? bias : Array::none()});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_oracle(
        r.outputs[0],
        [&](const Shape& at) {
          const SliceStats s = slice_stats(x, at, [](size_t d) { return d == 2; });
          return (x.at(at) - s.mean) / std::sqrt(s.variance + 1e-5) + (with_bias ? bias.get(at[1]) : 0);
        },
        20);
  }
}

TEST(OpLayerNorm, LargeMeansAndLongRowsKeepTheirPrecision) {
  const Array x = Array::random(DType::f32, {2, 20000}, 1, 100, 101);
  const auto r = run(OpId::layer_norm, ops::layer_norm::Attrs{}, {x});
  SliceStats s[2] = {slice_stats(x, {0, 0}, [](size_t d) { return d == 1; }), slice_stats(x, {1, 0}, [](size_t d) { return d == 1; })};
  expect_oracle(
      r.outputs[0], [&](const Shape& at) { return (x.at(at) - s[at[0]].mean) / std::sqrt(s[at[0]].variance + 1e-5); }, 200);
}

TEST(OpLayerNorm, NanSpreadsOverItsSlice) {
  const auto r = run(OpId::layer_norm, ops::layer_norm::Attrs{}, {Array::of<float>({2, 2}, {NAN, 1, 3, 3})});
  expect_values(r.outputs[0], {NAN, NAN, 0, 0});
}

TEST(OpLayerNorm, Refuses) {
  const Array x = Array::random(DType::f32, {2, 3}, 1);
  const auto why = [&](ops::layer_norm::Attrs a, const std::vector<Array>& inputs) {
    return run(OpId::layer_norm, a, inputs).status.why();
  };
  EXPECT_EQ(why({}, {Array::random(DType::s32, {2, 3}, 1)}), Why::kDType);
  EXPECT_EQ(why({2, 0}, {x}), Why::kAxis);
  EXPECT_EQ(why({-1, -1}, {x}), Why::kAttribute);
  EXPECT_EQ(why({}, {x, Array::random(DType::f32, {2}, 1)}), Why::kBroadcast);
  EXPECT_EQ(why({}, {x, Array::random(DType::f32, {1, 2, 3}, 1)}), Why::kRank);
  EXPECT_EQ(why({}, {x, Array::none(), Array::random(DType::f16, {3}, 1)}), Why::kDTypeMismatch);
  EXPECT_EQ(why({}, {x, Array::random(DType::f32, {3}, 1).packed(Layout::kPanel16)}), Why::kLayout);
}

}  // namespace mote::optest
