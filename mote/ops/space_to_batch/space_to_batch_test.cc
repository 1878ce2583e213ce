#include "mote/ops/space_to_batch/space_to_batch.h"

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

using SpaceToBatchAttrs = ops::space_to_batch::Attrs;

TEST(OpSpaceToBatch, DealsBlocksOut) {
  for (DType type : all_types()) {
    const Array x = sample(type, {2, 4, 3, 2}, 5);
    auto r = run(OpId::space_to_batch, SpaceToBatchAttrs{{2, 3}, {1, 0}, {1, 3}, 2, 1}, {x});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_shape(r.outputs[0], {12, 3, 2, 2});
    expect_oracle(r.outputs[0], [&](const Shape& i) {
      const int32_t position = i[0] / 2, row = i[1] * 2 + position / 3 - 1, column = i[2] * 3 + position % 3;
      return row >= 0 && row < 4 && column < 3 ? x.at({i[0] % 2, row, column, i[3]}) : 1;
    });
    r = run(OpId::space_to_batch, SpaceToBatchAttrs{{2}, {0}, {0}, 1, 0}, {x});
    ASSERT_TRUE(r.ok()) << r.message();
    expect_oracle(r.outputs[0], [&](const Shape& i) { return x.at({i[0] % 2, i[1] * 2 + i[0] / 2, i[2], i[3]}); });
  }
  EXPECT_EQ(run(OpId::space_to_batch, SpaceToBatchAttrs{{2}, {}, {}, 1, 0}, {Array(DType::f32, {0, 2})}).outputs[0].count(), 0);
  expect_values(run(OpId::space_to_batch, SpaceToBatchAttrs{{2}, {1}, {1}, 1, 4}, {Array(DType::f32, {1, 0})}).outputs[0], {4, 4});
}

TEST(OpSpaceToBatch, Refuses) {
  const Array x = sample(DType::f32, {1, 4, 3}, 1);
  EXPECT_EQ(refusal(OpId::space_to_batch, SpaceToBatchAttrs{{3}, {}, {}, 1, 0}, {x}), Why::kDimMismatch);
  EXPECT_EQ(refusal(OpId::space_to_batch, SpaceToBatchAttrs{{0}, {}, {}, 1, 0}, {x}), Why::kWindow);
  EXPECT_EQ(refusal(OpId::space_to_batch, SpaceToBatchAttrs{{1}, {-1}, {}, 1, 0}, {x}), Why::kWindow);
  EXPECT_EQ(refusal(OpId::space_to_batch, SpaceToBatchAttrs{{1}, {}, {-1}, 1, 0}, {x}), Why::kWindow);
  EXPECT_EQ(refusal(OpId::space_to_batch, SpaceToBatchAttrs{{1}, {0x7fffffff}, {}, 1, 0}, {x}), Why::kShapeOverflow);
  EXPECT_EQ(refusal(OpId::space_to_batch, SpaceToBatchAttrs{{1 << 20, 1 << 20}, {}, {}, 2, 0}, {Array(DType::f32, {1, 0, 0})}),
            Why::kShapeOverflow);
  EXPECT_EQ(refusal(OpId::space_to_batch, SpaceToBatchAttrs{{}, {}, {}, 3, 0}, {x}), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::space_to_batch, SpaceToBatchAttrs{{}, {}, {}, -1, 0}, {x}), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::space_to_batch, SpaceToBatchAttrs{}, {Array::scalar(DType::f32, 1)}), Why::kRank);
}

TEST(OpSpaceToBatch, LeastAndGreatestRank) {
  const Array line = sample(DType::s8, {4}, 1), x = sample(DType::s16, {2, 4, 3}, 2);
  EXPECT_EQ(run(OpId::space_to_batch, SpaceToBatchAttrs{}, {line}).outputs[0].bytes(), line.bytes());
  expect_same_elements(OpId::space_to_batch, SpaceToBatchAttrs{{2}, {1}, {1}, 1, 5}, {x},
                       SpaceToBatchAttrs{{1, 2, 1}, {0, 1, 0}, {0, 1, 0}, 3, 5}, {x.reshaped({2, 1, 4, 1, 1, 3, 1, 1})});
}

}  // namespace mote::optest
