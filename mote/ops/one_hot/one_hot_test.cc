#include "mote/ops/one_hot/one_hot.h"

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

using OneHotAttrs = ops::one_hot::Attrs;

TEST(OpOneHot, EveryIndexAndResultType) {
  for (DType type : all_types()) {
    for (DType index_type : types_of(NumberTypes{})) {
      const Array indices = Array::random(index_type, {2, 3}, 5, 0, 4);
      const Array values = Array::from(type, {2}, {0, 1});
      for (int32_t axis = -3; axis < 3; ++axis) {
        const size_t along = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
        const auto given = run(OpId::one_hot, OneHotAttrs{9, axis, 0, 0}, {indices, Array::scalar(DType::s64, 4), values});
        const auto made = run(OpId::one_hot, OneHotAttrs{4, axis, dtype_value(type), 0}, {indices});
        for (const auto& r : {given, made}) {
          ASSERT_TRUE(r.ok()) << r.message();
          EXPECT_EQ(r.outputs[0].dtype(), type);
          EXPECT_EQ(r.outputs[0].shape()[along], 4);
          expect_oracle(r.outputs[0], [&](const Shape& at) {
            Shape i = at;
            i.erase(i.begin() + static_cast<ptrdiff_t>(along));
            return std::trunc(indices.at(i)) == at[along] ? 1 : 0;
          });
        }
      }
    }
  }
}

TEST(OpOneHot, NegativeAndOutsideIndices) {
  const Array x = Array::of<int64_t>({5}, {-1, -3, -4, 3, 9e18}), values = Array::of<float>({2}, {-INFINITY, NAN});
  expect_values(run(OpId::one_hot, OneHotAttrs{3, -1, 0, 0}, {x}).outputs[0], {0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  expect_values(run(OpId::one_hot, OneHotAttrs{3, -1, 0, 1}, {x}).outputs[0], std::vector<double>(15, 0));
  const auto r = run(OpId::one_hot, OneHotAttrs{2, 0, 0, 0}, {Array::of<float>({2}, {NAN, 1.9}), Array::none(), values});
  expect_values(r.outputs[0], {NAN, -INFINITY, -INFINITY, NAN});
}

TEST(OpOneHot, ScalarsEmptyAndUnknownDepth) {
  expect_values(run(OpId::one_hot, OneHotAttrs{2, 0, 0, 0}, {Array::scalar(DType::s32, 1)}).outputs[0], {0, 1});
  expect_shape(run(OpId::one_hot, OneHotAttrs{0, 1, 0, 0}, {s64({1, 2})}).outputs[0], {2, 0});
  EXPECT_EQ(infer_hidden(OpId::one_hot, OneHotAttrs{}, {s64({1, 2}), s64({3})}, {1}).shape(), (Shape{2, kDimUnknown}));
  expect_shape(run(OpId::one_hot, OneHotAttrs{0, -1, 0, 0}, {s64({1}), Array::scalar(DType::f32, 3)}).outputs[0], {1, 3});
}

TEST(OpOneHot, Refuses) {
  const Array x = s64({1});
  EXPECT_EQ(refusal(OpId::one_hot, OneHotAttrs{2, 2, 0, 0}, {x}), Why::kAxis);
  EXPECT_EQ(refusal(OpId::one_hot, OneHotAttrs{-1, 0, 0, 0}, {x}), Why::kNegativeDim);
  EXPECT_EQ(refusal(OpId::one_hot, OneHotAttrs{}, {x, s64({-1})}), Why::kNegativeDim);
  EXPECT_EQ(refusal(OpId::one_hot, OneHotAttrs{}, {x, s64({9e18})}), Why::kShapeOverflow);
  EXPECT_EQ(refusal(OpId::one_hot, OneHotAttrs{}, {x, s64({1, 2})}), Why::kDimMismatch);
  EXPECT_EQ(refusal(OpId::one_hot, OneHotAttrs{2, -1, 14, 0}, {x}), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::one_hot, OneHotAttrs{2, -1, 0, 0}, {x, Array::none(), s64({1, 2, 3})}), Why::kDimMismatch);
  EXPECT_EQ(refusal(OpId::one_hot, OneHotAttrs{2, -1, 0, 0}, {Array(DType::boolean, {1})}), Why::kDType);
  EXPECT_EQ(refusal(OpId::one_hot, OneHotAttrs{2, -1, 0, 0}, {Array(DType::s32, {1, 1, 1, 1, 1, 1, 1, 1})}), Why::kRank);
}

TEST(OpOneHot, RankEight) {
  const Array x = s64({2, 0, 1, 3});
  expect_same_elements(OpId::one_hot, OneHotAttrs{4, -1, 0, 0}, {x}, OneHotAttrs{4, -1, 0, 0}, {x.reshaped({1, 2, 1, 1, 2, 1, 1})});
}

}  // namespace mote::optest
