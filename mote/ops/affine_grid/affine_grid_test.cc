#include "mote/ops/affine_grid/affine_grid.h"

#include "mote/ops/testing/nn_test_pattern.h"

namespace mote::optest {

TEST(OpAffineGrid, EveryTypeAndRank) {
  for (DType type : types_of(ops::affine_grid::Types{}))
    for (int spatial : {2, 3})
      for (int align : {0, 1}) {
        const Array theta = Array::random(type, {2, spatial, spatial + 1}, 1, -1, 1);
        ops::affine_grid::Attrs a{align, {3, 4, spatial == 3 ? 1 : 0}};
        const auto r = run(OpId::affine_grid, a, {theta});
        ASSERT_TRUE(r.ok()) << r.message();
        const Shape& shape = r.outputs[0].shape();
        expect_oracle(
            r.outputs[0],
            [&](const Shape& at) {
              double sum = theta.at({at[0], at.back(), spatial});
              for (int d = 0; d < spatial; ++d) {
                const int i = at[spatial - d], n = shape[spatial - d];
                const double place = align ? (n == 1 ? 0 : -1 + 2.0 * i / (n - 1)) : -1 + (2.0 * i + 1) / n;
                sum += place * theta.at({at[0], at.back(), d});
              }
              return sum;
            },
            2);
      }
}

TEST(OpAffineGrid, AgreesWithOnnx) {
  auto r = run(OpId::affine_grid, ops::affine_grid::Attrs{}, {pattern(DType::f32, {2, 2, 3}, 1), Array::of<int64_t>({4}, {2, 1, 2, 3})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {-0.583333313, -0.375, -0.75,         -1.375, -0.916666687, -2.375,         0.916666687, -0.125,
                               0.75,         -1.125, 0.583333313,   -2.125, 0.916666687,  -0.5,           1.25,        -1,
                               1.58333337,   -1.5,   -0.0833333358, 0.5,    0.25,         1.11022302e-16, 0.583333313, -0.5},
                2e-6);
  r = run(OpId::affine_grid, ops::affine_grid::Attrs{1, {}}, {pattern(DType::f32, {1, 3, 4}, 1), Array::of<int32_t>({5}, {1, 1, 2, 2, 3})});
  expect_values(r.outputs[0], {-2.75, -0.5, -1.5, -3, -0.25, -0.75, -3.25, 0, 0, 0.25, -3, -3, 0, -2.75, -2.25, -0.25, -2.5, -1.5,
                               -2.75, 0.5,  0.5,  -3, 0.75,  1.25,  -3.25, 1, 2, 0.25, -2, -1, 0, -1.75, -0.25, -0.25, -1.5, 0.5},
                2e-6);
}

TEST(OpAffineGrid, EmptyAndNan) {
  EXPECT_TRUE(run(OpId::affine_grid, ops::affine_grid::Attrs{}, {Array(DType::f32, {2, 2, 3})}).ok());
  const auto r = run(OpId::affine_grid, ops::affine_grid::Attrs{1, {1, 1, 0}}, {Array::of<float>({1, 2, 3}, {NAN, 0, 0, 0, 0, 5})});
  expect_values(r.outputs[0], {NAN, 5});
}

TEST(OpAffineGrid, RefusesWhatDoesNotFit) {
  using ops::affine_grid::Attrs;
  const auto why = [](const Attrs& a, const std::vector<Array>& in) { return run(OpId::affine_grid, a, in).status.why(); };
  const Array theta(DType::f32, {2, 2, 3});
  EXPECT_EQ(why({}, {Array(DType::s32, {2, 2, 3})}), Why::kDType);
  EXPECT_EQ(why({}, {Array(DType::f32, {2, 3})}), Why::kRank);
  EXPECT_EQ(why({}, {Array(DType::f32, {2, 2, 4})}), Why::kDimMismatch);
  EXPECT_EQ(why({2, {}}, {theta}), Why::kAttribute);
  EXPECT_EQ(why({0, {-1, 2, 0}}, {theta}), Why::kNegativeDim);
  EXPECT_EQ(why({0, {1 << 20, 1 << 20, 0}}, {theta}), Why::kShapeOverflow);
  EXPECT_EQ(why({}, {theta, Array(DType::f32, {4})}), Why::kDType);
  EXPECT_EQ(why({}, {theta, Array(DType::s32, {5})}), Why::kDimMismatch);
  EXPECT_EQ(why({}, {theta, Array::of<int32_t>({4}, {1, 1, 2, 2})}), Why::kDimMismatch);
  EXPECT_EQ(why({}, {theta, Array::of<int32_t>({4}, {2, 1, -1, 2})}), Why::kNegativeDim);
}

}  // namespace mote::optest
