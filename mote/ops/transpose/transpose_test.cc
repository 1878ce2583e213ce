#include "mote/ops/transpose/transpose.h"

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

using TransposeAttrs = ops::transpose::Attrs;

TEST(OpTranspose, MovesEveryElement) {
  struct Case {
    Shape shape;
    TransposeAttrs a;
    std::vector<size_t> perm;
  };
  const Case cases[] = {{{}, {}, {}},
                        {{5}, {{0}, 1}, {0}},
                        {{2, 3}, {}, {1, 0}},
                        {{2, 0, 3}, {{2, 0, 1}, 3}, {2, 0, 1}},
                        {{2, 3, 4}, {{1, -1, 0}, 3}, {1, 2, 0}},
                        {{2, 3, 4, 5}, {{0, 2, 3, 1}, 4}, {0, 2, 3, 1}},
                        {{1, 2, 1, 2, 1, 2, 1, 3}, {}, {7, 6, 5, 4, 3, 2, 1, 0}}};
  for (DType type : all_types()) {
    for (const Case& k : cases) {
      const Array x = sample(type, k.shape, 9);
      const auto r = run(OpId::transpose, k.a, {x});
      ASSERT_TRUE(r.ok()) << r.message();
      for (size_t i = 0; i < k.perm.size(); ++i) EXPECT_EQ(r.outputs[0].shape()[i], k.shape[k.perm[i]]);
      expect_oracle(r.outputs[0], [&](const Shape& at) {
        Shape from(at.size());
        for (size_t i = 0; i < at.size(); ++i) from[k.perm[i]] = at[i];
        return x.at(from);
      });
    }
  }
}

TEST(OpTranspose, Refuses) {
  const Array x = sample(DType::f32, {2, 3}, 9);
  EXPECT_EQ(refusal(OpId::transpose, TransposeAttrs{{0, 1, 2}, 3}, {x}), Why::kRank);
  EXPECT_EQ(refusal(OpId::transpose, TransposeAttrs{{0, 0}, 2}, {x}), Why::kAxis);
  EXPECT_EQ(refusal(OpId::transpose, TransposeAttrs{{0, 2}, 2}, {x}), Why::kAxis);
  EXPECT_EQ(refusal(OpId::transpose, TransposeAttrs{{0, -3}, 2}, {x}), Why::kAxis);
}

}  // namespace mote::optest
