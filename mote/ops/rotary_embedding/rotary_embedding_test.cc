#include "mote/ops/rotary_embedding/rotary_embedding.h"

#include "mote/ops/testing/nn_test_pattern.h"

namespace mote::optest {

TEST(OpRotaryEmbedding, EveryTypeAndForm) {
  for (DType type : types_of(ops::rotary_embedding::Types{})) {
    const Array x = Array::random(type, {2, 3, 4, 8}, 1), positions = Array::of<int32_t>({2, 4}, {0, 1, 5, 2, 3, 4, 0, 6});
    for (int form = 0; form < 3; ++form) {
      const Shape cache = form == 0 ? Shape{7, 3} : form == 1 ? Shape{4, 3} : Shape{2, 4, 3};
      const Array cos = Array::random(type, cache, 2, -1, 1), sin = Array::random(type, cache, 3, -1, 1);
      for (int interleaved : {0, 1}) {
        const auto r =
            run(OpId::rotary_embedding, ops::rotary_embedding::Attrs{interleaved, 6}, {x, cos, sin, form == 0 ? positions : Array::none()});
        ASSERT_TRUE(r.ok()) << r.message();
        expect_oracle(
            r.outputs[0],
            [&](const Shape& at) {
              const int i = at[3];
              if (i >= 6) return x.at(at);
              const int pair = interleaved ? i / 2 : i % 3;
              const bool first = interleaved ? i % 2 == 0 : i < 3;
              const int other = interleaved ? i ^ 1 : (i + 3) % 6;
              Shape row =
                  form == 2 ? Shape{at[0], at[2], pair} : Shape{form == 0 ? static_cast<int>(positions.at({at[0], at[2]})) : at[2], pair};
              const double partner = x.at({at[0], at[1], at[2], other});
              return cos.at(row) * x.at(at) + (first ? -1 : 1) * sin.at(row) * partner;
            },
            2);
      }
    }
  }
}

TEST(OpRotaryEmbedding, AgreesWithOnnx) {
  const Array x = pattern(DType::f32, {2, 2, 3, 6}, 1), positions = Array::of<int64_t>({2, 3}, {0, 3, 6, 5, 1, 2});
  auto r = run(OpId::rotary_embedding, ops::rotary_embedding::Attrs{0, 4},
               {x, pattern(DType::f32, {7, 2}, 2), pattern(DType::f32, {7, 2}, 3), positions});
  expect_values(r.outputs[0], {-0.25,   0.375,   0.25,   1.875,  0.25,  -1.25, -0.5625, 0.875,   -1.25,   -1.6875, 1,     -0.5,
                               -1.6875, -0.25,   -0.5,   0.25,   -1.5,  0.25,  -2.25,   -0.8125, 0.25,    0,       -0.75, 1,
                               0.6875,  -1.9375, 0.5,    2.25,   0,     -1.5,  -0.4375, -2.25,   -0.25,   0.25,    0.75,  -0.75,
                               -1.3125, -0.6875, -1,     0.4375, 1.5,   0,     -2.8125, -0.5625, -0.4375, 0.125,   -1,    0.75,
                               -1.375,  -1.5625, -0.375, 1.25,   -0.25, 1.5,   -0.0625, -2.6875, -0.25,   0.9375,  0.5,   -1,
                               1.6875,  0.6875,  0.6875, -0.625, 1.25,  -0.25, 1.5,     -0.3125, -3,      0,       -1.25, 0.5});
  r = run(OpId::rotary_embedding, ops::rotary_embedding::Attrs{1, 0},
          {x, pattern(DType::f32, {2, 3, 3}, 2), pattern(DType::f32, {2, 3, 3}, 3)});
  expect_values(r.outputs[0], {1.25,    1.75,    1.125,   0.75,    -0.625,  -1.75,   0.875,   0.75,    0.75,    -1.5,    0.625,   1.25,
                               -1.9375, 0.0625,  0.375,   2.25,    1.875,   -0.3125, -0.75,   1.75,    -0.0625, -1.125,  -0.1875, 1.8125,
                               -1.125,  -0.8125, 0.375,   2.375,   1.875,   0,       -0.6875, 1.8125,  1.625,   0.5,     -0.9375, 0.9375,
                               -0.25,   -1.75,   -1.1875, 0.5625,  1.125,   -1.875,  1,       -0.9375, -0.75,   1.75,    -0.0625, -1.125,
                               -0.1875, 1.8125,  -1.125,  -0.8125, 0.375,   2.375,   -2.25,   -0.75,   0.0625,  1.3125,  -0.875,  -1.375,
                               -0.1875, 0.9375,  0.5,     -1.5,    -0.4375, 1.0625,  1.875,   -1.125,  0.125,   -1.5625, -1.625,  1.375});
}

TEST(OpRotaryEmbedding, EmptyAndNan) {
  auto r = run(OpId::rotary_embedding, ops::rotary_embedding::Attrs{},
               {Array(DType::f32, {1, 2, 0, 4}), Array(DType::f32, {0, 2}), Array(DType::f32, {0, 2})});
  EXPECT_TRUE(r.ok());
  r = run(OpId::rotary_embedding, ops::rotary_embedding::Attrs{},
          {Array::of<float>({1, 1, 1, 4}, {NAN, 1, 1, INFINITY}), Array::of<float>({1, 2}, {1, 1}), Array::of<float>({1, 2}, {0.5, 0.5})});
  expect_values(r.outputs[0], {NAN, -INFINITY, NAN, INFINITY});
}

TEST(OpRotaryEmbedding, RefusesWhatDoesNotFit) {
  using ops::rotary_embedding::Attrs;
  const auto why = [](const Attrs& a, const std::vector<Array>& in) { return run(OpId::rotary_embedding, a, in).status.why(); };
  const Array x(DType::f32, {1, 2, 3, 4}), cache(DType::f32, {3, 2}), positions = Array::of<int64_t>({1, 3}, {0, 1, 3});
  EXPECT_EQ(why({}, {Array(DType::s32, {1, 2, 3, 4}), cache, cache}), Why::kDType);
  EXPECT_EQ(why({}, {Array(DType::f32, {2, 3, 4}), cache, cache}), Why::kRank);
  EXPECT_EQ(why({2, 0}, {x, cache, cache}), Why::kAttribute);
  EXPECT_EQ(why({0, 6}, {x, cache, cache}), Why::kAttribute);
  EXPECT_EQ(why({0, 3}, {x, cache, cache}), Why::kAttribute);
  EXPECT_EQ(why({}, {x, Array(DType::f64, {3, 2}), cache}), Why::kDTypeMismatch);
  EXPECT_EQ(why({}, {x, cache, Array(DType::f32, {4, 2})}), Why::kDimMismatch);
  EXPECT_EQ(why({}, {x, cache, cache, Array(DType::f32, {1, 3})}), Why::kDType);
  EXPECT_EQ(why({}, {x, cache, cache, Array(DType::s32, {1, 2})}), Why::kDimMismatch);
  EXPECT_EQ(why({}, {x, cache, cache, positions}), Why::kIndexRange);
}

}  // namespace mote::optest
