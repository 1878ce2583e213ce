#include "mote/ops/reduce_prod/reduce_prod.h"

#include <cmath>

#include "mote/ops/testing/reduce_cases.h"

namespace mote::optest {

TEST(OpReduceProd, EveryTypeShapeAndSetOfAxes) {
  ReduceOptions options;
  options.lo = -2, options.hi = 2, options.scale = 10;
  check_reduce(
      OpId::reduce_prod, ops::reduce_prod::Attrs{}, types_of(ops::reduce_prod::Types{}), DType::boolean,
      [](DType, const std::vector<double>& v) {
        double product = 1;
        for (double e : v) product *= e;
        return product;
      },
      options);
}

TEST(OpReduceProd, IntegersWrap) {
  expect_values(run(OpId::reduce_prod, ops::reduce_prod::Attrs{}, {Array::of<int8_t>({3}, {16, 9, 1})}).outputs[0], {-112});
  expect_values(run(OpId::reduce_prod, ops::reduce_prod::Attrs{}, {Array::of<int32_t>({3}, {65536, 65536, -1})}).outputs[0], {0});
}

TEST(OpReduceProd, SpecialValuesSpread) {
  const auto r = run(OpId::reduce_prod, axes_attrs({1}, 0), {Array::of<float>({3, 2}, {-1, INFINITY, NAN, 1, INFINITY, 0})});
  expect_values(r.outputs[0], {-INFINITY, NAN, NAN});
}

}  // namespace mote::optest
