#include "mote/ops/gather_elements/gather_elements.h"

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

TEST(OpGatherElements, TakesOneElementPerIndex) {
  for (DType type : all_types()) {
    const Array x = sample(type, {3, 4, 2}, 7);
    for (int32_t axis = -3; axis < 3; ++axis) {
      const size_t along = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
      Shape shape = {2, 4, 2};
      shape[along] = 3;
      const Array indices = Array::random(axis % 2 == 0 ? DType::s32 : DType::s64, shape, 3, -2, 1);
      const auto r = run(OpId::gather_elements, ops::gather_elements::Attrs{axis}, {x, indices});
      ASSERT_TRUE(r.ok()) << r.message();
      expect_shape(r.outputs[0], shape);
      expect_oracle(r.outputs[0], [&](const Shape& at) {
        Shape from = at;
        const int32_t i = static_cast<int32_t>(indices.at(at));
        from[along] = i < 0 ? i + x.shape()[along] : i;
        return x.at(from);
      });
    }
  }
  EXPECT_TRUE(run(OpId::gather_elements, ops::gather_elements::Attrs{0}, {Array(DType::f32, {3, 0}), Array(DType::s32, {5, 0})}).ok());
  const Shape eight = {1, 1, 1, 1, 1, 1, 1, 2};
  const auto r =
      run(OpId::gather_elements, ops::gather_elements::Attrs{7}, {Array::of<float>(eight, {5, 6}), Array::of<int32_t>(eight, {1, 0})});
  expect_values(r.outputs[0], {6, 5});
}

TEST(OpGatherElements, Refuses) {
  const Array x = sample(DType::f32, {3, 2}, 1);
  for (double bad : {3.0, -4.0, 9e18}) {
    EXPECT_EQ(run(OpId::gather_elements, ops::gather_elements::Attrs{0}, {x, Array::of<int64_t>({1, 1}, {bad})}).status,
              Status(Status::kInvalidArgument, Why::kIndexRange));
  }
  EXPECT_EQ(refusal(OpId::gather_elements, ops::gather_elements::Attrs{2}, {x, Array(DType::s32, {1, 1})}), Why::kAxis);
  EXPECT_EQ(refusal(OpId::gather_elements, ops::gather_elements::Attrs{0}, {x, s64({0})}), Why::kRank);
  EXPECT_EQ(refusal(OpId::gather_elements, ops::gather_elements::Attrs{0}, {x, Array(DType::s32, {1, 3})}), Why::kDimMismatch);
  EXPECT_EQ(refusal(OpId::gather_elements, ops::gather_elements::Attrs{0}, {x, x}), Why::kDType);
}

TEST(OpGatherElements, Vectors) {
  const auto r = run(OpId::gather_elements, ops::gather_elements::Attrs{-1}, {Array::of<float>({3}, {5, 6, 7}), s64({2, 0, -1, 1})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {7, 5, 7, 6});
}

}  // namespace mote::optest
