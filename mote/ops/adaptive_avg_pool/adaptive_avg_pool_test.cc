#include "mote/ops/adaptive_avg_pool/adaptive_avg_pool.h"

#include "mote/ops/testing/harness.h"

namespace mote::optest {

using AdaptiveAttrs = ops::adaptive_avg_pool::Attrs;

TEST(OpAdaptiveAvgPool, EveryTypeAndGeometry) {
  struct Case {
    Shape x;
    AdaptiveAttrs a;
  };
  const Case cases[] = {{{1, 7, 2}, {{3}}},       {{2, 5, 6, 3}, {{1, 1}}}, {{1, 5, 6, 2}, {{3, 4}}}, {{1, 4, 3, 5, 2}, {{2, 3, 4}}},
                        {{1, 2, 3, 1}, {{5, 3}}}, {{0, 4, 2}, {{2}}}};
  for (DType type : types_of(ops::adaptive_avg_pool::Types{})) {
    for (const Case& t : cases) {
      const Array x = Array::random(type, t.x, 5);
      const auto r = run(OpId::adaptive_avg_pool, t.a, {x});
      ASSERT_TRUE(r.ok()) << r.message();
      expect_oracle(
          r.outputs[0],
          [&](const Shape& at) {
            double sum = 0;
            int count = 0;
            for_each_index(t.x, [&](const Shape& from) {
              bool inside = from.front() == at.front() && from.back() == at.back();
              for (size_t i = 1; i + 1 < at.size(); ++i) {
                const double in = t.x[i], out = t.a.size[i - 1];
                inside = inside && from[i] >= std::floor(at[i] * in / out) && from[i] < std::ceil((at[i] + 1) * in / out);
              }
              if (inside) sum += x.at(from), ++count;
            });
            return sum / count;
          },
          4);
    }
  }
}

TEST(OpAdaptiveAvgPool, NanStaysInItsWindow) {
  expect_values(run(OpId::adaptive_avg_pool, AdaptiveAttrs{{2}}, {Array::of<float>({1, 4, 1}, {NAN, 1, 2, 4})}).outputs[0], {NAN, 3});
}

TEST(OpAdaptiveAvgPool, Refuses) {
  const Array x = Array::random(DType::f32, {1, 4, 2}, 1);
  EXPECT_EQ(run(OpId::adaptive_avg_pool, AdaptiveAttrs{{0}}, {x}).status.why(), Why::kWindow);
  EXPECT_EQ(run(OpId::adaptive_avg_pool, AdaptiveAttrs{}, {Array::random(DType::f32, {1, 0, 2}, 1)}).status.why(), Why::kWindow);
  EXPECT_EQ(run(OpId::adaptive_avg_pool, AdaptiveAttrs{}, {Array::random(DType::f32, {4, 2}, 1)}).status.why(), Why::kRank);
  EXPECT_EQ(run(OpId::adaptive_avg_pool, AdaptiveAttrs{}, {Array::random(DType::s32, {1, 4, 2}, 1)}).status.why(), Why::kDType);
}

}  // namespace mote::optest
