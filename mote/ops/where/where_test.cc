#include "mote/ops/where/where.h"

#include "mote/ops/testing/move_cases.h"

namespace mote::optest {

TEST(OpWhere, ChoosesWithBroadcasting) {
  struct Case {
    Shape condition, a, b, y;
  };
  const Case cases[] = {{{}, {}, {}, {}},          {{7}, {7}, {7}, {7}},
                        {{2, 1}, {3}, {}, {2, 3}}, {{3}, {2, 1}, {2, 3}, {2, 3}},
                        {{0}, {1}, {}, {0}},       {{2, 1, 2, 1, 2, 1, 2, 1}, {3}, {1, 2, 1, 2, 1, 2, 1, 3}, {2, 2, 2, 2, 2, 2, 2, 3}}};
  for (DType type : all_types()) {
    for (const Case& k : cases) {
      const Array condition = Array::random(DType::boolean, k.condition, 2), a = sample(type, k.a, 3), b = sample(type, k.b, 4);
      RunOptions options;
      options.in_place = dtype_bytes(type) == 1 && k.condition == k.y;
      const auto r = run(OpId::where, NoAttrs{}, {condition, a, b}, options);
      ASSERT_TRUE(r.ok()) << r.message();
      expect_shape(r.outputs[0], k.y);
      expect_oracle(r.outputs[0], [&](const Shape& at) {
        const auto pick = [&](const Array& t) {
          Shape i(at.end() - static_cast<ptrdiff_t>(t.shape().size()), at.end());
          for (size_t n = 0; n < i.size(); ++n) i[n] = t.shape()[n] == 1 ? 0 : i[n];
          return t.at(i);
        };
        return pick(condition) != 0 ? pick(a) : pick(b);
      });
    }
  }
}

TEST(OpWhere, AnyByteButZeroIsTrueAndRowsAreKept) {
  Array condition(DType::boolean, {1, 3, 2});
  condition.bytes() = {0, 2, 255, 0, 1, 0};
  const Array a = sample(DType::s32, {1, 3, 2}, 1), b = sample(DType::s32, {1, 3, 2}, 2);
  RunOptions options;
  options.rows = {1, 2};
  const auto r = run(OpId::where, NoAttrs{}, {condition, a, b}, options);
  ASSERT_TRUE(r.ok()) << r.message();
  EXPECT_EQ(r.outputs[0].get(2), a.get(2));
  EXPECT_EQ(r.outputs[0].get(3), b.get(3));
}

TEST(OpWhere, Refuses) {
  const Array c = Array(DType::boolean, {2}), x = sample(DType::f32, {2}, 1);
  EXPECT_EQ(refusal(OpId::where, NoAttrs{}, {x, x, x}), Why::kDType);
  EXPECT_EQ(refusal(OpId::where, NoAttrs{}, {c, x, sample(DType::s32, {2}, 1)}), Why::kDTypeMismatch);
  EXPECT_EQ(refusal(OpId::where, NoAttrs{}, {c, x, sample(DType::f32, {3}, 1)}), Why::kBroadcast);
}

TEST(OpWhere, RankEight) {
  const Array a = sample(DType::s16, {2, 3}, 1), b = sample(DType::s16, {3}, 2), condition = Array::of<bool>({2, 1}, {1, 0});
  expect_same_elements(OpId::where, NoAttrs{}, {condition, a, b}, NoAttrs{},
                       {condition.reshaped({1, 2, 1, 1, 1, 1, 1, 1}), a.reshaped({1, 2, 1, 1, 1, 3, 1, 1}), b.reshaped({3, 1, 1})});
}

}  // namespace mote::optest
