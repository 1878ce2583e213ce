#include "mote/ops/gather/gather.h"

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

using GatherAttrs = ops::gather::Attrs;

TEST(OpGather, TakesSlicesAlongEveryAxis) {
  const Array indices = Array::of<int64_t>({2, 3}, {0, 2, -1, 1, -3, 1});
  for (DType type : all_types()) {
    const Array x = sample(type, {3, 4, 5}, 7);
    for (int32_t axis = -3; axis < 3; ++axis) {
      const size_t along = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
      const auto r = run(OpId::gather, GatherAttrs{axis, 0}, {x, indices});
      ASSERT_TRUE(r.ok()) << r.message();
      Shape shape = {3, 4, 5};
      shape[along] = 3;
      shape.insert(shape.begin() + static_cast<ptrdiff_t>(along), 2);
      expect_shape(r.outputs[0], shape);
      expect_oracle(r.outputs[0], [&](const Shape& at) {
        Shape from = at;
        const int32_t index = static_cast<int32_t>(indices.at({at[along], at[along + 1]}));
        from.erase(from.begin() + static_cast<ptrdiff_t>(along));
        from[along] = index < 0 ? index + x.shape()[along] : index;
        return x.at(from);
      });
    }
  }
}

TEST(OpGather, SharesBatchAxes) {
  const Array x = sample(DType::f32, {2, 3, 4, 2}, 7), indices = Array::of<int32_t>({2, 3, 2}, {0, 1, 2, 3, 0, 0, 1, 1, 2, 2, 3, 3});
  auto r = run(OpId::gather, GatherAttrs{2, 2}, {x, indices});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_shape(r.outputs[0], {2, 3, 2, 2});
  expect_oracle(r.outputs[0], [&](const Shape& i) {
    return x.at({i[0], i[1], static_cast<int32_t>(indices.at({i[0], i[1], i[2]})), i[3]});
  });
  r = run(OpId::gather, GatherAttrs{2, -2}, {x, indices});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_shape(r.outputs[0], {2, 3, 3, 2, 2});
  expect_oracle(r.outputs[0], [&](const Shape& i) {
    return x.at({i[0], i[1], static_cast<int32_t>(indices.at({i[0], i[2], i[3]})), i[4]});
  });
}

TEST(OpGather, ScalarsEmptyAndRank8) {
  expect_values(run(OpId::gather, GatherAttrs{}, {Array::of<float>({3}, {1, 2, 3}), Array::scalar(DType::s32, -1)}).outputs[0], {3});
  expect_shape(run(OpId::gather, GatherAttrs{}, {Array(DType::f32, {0, 2}), Array(DType::s64, {0})}).outputs[0], {0, 2});
  expect_shape(run(OpId::gather, GatherAttrs{}, {Array(DType::f32, {2, 0}), s64({1, 1, 1})}).outputs[0], {3, 0});
  const Array x = sample(DType::u8, {1, 2, 1, 2, 1, 2, 1, 3}, 1);
  const auto r = run(OpId::gather, GatherAttrs{7, 0}, {x, s64({2})});
  expect_oracle(r.outputs[0], [&](const Shape& i) { return x.at({0, i[1], 0, i[3], 0, i[5], 0, 2}); });
}

TEST(OpGather, Refuses) {
  const Array x = sample(DType::f32, {3, 2}, 1);
  for (double bad : {3.0, -4.0, 9e18, -9e18}) {
    const auto r = run(OpId::gather, GatherAttrs{}, {x, s64({0, bad})});
    EXPECT_EQ(r.status, Status(Status::kInvalidArgument, Why::kIndexRange));
  }
  EXPECT_EQ(refusal(OpId::gather, GatherAttrs{}, {Array(DType::f32, {0}), s64({0})}), Why::kIndexRange);
  EXPECT_EQ(refusal(OpId::gather, GatherAttrs{2, 0}, {x, s64({0})}), Why::kAxis);
  EXPECT_EQ(refusal(OpId::gather, GatherAttrs{0, 0}, {Array::scalar(DType::f32, 1), s64({0})}), Why::kAxis);
  EXPECT_EQ(refusal(OpId::gather, GatherAttrs{0, 1}, {x, s64({0})}), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::gather, GatherAttrs{1, 2}, {x, s64({0})}), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::gather, GatherAttrs{1, 1}, {x, s64({0, 0})}), Why::kDimMismatch);
  EXPECT_EQ(refusal(OpId::gather, GatherAttrs{}, {x, x}), Why::kDType);
  EXPECT_EQ(refusal(OpId::gather, GatherAttrs{}, {x, Array(DType::s32, {1, 1, 1, 1, 1, 1, 1, 1})}), Why::kRank);
}

}  // namespace mote::optest
