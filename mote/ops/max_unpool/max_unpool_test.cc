#include "mote/ops/max_unpool/max_unpool.h"

#include "mote/ops/testing/harness.h"

namespace mote::optest {

TEST(OpMaxUnpool, EveryTypeAndRank) {
  struct Case {
    Shape x, y;
  };
  const Case cases[] = {{{2, 3, 2}, {2, 7, 2}}, {{2, 2, 2, 3}, {2, 4, 5, 3}}, {{1, 2, 1, 2, 2}, {1, 3, 2, 4, 2}},
                        {{0, 2, 2}, {0, 5, 2}}, {{1, 0, 2}, {1, 5, 2}},       {{1, 2, 0}, {1, 5, 0}}};
  for (DType type : types_of(ops::max_unpool::Types{})) {
    for (DType index_type : {DType::s32, DType::s64}) {
      for (const Case& t : cases) {
        SCOPED_TRACE(dtype_name(type));
        int32_t plane = 1;
        ops::max_unpool::Attrs a;
        for (size_t d = 1; d + 1 < t.y.size(); ++d) {
          a.dims[d - 1] = t.y[d];
          plane *= t.y[d];
        }
        const Array x = Array::random(type, t.x, 1), indices = Array::random(index_type, t.x, 2, 0, plane - 1);
        const auto r = run(OpId::max_unpool, a, {x, indices});
        ASSERT_TRUE(r.ok()) << r.message();
        Array expected(type, t.y);
        for_each_index(t.x, [&](const Shape& at) {
          const int64_t flat = (at[0] * plane + static_cast<int64_t>(indices.at(at))) * t.y.back() + at.back();
          expected.set(flat, x.at(at));
        });
        expect_shape(r.outputs[0], t.y);
        EXPECT_EQ(r.outputs[0].bytes(), expected.bytes());
      }
    }
  }
}

TEST(OpMaxUnpool, KeepsNan) {
  const auto r = run(OpId::max_unpool, ops::max_unpool::Attrs{{3}},
                     {Array::of<float>({1, 2, 1}, {NAN, INFINITY}), Array::of<int64_t>({1, 2, 1}, {2, 0})});
  expect_values(r.outputs[0], {INFINITY, 0, NAN});
}

TEST(OpMaxUnpool, Refuses) {
  const Array x = Array::random(DType::f32, {1, 2, 1}, 1);
  const auto why = [&](ops::max_unpool::Attrs a, const Array& in, const Array& indices) {
    return run(OpId::max_unpool, a, {in, indices}).status.why();
  };
  EXPECT_EQ(why({{3}}, x, Array::of<int64_t>({1, 2, 1}, {0, 3})), Why::kIndexRange);
  EXPECT_EQ(why({{3}}, x, Array::of<int64_t>({1, 2, 1}, {-1, 2})), Why::kIndexRange);
  EXPECT_EQ(why({{0}}, x, Array::of<int64_t>({1, 2, 1}, {0, 0})), Why::kIndexRange);
  EXPECT_EQ(why({{3}}, x, Array::of<int64_t>({1, 1, 2}, {0, 1})), Why::kDimMismatch);
  EXPECT_EQ(why({{3}}, x, Array::of<float>({1, 2, 1}, {0, 1})), Why::kDType);
  EXPECT_EQ(why({{3}}, Array::random(DType::boolean, {1, 2, 1}, 1), Array::of<int64_t>({1, 2, 1}, {0, 1})), Why::kDType);
  EXPECT_EQ(why({{-1}}, x, Array::of<int64_t>({1, 2, 1}, {0, 1})), Why::kNegativeDim);
  EXPECT_EQ(why({{0x7fffffff}}, x, Array::of<int64_t>({1, 2, 1}, {0, 1})), Why::kShapeOverflow);
  EXPECT_EQ(why({{3}}, Array::random(DType::f32, {1, 2}, 1), Array::of<int64_t>({1, 2}, {0, 1})), Why::kRank);
}

}  // namespace mote::optest
