#include "mote/ops/lp_pool/lp_pool.h"

#include "mote/ops/testing/pool_cases.h"

namespace mote::optest {

TEST(OpLpPool, EveryTypeGeometryAndOrder) {
  for (DType type : types_of(ops::lp_pool::Types{})) {
    for (const PoolCase& t : pool_cases()) {
      for (float p : {1.f, 2.f, 3.f, 0.5f}) {
        SCOPED_TRACE(std::string(dtype_name(type)) + " " + t.name);
        auto a = t.attrs<ops::lp_pool::Attrs>();
        a.p = p;
        const Array x = Array::random(type, t.x, 1);
        const auto r = run(OpId::lp_pool, a, {x});
        ASSERT_TRUE(r.ok()) << r.message();
        expect_shape(r.outputs[0], t.y);
        expect_oracle(
            r.outputs[0],
            [&](const Shape& at) {
              double sum = 0;
              pool_window(t, at, [&](const Shape& from) { sum += std::pow(std::fabs(x.at(from)), p); });
              return std::pow(sum, 1.0 / p);
            },
            10);
      }
    }
  }
}

TEST(OpLpPool, NanAndInfinitySpread) {
  ops::lp_pool::Attrs a;
  a.kernel[0] = 2;
  expect_values(run(OpId::lp_pool, a, {Array::of<float>({1, 4, 1}, {NAN, 3, -4, -INFINITY})}).outputs[0], {NAN, 5, INFINITY});
}

TEST(OpLpPool, StripsEqualTheWhole) {
  for (const PoolCase& t : pool_cases()) {
    if (count_of(t.y) == 0) continue;
    SCOPED_TRACE(t.name);
    const auto a = t.attrs<ops::lp_pool::Attrs>();
    check_strips(OpId::lp_pool, a, {Array::random(DType::f32, t.x, 1)}, window_rows(a, t.kernel[0]));
  }
}

TEST(OpLpPool, Refuses) {
  check_pool_refusals<ops::lp_pool::Attrs>(OpId::lp_pool, DType::s8);
  for (float p : {0.f, -1.f, static_cast<float>(NAN), static_cast<float>(INFINITY)}) {
    ops::lp_pool::Attrs a;
    a.p = p;
    EXPECT_EQ(run(OpId::lp_pool, a, {Array::random(DType::f32, {1, 4, 2}, 1)}).status.why(), Why::kAttribute);
  }
}

}  // namespace mote::optest
