#include "mote/ops/top_k/top_k.h"

#include "mote/ops/testing/sort_cases.h"

namespace mote::optest {

using TopKAttrs = ops::top_k::Attrs;

TEST(OpTopK, EveryTypeAxisAndCount) {
  for (DType type : all_types()) {
    Array x = Array::random(type, {3, 6, 4}, 7, -3, 3);
    if ((mask_of(type) & kFloat) != 0) x.set(0, NAN), x.set(5, INFINITY), x.set(9, -INFINITY), x.set(10, NAN), x.set(11, -0.0);
    for (int32_t axis = -3; axis < 3; ++axis) {
      const size_t along = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
      for (int32_t k = 0; k <= x.shape()[along]; k += 1 + k) {
        for (int32_t largest : {0, 1}) {
          expect_ordered(run(OpId::top_k, TopKAttrs{k, axis, largest, 0}, {x}, 2), x, along, largest != 0, k);
          expect_ordered(run(OpId::top_k, TopKAttrs{99, axis, largest, 1}, {x, s64({static_cast<double>(k)})}, 2), x, along, largest != 0,
                         k);
        }
      }
    }
  }
}

TEST(OpTopK, LargeIntegersScalarsAndValuesAlone) {
  Array x(DType::u64, {3});
  x.bytes() = {255, 255, 255, 255, 255, 255, 255, 255, 254, 255, 255, 255, 255, 255, 255, 255, 1, 0, 0, 0, 0, 0, 0, 0};
  expect_values(run(OpId::top_k, TopKAttrs{3, 0, 0, 1}, {x}, 2).outputs[1], {2, 1, 0});
  expect_values(run(OpId::top_k, TopKAttrs{1, 0, 1, 0}, {Array::scalar(DType::f32, 5)}, 2).outputs[0], {5});
  expect_values(run(OpId::top_k, TopKAttrs{1, 0, 1, 0}, {Array::of<float>({2}, {5, 6})}).outputs[0], {6});
  EXPECT_EQ(run(OpId::top_k, TopKAttrs{0, 0, 1, 0}, {Array(DType::f32, {0, 2})}, 2).outputs[0].count(), 0);
}

TEST(OpTopK, LeavesTheSizeOpenAndRefuses) {
  const Array x = sample(DType::f32, {2, 3}, 1);
  EXPECT_EQ(infer_hidden(OpId::top_k, TopKAttrs{}, {x, s64({1})}, {1}, 2).shape(1), (Shape{2, kDimUnknown}));
  EXPECT_EQ(refusal(OpId::top_k, TopKAttrs{4, 1, 1, 0}, {x}, 2), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::top_k, TopKAttrs{-1, 1, 1, 0}, {x}, 2), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::top_k, TopKAttrs{0, 0, 1, 0}, {Array::scalar(DType::f32, 5)}, 2), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::top_k, TopKAttrs{1, 2, 1, 0}, {x}, 2), Why::kAxis);
  EXPECT_EQ(refusal(OpId::top_k, TopKAttrs{}, {x, s64({1, 2})}, 2), Why::kDimMismatch);
  EXPECT_EQ(refusal(OpId::top_k, TopKAttrs{}, {x, x}, 2), Why::kDType);
}

TEST(OpTopK, RankEight) {
  const Array x = sample(DType::f32, {2, 5}, 3);
  RunOptions both;
  both.outputs = 2;
  expect_same_elements(OpId::top_k, TopKAttrs{3, -1, 1, 0}, {x}, TopKAttrs{3, 4, 1, 0}, {x.reshaped({1, 2, 1, 1, 5, 1, 1, 1})}, both, both);
}

}  // namespace mote::optest
