#include "mote/ops/compress/compress.h"

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

using CompressAttrs = ops::compress::Attrs;

TEST(OpCompress, KeepsWhatTheConditionNames) {
  for (DType type : all_types()) {
    const Array x = sample(type, {3, 4, 2}, 5);
    for (int axis = 0; axis < 3; ++axis) {
      const Array condition = axis == 1 ? Array::of<bool>({3}, {0, 1, 1}) : Array::of<bool>({2}, {0, 1});
      Shape shape = x.shape();
      shape[static_cast<size_t>(axis)] = axis == 1 ? 2 : 1;
      const auto r = run(OpId::compress, CompressAttrs{axis - 3, 1}, {x, condition}, bounded({x.shape()}));
      ASSERT_TRUE(r.ok()) << r.message();
      expect_shape(r.outputs[0], shape);
      expect_oracle(r.outputs[0], [&](const Shape& at) {
        Shape from = at;
        ++from[static_cast<size_t>(axis)];
        return x.at(from);
      });
    }
    const auto flat = run(OpId::compress, CompressAttrs{}, {x, Array::of<bool>({6}, {1, 0, 0, 0, 1, 1})}, bounded({{24}}));
    expect_values(flat.outputs[0], {x.get(0), x.get(4), x.get(5)});
  }
}

TEST(OpCompress, EmptyConditionsScalarsAndAnyTrueByte) {
  const Array x = Array::of<float>({2, 2}, {1, 2, 3, 4});
  expect_shape(run(OpId::compress, CompressAttrs{0, 1}, {x, Array(DType::boolean, {0})}, bounded({{2, 2}})).outputs[0], {0, 2});
  expect_values(run(OpId::compress, CompressAttrs{}, {Array::scalar(DType::f32, 3), Array::of<bool>({1}, {1})}, bounded({{1}})).outputs[0],
                {3});
  Array odd(DType::boolean, {2});
  odd.bytes() = {4, 0};
  expect_values(run(OpId::compress, CompressAttrs{1, 1}, {x, odd}, bounded({{2, 2}})).outputs[0], {1, 3});
}

TEST(OpCompress, Refuses) {
  const Array x = sample(DType::f32, {2, 2}, 1), yes = Array::of<bool>({2}, {1, 1});
  EXPECT_EQ(run(OpId::compress, CompressAttrs{2, 1}, {x, yes}, bounded({{2, 2}})).status.why(), Why::kAxis);
  EXPECT_EQ(run(OpId::compress, CompressAttrs{0, 1}, {x, Array(DType::boolean, {3})}, bounded({{2, 2}})).status.why(), Why::kDimMismatch);
  EXPECT_EQ(run(OpId::compress, CompressAttrs{0, 0}, {x, Array(DType::boolean, {5})}, bounded({{4}})).status.why(), Why::kDimMismatch);
  EXPECT_EQ(run(OpId::compress, CompressAttrs{0, 1}, {x, Array(DType::boolean, {1, 2})}, bounded({{2, 2}})).status.why(), Why::kRank);
  EXPECT_EQ(run(OpId::compress, CompressAttrs{0, 1}, {x, x}, bounded({{2, 2}})).status.why(), Why::kDType);
  EXPECT_EQ(run(OpId::compress, CompressAttrs{0, 1}, {x, yes}, bounded({{1, 2}})).status.why(), Why::kBound);
}

TEST(OpCompress, RankEight) {
  const Array x = sample(DType::s8, {2, 3}, 3), condition = Array::of<bool>({3}, {1, 0, 1});
  expect_same_elements(OpId::compress, CompressAttrs{1, 1}, {x, condition}, CompressAttrs{-3, 1},
                       {x.reshaped({1, 2, 1, 1, 1, 3, 1, 1}), condition}, bounded({{2, 3}}), bounded({{1, 2, 1, 1, 1, 3, 1, 1}}));
}

}  // namespace mote::optest
