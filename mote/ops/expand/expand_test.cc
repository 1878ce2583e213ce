#include "mote/ops/expand/expand.h"

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

using ExpandAttrs = ops::expand::Attrs;

TEST(OpExpand, BroadcastsBothWays) {
  struct Case {
    Shape from;
    ExpandAttrs a;
    Shape to;
  };
  const Case cases[] = {
      {{}, {{2, 3}, 2}, {2, 3}},           {{3}, {{2, 3}, 2}, {2, 3}},
      {{3, 1}, {{2, 1, 4}, 3}, {2, 3, 4}}, {{3, 4}, {{1}, 1}, {3, 4}},
      {{3, 1}, {{-1, 5}, 2}, {3, 5}},      {{2, 1, 3}, {{}, 0}, {2, 1, 3}},
      {{1, 3}, {{0, 1}, 2}, {0, 3}},       {{1, 2, 1, 2, 1, 2, 1, 3}, {{2, 1, 2, 1, 2, 1, 2, 1}, 8}, {2, 2, 2, 2, 2, 2, 2, 3}}};
  for (DType type : all_types()) {
    for (const Case& k : cases) {
      const Array x = sample(type, k.from, 3);
      std::vector<double> shape;
      for (int32_t i = 0; i < k.a.rank; ++i) shape.push_back(k.a.dims[i]);
      for (const auto& r : {run(OpId::expand, k.a, {x}), run(OpId::expand, ExpandAttrs{}, {x, s64(shape)})}) {
        ASSERT_TRUE(r.ok()) << r.message();
        expect_shape(r.outputs[0], k.to);
        expect_oracle(r.outputs[0], [&](const Shape& at) {
          Shape from(at.end() - static_cast<ptrdiff_t>(k.from.size()), at.end());
          for (size_t i = 0; i < from.size(); ++i) from[i] = k.from[i] == 1 ? 0 : from[i];
          return x.at(from);
        });
      }
    }
  }
}

TEST(OpExpand, LeavesSizesOpenAndRefuses) {
  const Array x = sample(DType::f32, {1, 3}, 1);
  EXPECT_EQ(infer_hidden(OpId::expand, ExpandAttrs{}, {x, s64({2, 1, 3})}, {1}).shape(), (Shape{kDimUnknown, kDimUnknown, 3}));
  EXPECT_EQ(refusal(OpId::expand, ExpandAttrs{{2}, 1}, {x}), Why::kBroadcast);
  EXPECT_EQ(refusal(OpId::expand, ExpandAttrs{{-2, 3}, 2}, {x}), Why::kNegativeDim);
  EXPECT_EQ(refusal(OpId::expand, ExpandAttrs{{}, 9}, {x}), Why::kRank);
  EXPECT_EQ(refusal(OpId::expand, ExpandAttrs{{}, -1}, {x}), Why::kRank);
  EXPECT_EQ(refusal(OpId::expand, ExpandAttrs{{0x7fffffff, 3}, 2}, {x}), Why::kShapeOverflow);
  EXPECT_EQ(refusal(OpId::expand, ExpandAttrs{}, {x, x}), Why::kDType);
}

}  // namespace mote::optest
