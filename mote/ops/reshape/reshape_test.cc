#include "mote/ops/reshape/reshape.h"

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

using ReshapeAttrs = ops::reshape::Attrs;

TEST(OpReshape, KeepsElementsInOrder) {
  struct Case {
    Shape from;
    ReshapeAttrs a;
    Shape to;
  };
  const Case cases[] = {{{2, 3, 4}, {{6, 4}, 2, 0}, {6, 4}},
                        {{2, 3, 4}, {{0, -1}, 2, 0}, {2, 12}},
                        {{2, 3, 4}, {{-1}, 1, 0}, {24}},
                        {{1}, {{}, 0, 0}, {}},
                        {{}, {{1, 1}, 2, 0}, {1, 1}},
                        {{0, 3}, {{3, 0}, 2, 1}, {3, 0}},
                        {{0, 3}, {{0, 3, 1}, 3, 0}, {0, 3, 1}},
                        {{2, 0}, {{-1, 5}, 2, 0}, {0, 5}},
                        {{4, 3}, {{1, 2, 1, 2, 1, 3, 1, 1}, 8, 0}, {1, 2, 1, 2, 1, 3, 1, 1}},
                        {{1, 2, 1, 2, 1, 3, 1, 1}, {{3, -1}, 2, 0}, {3, 4}}};
  for (DType type : all_types()) {
    for (const Case& k : cases) {
      const Array x = sample(type, k.from, 5);
      RunOptions options;
      const auto r = run(OpId::reshape, k.a, {x}, options);
      ASSERT_TRUE(r.ok()) << r.message();
      expect_shape(r.outputs[0], k.to);
      EXPECT_EQ(r.outputs[0].bytes(), x.bytes());
    }
  }
}

TEST(OpReshape, TakesTheShapeFromAnInput) {
  const Array x = sample(DType::f32, {2, 6}, 5);
  for (const Array& shape : {s64({3, -1, 2}), s32({3, 0, 2})}) {
    ReshapeAttrs a;
    const auto r = run(OpId::reshape, a, {shape.dtype() == DType::s64 ? x : sample(DType::f32, {6, 2, 1}, 5), shape});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_shape(r.outputs[0], {3, 2, 2});
  }
  const auto hidden = infer_hidden(OpId::reshape, ReshapeAttrs{}, {x, s64({3, 4})}, {1});
  EXPECT_TRUE(hidden.status.ok());
  EXPECT_EQ(hidden.shape(), (Shape{kDimUnknown, kDimUnknown}));
}

TEST(OpReshape, MayShareTheBytes) {
  RunOptions options;
  options.in_place = true;
  EXPECT_TRUE(run(OpId::reshape, ReshapeAttrs{{6}, 1, 0}, {sample(DType::s8, {6}, 1)}, options).ok());
}

TEST(OpReshape, Refuses) {
  const Array x = sample(DType::f32, {2, 6}, 5);
  EXPECT_EQ(refusal(OpId::reshape, ReshapeAttrs{{5}, 1, 0}, {x}), Why::kElementCount);
  EXPECT_EQ(refusal(OpId::reshape, ReshapeAttrs{{5, -1}, 2, 0}, {x}), Why::kElementCount);
  EXPECT_EQ(refusal(OpId::reshape, ReshapeAttrs{{-1, 0}, 2, 1}, {x}), Why::kElementCount);
  EXPECT_EQ(refusal(OpId::reshape, ReshapeAttrs{{-1, -1}, 2, 0}, {x}), Why::kNegativeDim);
  EXPECT_EQ(refusal(OpId::reshape, ReshapeAttrs{{-2}, 1, 0}, {x}), Why::kNegativeDim);
  EXPECT_EQ(refusal(OpId::reshape, ReshapeAttrs{{12, 1, 0}, 3, 0}, {x}), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::reshape, ReshapeAttrs{{}, 9, 0}, {x}), Why::kRank);
  EXPECT_EQ(refusal(OpId::reshape, ReshapeAttrs{{}, -1, 0}, {x}), Why::kRank);
  EXPECT_EQ(refusal(OpId::reshape, ReshapeAttrs{{0x7fffffff, 0x7fffffff}, 2, 0}, {x}), Why::kShapeOverflow);
  EXPECT_EQ(refusal(OpId::reshape, ReshapeAttrs{{0, 0x7fffffff, 0x7fffffff}, 3, 1}, {sample(DType::f32, {0}, 1)}), Why::kShapeOverflow);
  EXPECT_EQ(refusal(OpId::reshape, ReshapeAttrs{}, {x, sample(DType::f32, {2}, 1)}), Why::kDType);
  EXPECT_EQ(refusal(OpId::reshape, ReshapeAttrs{}, {x, Array::scalar(DType::s64, 12)}), Why::kRank);
  EXPECT_EQ(refusal(OpId::reshape, ReshapeAttrs{}, {x, Array(DType::s64, {9})}), Why::kDimMismatch);
}

}  // namespace mote::optest
