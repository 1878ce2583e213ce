#include "mote/ops/avg_pool/avg_pool.h"

#include "mote/ops/testing/pool_cases.h"

namespace mote::optest {

TEST(OpAvgPool, EveryTypeGeometryAndDivisor) {
  for (DType type : types_of(ops::avg_pool::Types{})) {
    for (const PoolCase& t : pool_cases()) {
      for (int mode = 0; mode < 3; ++mode) {
        SCOPED_TRACE(std::string(dtype_name(type)) + " " + t.name + " " + std::to_string(mode));
        auto a = t.attrs<ops::avg_pool::Attrs>();
        a.count_include_pad = mode == 1 ? 1 : 0;
        a.divisor_override = mode == 2 ? -3 : 0;
        const Array x = Array::random(type, t.x, 1);
        const auto r = run(OpId::avg_pool, a, {x});
        ASSERT_TRUE(r.ok()) << r.message();
        expect_shape(r.outputs[0], t.y);
        expect_oracle(
            r.outputs[0],
            [&](const Shape& at) {
              double sum = 0;
              int32_t valid = 0;
              const int32_t padded = pool_window(t, at, [&](const Shape& from) { sum += x.at(from), ++valid; });
              return valid == 0 ? 0 : sum / (mode == 2 ? -3 : mode == 1 ? padded : valid);
            },
            10);
      }
    }
  }
}

TEST(OpAvgPool, NanAndInfinitySpread) {
  ops::avg_pool::Attrs a;
  a.kernel[0] = 2;
  expect_values(run(OpId::avg_pool, a, {Array::of<float>({1, 4, 1}, {NAN, 1, 3, INFINITY})}).outputs[0], {NAN, 2, INFINITY});
}

TEST(OpAvgPool, StripsEqualTheWhole) {
  for (const PoolCase& t : pool_cases()) {
    if (count_of(t.y) == 0) continue;
    SCOPED_TRACE(t.name);
    auto a = t.attrs<ops::avg_pool::Attrs>();
    a.count_include_pad = 1;
    check_strips(OpId::avg_pool, a, {Array::random(DType::f32, t.x, 1)}, window_rows(a, t.kernel[0]));
  }
}

TEST(OpAvgPool, Refuses) {
  check_pool_refusals<ops::avg_pool::Attrs>(OpId::avg_pool, DType::s8);
  ops::avg_pool::Attrs a;
  a.count_include_pad = 2;
  EXPECT_EQ(run(OpId::avg_pool, a, {Array::random(DType::f32, {1, 4, 2}, 1)}).status.why(), Why::kAttribute);
}

}  // namespace mote::optest
