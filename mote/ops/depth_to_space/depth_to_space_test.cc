#include "mote/ops/depth_to_space/depth_to_space.h"

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

using DepthToSpaceAttrs = ops::depth_to_space::Attrs;

TEST(OpDepthToSpace, SpreadsChannels) {
  for (DType type : all_types()) {
    for (int32_t b : {1, 2, 3}) {
      for (int32_t mode : {0, 1}) {
        const Array x = sample(type, {2, 3, 2, 2 * b * b}, 5);
        const auto r = run(OpId::depth_to_space, DepthToSpaceAttrs{b, mode}, {x});
        ASSERT_TRUE(r.ok()) << r.message();
        expect_shape(r.outputs[0], {2, 3 * b, 2 * b, 2});
        expect_oracle(r.outputs[0], [&](const Shape& i) {
          const int32_t row = i[1] % b, column = i[2] % b;
          return x.at({i[0], i[1] / b, i[2] / b, mode == 0 ? (row * b + column) * 2 + i[3] : i[3] * b * b + row * b + column});
        });
      }
    }
  }
  EXPECT_TRUE(run(OpId::depth_to_space, DepthToSpaceAttrs{2, 0}, {Array(DType::f32, {1, 0, 2, 4})}).ok());
  EXPECT_TRUE(run(OpId::depth_to_space, DepthToSpaceAttrs{0x7fffffff, 0}, {Array(DType::f32, {1, 0, 0, 0})}).ok());
}

TEST(OpDepthToSpace, Refuses) {
  const Array x = sample(DType::f32, {1, 1, 1, 6}, 1);
  EXPECT_EQ(refusal(OpId::depth_to_space, DepthToSpaceAttrs{2, 0}, {x}), Why::kDimMismatch);
  EXPECT_EQ(refusal(OpId::depth_to_space, DepthToSpaceAttrs{0, 0}, {x}), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::depth_to_space, DepthToSpaceAttrs{1, 2}, {x}), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::depth_to_space, DepthToSpaceAttrs{1, 0}, {sample(DType::f32, {4}, 1)}), Why::kRank);
  EXPECT_EQ(refusal(OpId::depth_to_space, DepthToSpaceAttrs{0x7fffffff, 0}, {Array(DType::f32, {1, 2, 1, 0})}), Why::kShapeOverflow);
}

}  // namespace mote::optest
