#include "mote/ops/max_pool/max_pool.h"

#include "mote/ops/testing/pool_cases.h"

namespace mote::optest {

TEST(OpMaxPool, EveryTypeAndGeometryWithIndices) {
  for (DType type : types_of(ops::max_pool::Types{})) {
    for (const PoolCase& t : pool_cases()) {
      SCOPED_TRACE(std::string(dtype_name(type)) + " " + t.name);
      const bool real = (mask_of(type) & kFloat) != 0;
      const Array x = Array::random(type, t.x, 1);
      const auto a = t.attrs<ops::max_pool::Attrs>();
      const auto r = run(OpId::max_pool, a, {x}, 2);
      ASSERT_TRUE(r.ok()) << r.message();
      expect_shape(r.outputs[0], t.y);
      EXPECT_EQ(r.outputs[1].dtype(), DType::s64);
      const auto alone = run(OpId::max_pool, a, {x});
      ASSERT_TRUE(alone.ok());
      EXPECT_EQ(alone.outputs[0].bytes(), r.outputs[0].bytes());
      for_each_index(t.y, [&](const Shape& at) {
        double best = -INFINITY, where = 0;
        pool_window(t, at, [&](const Shape& from) {
          if (!(x.at(from) > best)) return;
          best = x.at(from);
          where = 0;
          for (size_t d = 1; d + 1 < from.size(); ++d) where = where * t.x[d] + from[d];
        });
        EXPECT_EQ(r.outputs[1].at(at), where);
        if (best > -INFINITY || real) {
          EXPECT_EQ(r.outputs[0].at(at), best);
        }
      });
    }
  }
}

TEST(OpMaxPool, PaddingAloneGivesTheLowestValue) {
  ops::max_pool::Attrs a;
  a.pads_begin[0] = 1;
  const auto r = run(OpId::max_pool, a, {Array::of<int8_t>({1, 1, 1}, {-3})}, 2);
  expect_values(r.outputs[0], {-128, -3});
  expect_values(r.outputs[1], {0, 0});
  expect_values(run(OpId::max_pool, a, {Array::of<uint16_t>({1, 1, 1}, {3})}).outputs[0], {0, 3});
}

TEST(OpMaxPool, NanWinsAndMinusInfinityHasAnIndex) {
  ops::max_pool::Attrs a;
  a.kernel[0] = 2;
  const auto r = run(OpId::max_pool, a, {Array::of<float>({1, 5, 1}, {1, NAN, INFINITY, -INFINITY, -INFINITY})}, 2);
  expect_values(r.outputs[0], {NAN, NAN, INFINITY, -INFINITY});
  expect_values(r.outputs[1], {1, 1, 2, 3});
}

TEST(OpMaxPool, StripsEqualTheWhole) {
  for (const PoolCase& t : pool_cases()) {
    if (count_of(t.y) == 0) continue;
    SCOPED_TRACE(t.name);
    const auto a = t.attrs<ops::max_pool::Attrs>();
    check_strips(OpId::max_pool, a, {Array::random(DType::s8, t.x, 1)}, window_rows(a, t.kernel[0]), 2);
  }
}

TEST(OpMaxPool, Refuses) { check_pool_refusals<ops::max_pool::Attrs>(OpId::max_pool, DType::boolean); }

}  // namespace mote::optest
