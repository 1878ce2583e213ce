#include "mote/ops/reduce_l2/reduce_l2.h"

#include <cmath>

#include "mote/ops/testing/reduce_cases.h"

namespace mote::optest {

TEST(OpReduceL2, EveryTypeShapeAndSetOfAxes) {
  check_reduce(OpId::reduce_l2, ops::reduce_l2::Attrs{}, types_of(ops::reduce_l2::Types{}), DType::boolean,
               [](DType type, const std::vector<double>& v) {
                 double sum = 0;
                 for (double e : v) sum += e * e;
                 return is_float_type(type) ? std::sqrt(sum) : std::floor(std::sqrt(sum));
               });
}

TEST(OpReduceL2, IntegerSquaresDoNotWrapBeforeTheRoot) {
  expect_values(run(OpId::reduce_l2, ops::reduce_l2::Attrs{}, {Array::of<int8_t>({2}, {-60, 80})}).outputs[0], {100});
}

TEST(OpReduceL2, SpecialValuesSpread) {
  const auto r = run(OpId::reduce_l2, axes_attrs({1}, 0), {Array::of<float>({2, 2}, {1, -INFINITY, NAN, 1})});
  expect_values(r.outputs[0], {INFINITY, NAN});
}

}  // namespace mote::optest
