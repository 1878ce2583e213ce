#include "mote/ops/update_slice/update_slice.h"

#include <algorithm>

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

TEST(OpUpdateSlice, WritesABlockMovedInside) {
  RunOptions options;
  options.in_place = true;
  for (DType type : all_types()) {
    for (double start : {-9e18, -1.0, 0.0, 1.0, 2.0, 3.0, 9e18}) {
      const Array x = sample(type, {4, 3, 5}, 2), update = sample(type, {2, 3, 2}, 3);
      const auto r = run(OpId::update_slice, NoAttrs{}, {x, update, s64({start, 7, start})}, options);
      ASSERT_TRUE(r.ok()) << r.message();
      const int32_t a = static_cast<int32_t>(std::min(std::max(start, 0.0), 2.0)),
                    b = static_cast<int32_t>(std::min(std::max(start, 0.0), 3.0));
      expect_oracle(r.outputs[0], [&](const Shape& i) {
        const int32_t u = i[0] - a, w = i[2] - b;
        return u >= 0 && u < 2 && w >= 0 && w < 2 ? update.at({u, i[1], w}) : x.at(i);
      });
    }
  }
}

TEST(OpUpdateSlice, ScalarsEmptyAndRank8) {
  const Array x = Array::of<float>({2}, {1, 2});
  expect_values(run(OpId::update_slice, NoAttrs{}, {x, Array(DType::f32, {0}), s32({1})}).outputs[0], {1, 2});
  expect_values(run(OpId::update_slice, NoAttrs{}, {Array::scalar(DType::f32, 1), Array::scalar(DType::f32, 5), s32({})}).outputs[0], {5});
  const Array big = sample(DType::s8, {1, 2, 1, 2, 1, 2, 1, 3}, 1), one = sample(DType::s8, {1, 1, 1, 1, 1, 1, 1, 1}, 9);
  const auto r = run(OpId::update_slice, NoAttrs{}, {big, one, s32({0, 1, 0, 1, 0, 1, 0, 2})});
  expect_oracle(r.outputs[0], [&](const Shape& i) { return i[1] == 1 && i[3] == 1 && i[5] == 1 && i[7] == 2 ? one.get(0) : big.at(i); });
}

TEST(OpUpdateSlice, Refuses) {
  const Array x = sample(DType::f32, {2, 3}, 1), u = sample(DType::f32, {1, 1}, 1), at = s64({0, 0});
  EXPECT_EQ(refusal(OpId::update_slice, NoAttrs{}, {x, sample(DType::f32, {3, 1}, 1), at}), Why::kDimMismatch);
  EXPECT_EQ(refusal(OpId::update_slice, NoAttrs{}, {x, sample(DType::f32, {1}, 1), at}), Why::kRank);
  EXPECT_EQ(refusal(OpId::update_slice, NoAttrs{}, {x, sample(DType::s32, {1, 1}, 1), at}), Why::kDTypeMismatch);
  EXPECT_EQ(refusal(OpId::update_slice, NoAttrs{}, {x, u, s64({0})}), Why::kDimMismatch);
  EXPECT_EQ(refusal(OpId::update_slice, NoAttrs{}, {x, u, u}), Why::kDType);
  EXPECT_EQ(refusal(OpId::update_slice, NoAttrs{}, {x, u, Array(DType::s64, {1, 2})}), Why::kRank);
}

}  // namespace mote::optest
