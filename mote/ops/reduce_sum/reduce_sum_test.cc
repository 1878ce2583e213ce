#include "mote/ops/reduce_sum/reduce_sum.h"

#include <cmath>

#include "mote/ops/testing/reduce_cases.h"

namespace mote::optest {

TEST(OpReduceSum, EveryTypeShapeAndSetOfAxes) {
  check_reduce(OpId::reduce_sum, ops::reduce_sum::Attrs{}, types_of(ops::reduce_sum::Types{}), DType::boolean,
               [](DType, const std::vector<double>& v) {
                 double sum = 0;
                 for (double e : v) sum += e;
                 return sum;
               });
}

TEST(OpReduceSum, LongSumsStayExact) {
  const int32_t n = 100000;
  Array x(DType::f32, {n});
  double exact = 0;
  for (int32_t i = 0; i < n; ++i) {
    x.set(i, i % 2 == 0 ? 0.1 : 1e-5 * i);
    exact += x.get(i);
  }
  const auto r = run(OpId::reduce_sum, ops::reduce_sum::Attrs{}, {x});
  EXPECT_NEAR(r.outputs[0].get(0), exact, exact * 1.2e-7);
}

TEST(OpReduceSum, CancellationDoesNotLoseSmallTerms) {
  const auto r = run(OpId::reduce_sum, ops::reduce_sum::Attrs{}, {Array::of<float>({4}, {1, 1e10, 1, -1e10})});
  expect_values(r.outputs[0], {2});
}

TEST(OpReduceSum, SpecialValuesSpread) {
  const auto r = run(OpId::reduce_sum, axes_attrs({1}, 0),
                     {Array::of<float>({4, 3}, {1, INFINITY, 2, -INFINITY, 1, 1, INFINITY, -INFINITY, 1, 1, NAN, 1})});
  expect_values(r.outputs[0], {INFINITY, -INFINITY, NAN, NAN});
}

TEST(OpReduceSum, IntegersWrap) {
  expect_values(run(OpId::reduce_sum, ops::reduce_sum::Attrs{}, {Array::of<int8_t>({2}, {127, 1})}).outputs[0], {-128});
  expect_values(run(OpId::reduce_sum, ops::reduce_sum::Attrs{}, {Array::of<uint32_t>({2}, {4294967295.0, 2})}).outputs[0], {1});
}

}  // namespace mote::optest
