#include "mote/ops/concat/concat.h"

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

TEST(OpConcat, JoinsInOrder) {
  for (DType type : all_types()) {
    for (int32_t axis = -3; axis < 3; ++axis) {
      const size_t along = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
      std::vector<Array> parts;
      int32_t total = 0;
      for (int32_t size : {2, 0, 1, 3}) {
        Shape shape = {2, 3, 4};
        shape[along] = size;
        total += size;
        parts.push_back(sample(type, shape, static_cast<uint32_t>(size)));
      }
      const auto r = run(OpId::concat, ops::concat::Attrs{axis}, parts);
      ASSERT_TRUE(r.ok()) << r.message();
      EXPECT_EQ(r.outputs[0].shape()[along], total);
      expect_oracle(r.outputs[0], [&](const Shape& at) {
        Shape i = at;
        size_t part = 0;
        while (i[along] >= parts[part].shape()[along]) i[along] -= parts[part++].shape()[along];
        return parts[part].at(i);
      });
    }
  }
  expect_values(run(OpId::concat, ops::concat::Attrs{0}, {Array::of<float>({1}, {7})}).outputs[0], {7});
  EXPECT_TRUE(
      run(OpId::concat, ops::concat::Attrs{7}, {Array(DType::u8, {1, 1, 1, 1, 1, 1, 2, 3}), Array(DType::u8, {1, 1, 1, 1, 1, 1, 2, 1})})
          .ok());
}

TEST(OpConcat, Refuses) {
  const Array a = sample(DType::f32, {2, 3}, 1);
  EXPECT_EQ(refusal(OpId::concat, ops::concat::Attrs{2}, {a, a}), Why::kAxis);
  EXPECT_EQ(refusal(OpId::concat, ops::concat::Attrs{0}, {Array::scalar(DType::f32, 1)}), Why::kAxis);
  EXPECT_EQ(refusal(OpId::concat, ops::concat::Attrs{0}, {a, sample(DType::s32, {2, 3}, 1)}), Why::kDTypeMismatch);
  EXPECT_EQ(refusal(OpId::concat, ops::concat::Attrs{0}, {a, sample(DType::f32, {2}, 1)}), Why::kRank);
  EXPECT_EQ(refusal(OpId::concat, ops::concat::Attrs{0}, {a, sample(DType::f32, {2, 4}, 1)}), Why::kDimMismatch);
  EXPECT_EQ(refusal(OpId::concat, ops::concat::Attrs{0}, {a, Array::none()}), Why::kInputMissing);
}

}  // namespace mote::optest
