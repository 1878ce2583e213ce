#include "mote/ops/space_to_depth/space_to_depth.h"

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

using SpaceToDepthAttrs = ops::space_to_depth::Attrs;

TEST(OpSpaceToDepth, GathersBlocks) {
  for (DType type : all_types()) {
    for (int32_t b : {1, 2, 3}) {
      for (int32_t mode : {0, 1}) {
        const Array x = sample(type, {2, 3 * b, 2 * b, 2}, 5);
        const auto r = run(OpId::space_to_depth, SpaceToDepthAttrs{b, mode}, {x});
        ASSERT_TRUE(r.ok()) << r.message();
        expect_shape(r.outputs[0], {2, 3, 2, 2 * b * b});
        expect_oracle(r.outputs[0], [&](const Shape& i) {
          const int32_t block = mode == 0 ? i[3] / 2 : i[3] % (b * b), c = mode == 0 ? i[3] % 2 : i[3] / (b * b);
          return x.at({i[0], i[1] * b + block / b, i[2] * b + block % b, c});
        });
      }
    }
  }
  EXPECT_TRUE(run(OpId::space_to_depth, SpaceToDepthAttrs{2, 0}, {Array(DType::f32, {1, 0, 2, 4})}).ok());
}

TEST(OpSpaceToDepth, Refuses) {
  const Array x = sample(DType::f32, {1, 2, 4, 1}, 1);
  EXPECT_EQ(refusal(OpId::space_to_depth, SpaceToDepthAttrs{4, 0}, {x}), Why::kDimMismatch);
  EXPECT_EQ(refusal(OpId::space_to_depth, SpaceToDepthAttrs{2, 0}, {sample(DType::f32, {1, 2, 3, 1}, 1)}), Why::kDimMismatch);
  EXPECT_EQ(refusal(OpId::space_to_depth, SpaceToDepthAttrs{-1, 0}, {x}), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::space_to_depth, SpaceToDepthAttrs{1, -1}, {x}), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::space_to_depth, SpaceToDepthAttrs{0x7fffffff, 0}, {Array(DType::f32, {1, 0, 0, 4})}), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::space_to_depth, SpaceToDepthAttrs{1, 0}, {sample(DType::f32, {4}, 1)}), Why::kRank);
}

}  // namespace mote::optest
