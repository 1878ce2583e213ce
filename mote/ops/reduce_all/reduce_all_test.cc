#include "mote/ops/reduce_all/reduce_all.h"

#include <cmath>

#include "mote/ops/testing/reduce_cases.h"

namespace mote::optest {

TEST(OpReduceAll, EveryTypeShapeAndSetOfAxes) {
  ReduceOptions options;
  options.result = DType::boolean;
  options.lo = -1, options.hi = 1;
  check_reduce(
      OpId::reduce_all, ops::reduce_all::Attrs{}, types_of(ops::reduce_all::Types{}), DType::s4,
      [](DType, const std::vector<double>& v) {
        bool result = true;
        for (double e : v) result = result && e != 0;
        return result ? 1.0 : 0.0;
      },
      options);
}

TEST(OpReduceAll, NanIsTrueAndMinusZeroIsNot) {
  const auto r = run(OpId::reduce_all, axes_attrs({1}, 0), {Array::of<float>({3, 2}, {NAN, INFINITY, 0, NAN, 0, -0.0})});
  expect_values(r.outputs[0], {1, 0, 0});
}

TEST(OpReduceAll, AnyNonZeroByteIsTrue) {
  Array x(DType::boolean, {2, 2});
  x.bytes() = {2, 0, 255, 1};
  expect_values(run(OpId::reduce_all, axes_attrs({1}, 0), {x}).outputs[0], {0, 1});
}

}  // namespace mote::optest
