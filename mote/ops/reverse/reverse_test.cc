#include "mote/ops/reverse/reverse.h"

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

using ReverseAttrs = ops::reverse::Attrs;

TEST(OpReverse, TurnsAxesAround) {
  struct Case {
    Shape shape;
    ReverseAttrs a;
  };
  const Case cases[] = {{{}, {}},
                        {{5}, {{0}, 1}},
                        {{2, 3}, {{-1}, 1}},
                        {{2, 3, 4}, {{0, 2}, 2}},
                        {{2, 0}, {{0}, 1}},
                        {{2, 3}, {}},
                        {{1, 2, 1, 2, 1, 2, 1, 3}, {{1, 3, -1}, 3}}};
  for (DType type : all_types()) {
    for (const Case& k : cases) {
      const Array x = sample(type, k.shape, 4);
      const auto r = run(OpId::reverse, k.a, {x});
      ASSERT_TRUE(r.ok()) << r.message();
      expect_oracle(r.outputs[0], [&](const Shape& at) {
        Shape from = at;
        for (int32_t i = 0; i < k.a.count; ++i) {
          const size_t axis = static_cast<size_t>(k.a.axes[i] < 0 ? k.a.axes[i] + static_cast<int32_t>(k.shape.size()) : k.a.axes[i]);
          from[axis] = k.shape[axis] - 1 - at[axis];
        }
        return x.at(from);
      });
    }
  }
}

TEST(OpReverse, Refuses) {
  const Array x = sample(DType::f32, {2, 3}, 1);
  EXPECT_EQ(refusal(OpId::reverse, ReverseAttrs{{2}, 1}, {x}), Why::kAxis);
  EXPECT_EQ(refusal(OpId::reverse, ReverseAttrs{{1, -1}, 2}, {x}), Why::kAxis);
  EXPECT_EQ(refusal(OpId::reverse, ReverseAttrs{{}, 9}, {x}), Why::kAttribute);
  EXPECT_EQ(refusal(OpId::reverse, ReverseAttrs{{}, -1}, {x}), Why::kAttribute);
}

}  // namespace mote::optest
