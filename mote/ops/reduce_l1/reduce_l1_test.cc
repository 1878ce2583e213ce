#include "mote/ops/reduce_l1/reduce_l1.h"

#include <cmath>

#include "mote/ops/testing/reduce_cases.h"

namespace mote::optest {

TEST(OpReduceL1, EveryTypeShapeAndSetOfAxes) {
  check_reduce(OpId::reduce_l1, ops::reduce_l1::Attrs{}, types_of(ops::reduce_l1::Types{}), DType::boolean,
               [](DType, const std::vector<double>& v) {
                 double sum = 0;
                 for (double e : v) sum += std::fabs(e);
                 return sum;
               });
}

TEST(OpReduceL1, LowestIntegerHasItsMagnitude) {
  expect_values(run(OpId::reduce_l1, ops::reduce_l1::Attrs{}, {Array::of<int16_t>({3}, {-32768, 1, -3})}).outputs[0], {-32764});
}

TEST(OpReduceL1, SpecialValuesSpread) {
  const auto r = run(OpId::reduce_l1, axes_attrs({1}, 0), {Array::of<float>({2, 2}, {1, -INFINITY, NAN, 1})});
  expect_values(r.outputs[0], {INFINITY, NAN});
}

}  // namespace mote::optest
