#include "mote/ops/reduce_mean/reduce_mean.h"

#include <cmath>

#include "mote/ops/testing/reduce_cases.h"

namespace mote::optest {

TEST(OpReduceMean, EveryTypeShapeAndSetOfAxes) {
  check_reduce(OpId::reduce_mean, ops::reduce_mean::Attrs{}, types_of(ops::reduce_mean::Types{}), DType::boolean,
               [](DType type, const std::vector<double>& v) {
                 const double n = static_cast<double>(v.size());
                 if (v.empty()) return is_float_type(type) ? static_cast<double>(NAN) : 0.0;
                 double sum = 0;
                 for (double e : v) sum += e;
                 return is_float_type(type) ? sum / n : std::trunc(sum / n);
               });
}

TEST(OpReduceMean, IntegerSumsDoNotWrapBeforeTheDivision) {
  expect_values(run(OpId::reduce_mean, ops::reduce_mean::Attrs{}, {Array::of<int8_t>({3}, {127, 127, 126})}).outputs[0], {126});
  expect_values(run(OpId::reduce_mean, ops::reduce_mean::Attrs{}, {Array::of<int8_t>({2}, {-128, -127})}).outputs[0], {-127});
}

TEST(OpReduceMean, SpecialValuesSpread) {
  const auto r = run(OpId::reduce_mean, axes_attrs({1}, 0), {Array::of<float>({3, 2}, {1, INFINITY, NAN, 1, INFINITY, -INFINITY})});
  expect_values(r.outputs[0], {INFINITY, NAN, NAN});
}

}  // namespace mote::optest
