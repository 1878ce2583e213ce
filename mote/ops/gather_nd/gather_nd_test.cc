#include "mote/ops/gather_nd/gather_nd.h"

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

using GatherNdAttrs = ops::gather_nd::Attrs;

TEST(OpGatherNd, TakesSlicesByTuples) {
  for (DType type : all_types()) {
    const Array x = sample(type, {3, 4, 2}, 7);
    for (int32_t length = 0; length <= 3; ++length) {
      const Array indices = Array::random(length % 2 == 0 ? DType::s32 : DType::s64, {2, 3, length}, 5, -2, 1);
      const auto r = run(OpId::gather_nd, GatherNdAttrs{}, {x, indices});
      ASSERT_TRUE(r.ok()) << r.message();
      EXPECT_EQ(r.outputs[0].shape().size(), static_cast<size_t>(2 + 3 - length));
      expect_oracle(r.outputs[0], [&](const Shape& at) {
        Shape from;
        for (int32_t k = 0; k < length; ++k) {
          const int32_t i = static_cast<int32_t>(indices.at({at[0], at[1], k}));
          from.push_back(i < 0 ? i + x.shape()[static_cast<size_t>(k)] : i);
        }
        from.insert(from.end(), at.begin() + 2, at.end());
        return x.at(from);
      });
    }
  }
}

TEST(OpGatherNd, SharesBatchAxesAndTakesEmptyTensors) {
  const Array x = sample(DType::f32, {2, 3, 4}, 7), indices = Array::of<int64_t>({2, 1}, {2, 0});
  const auto r = run(OpId::gather_nd, GatherNdAttrs{1}, {x, indices});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_shape(r.outputs[0], {2, 4});
  expect_oracle(r.outputs[0], [&](const Shape& i) { return x.at({i[0], i[0] == 0 ? 2 : 0, i[1]}); });
  expect_shape(run(OpId::gather_nd, GatherNdAttrs{}, {x, Array(DType::s64, {0, 2})}).outputs[0], {0, 4});
  expect_shape(run(OpId::gather_nd, GatherNdAttrs{}, {Array(DType::f32, {2, 0}), Array(DType::s64, {3, 1})}).outputs[0], {3, 0});
  expect_values(run(OpId::gather_nd, GatherNdAttrs{}, {Array::of<uint8_t>({1, 1, 1, 1, 1, 1, 1, 2}, {4, 5}), s64({0, 0, 0, 0, 0, 0, 0, 1})})
                    .outputs[0],
                {5});
}

TEST(OpGatherNd, Refuses) {
  const Array x = sample(DType::f32, {2, 3}, 7);
  for (double bad : {2.0, -3.0, 9e18})
    EXPECT_EQ(refusal(OpId::gather_nd, GatherNdAttrs{}, {x, Array::of<int64_t>({1, 1}, {bad})}), Why::kIndexRange);
  EXPECT_EQ(refusal(OpId::gather_nd, GatherNdAttrs{}, {x, Array::scalar(DType::s64, 1)}), Why::kRank);
  EXPECT_EQ(refusal(OpId::gather_nd, GatherNdAttrs{}, {x, Array(DType::s64, {1, 3})}), Why::kDimMismatch);
  EXPECT_EQ(refusal(OpId::gather_nd, GatherNdAttrs{1}, {x, Array(DType::s64, {3, 1})}), Why::kDimMismatch);
  EXPECT_EQ(refusal(OpId::gather_nd, GatherNdAttrs{1}, {x, Array(DType::s64, {1})}), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::gather_nd, GatherNdAttrs{-1}, {x, Array(DType::s64, {1})}), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::gather_nd, GatherNdAttrs{}, {x, x}), Why::kDType);
  EXPECT_EQ(refusal(OpId::gather_nd, GatherNdAttrs{}, {Array(DType::s8, {1, 1, 1, 1}), Array(DType::s64, {1, 1, 1, 1, 1, 1, 1})}),
            Why::kRank);
}

TEST(OpGatherNd, AnEmptyTupleNamesAScalarItself) {
  const auto r = run(OpId::gather_nd, GatherNdAttrs{}, {Array::scalar(DType::s16, 7), Array(DType::s64, {3, 0})});
  ASSERT_TRUE(r.ok()) << r.message();
  expect_shape(r.outputs[0], {3});
  expect_values(r.outputs[0], {7, 7, 7});
}

}  // namespace mote::optest
