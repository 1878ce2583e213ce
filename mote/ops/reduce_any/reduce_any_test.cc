#include "mote/ops/reduce_any/reduce_any.h"

#include <cmath>

#include "mote/ops/testing/reduce_cases.h"

namespace mote::optest {

TEST(OpReduceAny, EveryTypeShapeAndSetOfAxes) {
  ReduceOptions options;
  options.result = DType::boolean;
  options.lo = 0, options.hi = 1;
  check_reduce(
      OpId::reduce_any, ops::reduce_any::Attrs{}, types_of(ops::reduce_any::Types{}), DType::s4,
      [](DType, const std::vector<double>& v) {
        bool result = false;
        for (double e : v) result = result || e != 0;
        return result ? 1.0 : 0.0;
      },
      options);
}

TEST(OpReduceAny, NanIsTrueAndMinusZeroIsNot) {
  const auto r = run(OpId::reduce_any, axes_attrs({1}, 0), {Array::of<float>({3, 2}, {NAN, INFINITY, 0, NAN, 0, -0.0})});
  expect_values(r.outputs[0], {1, 1, 0});
}

TEST(OpReduceAny, AnyNonZeroByteIsTrue) {
  Array x(DType::boolean, {2, 2});
  x.bytes() = {2, 0, 255, 1};
  expect_values(run(OpId::reduce_any, axes_attrs({1}, 0), {x}).outputs[0], {1, 1});
}

}  // namespace mote::optest
