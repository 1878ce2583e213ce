#include "mote/ops/eye/eye.h"

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

using EyeAttrs = ops::eye::Attrs;

TEST(OpEye, PutsOnesOnADiagonal) {
  for (DType type : all_types()) {
    for (int32_t k : {-0x7fffffff - 1, -2, 0, 1, 5, 0x7fffffff}) {
      const auto made = run(OpId::eye, EyeAttrs{3, 4, k, dtype_value(type)}, {});
      const auto like = run(OpId::eye, EyeAttrs{0, 0, k, 0}, {sample(type, {3, 4}, 1)});
      const auto other = run(OpId::eye, EyeAttrs{0, 0, k, dtype_value(type)}, {sample(DType::f32, {3, 4}, 1)});
      for (const auto& r : {made, like, other}) {
        ASSERT_TRUE(r.ok()) << r.message();
        EXPECT_EQ(r.outputs[0].dtype(), type);
        expect_shape(r.outputs[0], {3, 4});
        expect_oracle(r.outputs[0], [&](const Shape& i) { return i[1] - i[0] == k ? 1 : 0; });
      }
    }
  }
  EXPECT_EQ(run(OpId::eye, EyeAttrs{0, 4, 0, 0}, {}).outputs[0].count(), 0);
  EXPECT_EQ(run(OpId::eye, EyeAttrs{1, 1, 0, 0}, {}).outputs[0].dtype(), DType::f32);
}

TEST(OpEye, Refuses) {
  EXPECT_EQ(refusal(OpId::eye, EyeAttrs{-1, 2, 0, 0}, {}), Why::kNegativeDim);
  EXPECT_EQ(refusal(OpId::eye, EyeAttrs{1 << 20, 1 << 20, 0, 0}, {}), Why::kShapeOverflow);
  EXPECT_EQ(refusal(OpId::eye, EyeAttrs{1, 1, 0, 15}, {}), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::eye, EyeAttrs{}, {sample(DType::f32, {2}, 1)}), Why::kRank);
  EXPECT_EQ(refusal(OpId::eye, EyeAttrs{}, {Array(DType::s4, {2, 2})}), Why::kDType);
}

}  // namespace mote::optest
