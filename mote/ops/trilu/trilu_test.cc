#include "mote/ops/trilu/trilu.h"

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

using TriluAttrs = ops::trilu::Attrs;

TEST(OpTrilu, KeepsOneTriangle) {
  RunOptions options;
  options.in_place = true;
  for (DType type : all_types()) {
    for (const Shape& shape : {Shape{3, 3}, Shape{2, 4}, Shape{4, 2}, Shape{2, 3, 3}, Shape{0, 2}, Shape{1, 2, 1, 2, 1, 2, 2, 3}}) {
      const Array x = sample(type, shape, 6);
      for (int32_t upper : {0, 1}) {
        for (int32_t k : {-5, -1, 0, 1, 2, 0x7fffffff, -0x7fffffff - 1}) {
          const auto given = run(OpId::trilu, TriluAttrs{upper, k}, {x}, options);
          const auto input = run(OpId::trilu, TriluAttrs{upper, 9}, {x, Array::scalar(DType::s64, k)}, options);
          for (const auto& r : {given, input}) {
            ASSERT_TRUE(r.ok()) << r.message();
            expect_oracle(r.outputs[0], [&](const Shape& i) {
              const int64_t diagonal = int64_t{i[i.size() - 1]} - i[i.size() - 2];
              return (upper != 0 ? diagonal >= k : diagonal <= k) ? x.at(i) : 0;
            });
          }
        }
      }
    }
  }
}

TEST(OpTrilu, Refuses) {
  EXPECT_EQ(refusal(OpId::trilu, TriluAttrs{}, {sample(DType::f32, {3}, 1)}), Why::kRank);
  EXPECT_EQ(refusal(OpId::trilu, TriluAttrs{}, {sample(DType::f32, {3, 3}, 1), s64({1, 2})}), Why::kDimMismatch);
  EXPECT_EQ(refusal(OpId::trilu, TriluAttrs{}, {sample(DType::f32, {3, 3}, 1), Array::scalar(DType::f32, 1)}), Why::kDType);
}

}  // namespace mote::optest
