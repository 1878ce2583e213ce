#include "mote/ops/reduce_sum_square/reduce_sum_square.h"

#include <cmath>

#include "mote/ops/testing/reduce_cases.h"

namespace mote::optest {

TEST(OpReduceSumSquare, EveryTypeShapeAndSetOfAxes) {
  check_reduce(OpId::reduce_sum_square, ops::reduce_sum_square::Attrs{}, types_of(ops::reduce_sum_square::Types{}), DType::boolean,
               [](DType, const std::vector<double>& v) {
                 double sum = 0;
                 for (double e : v) sum += e * e;
                 return sum;
               });
}

TEST(OpReduceSumSquare, IntegersWrap) {
  expect_values(run(OpId::reduce_sum_square, ops::reduce_sum_square::Attrs{}, {Array::of<int32_t>({2}, {65536, 3})}).outputs[0], {9});
}

TEST(OpReduceSumSquare, SpecialValuesSpread) {
  const auto r = run(OpId::reduce_sum_square, axes_attrs({1}, 0), {Array::of<float>({2, 2}, {1, -INFINITY, NAN, 1})});
  expect_values(r.outputs[0], {INFINITY, NAN});
}

}  // namespace mote::optest
