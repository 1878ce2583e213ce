#include "mote/ops/batch_to_space/batch_to_space.h"

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

using BatchToSpaceAttrs = ops::batch_to_space::Attrs;

TEST(OpBatchToSpace, LaysBlocksOut) {
  for (DType type : all_types()) {
    const Array x = sample(type, {12, 3, 2, 2}, 5);
    auto r = run(OpId::batch_to_space, BatchToSpaceAttrs{{2, 3}, {1, 0}, {1, 3}, 2}, {x});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_shape(r.outputs[0], {2, 4, 3, 2});
    expect_oracle(r.outputs[0], [&](const Shape& i) {
      const int32_t row = i[1] + 1, column = i[2];
      return x.at({(row % 2 * 3 + column % 3) * 2 + i[0], row / 2, column / 3, i[3]});
    });
    r = run(OpId::batch_to_space, BatchToSpaceAttrs{{}, {}, {}, 0}, {x});
    ASSERT_TRUE(r.ok()) << r.message();
    EXPECT_EQ(r.outputs[0].bytes(), x.bytes());
  }
  EXPECT_EQ(run(OpId::batch_to_space, BatchToSpaceAttrs{{2}, {1}, {1}, 1}, {Array(DType::f32, {2, 1})}).outputs[0].count(), 0);
}

TEST(OpBatchToSpace, Refuses) {
  const Array x = sample(DType::f32, {4, 2, 3}, 1);
  EXPECT_EQ(refusal(OpId::batch_to_space, BatchToSpaceAttrs{{3}, {}, {}, 1}, {x}), Why::kDimMismatch);
  EXPECT_EQ(refusal(OpId::batch_to_space, BatchToSpaceAttrs{{0}, {}, {}, 1}, {x}), Why::kWindow);
  EXPECT_EQ(refusal(OpId::batch_to_space, BatchToSpaceAttrs{{2}, {-1}, {}, 1}, {x}), Why::kWindow);
  EXPECT_EQ(refusal(OpId::batch_to_space, BatchToSpaceAttrs{{2}, {2}, {3}, 1}, {x}), Why::kNegativeDim);
  EXPECT_EQ(refusal(OpId::batch_to_space, BatchToSpaceAttrs{{0x7fffffff}, {}, {}, 1}, {x}), Why::kShapeOverflow);
  EXPECT_EQ(refusal(OpId::batch_to_space, BatchToSpaceAttrs{{1 << 20, 1 << 20}, {}, {}, 2}, {Array(DType::f32, {0, 0, 0})}),
            Why::kShapeOverflow);
  EXPECT_EQ(refusal(OpId::batch_to_space, BatchToSpaceAttrs{{}, {}, {}, 3}, {x}), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::batch_to_space, BatchToSpaceAttrs{}, {Array::scalar(DType::f32, 1)}), Why::kRank);
}

TEST(OpBatchToSpace, LeastAndGreatestRank) {
  const Array line = sample(DType::s8, {4}, 1), x = sample(DType::s16, {4, 3, 3}, 2);
  EXPECT_EQ(run(OpId::batch_to_space, BatchToSpaceAttrs{}, {line}).outputs[0].bytes(), line.bytes());
  expect_same_elements(OpId::batch_to_space, BatchToSpaceAttrs{{2}, {1}, {1}, 1}, {x},
                       BatchToSpaceAttrs{{1, 2, 1}, {0, 1, 0}, {0, 1, 0}, 3}, {x.reshaped({4, 1, 3, 1, 1, 3, 1, 1})});
}

}  // namespace mote::optest
