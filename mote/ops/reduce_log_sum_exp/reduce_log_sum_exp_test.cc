#include "mote/ops/reduce_log_sum_exp/reduce_log_sum_exp.h"

#include <cmath>

#include "mote/ops/testing/reduce_cases.h"

namespace mote::optest {

TEST(OpReduceLogSumExp, EveryTypeShapeAndSetOfAxes) {
  check_reduce(OpId::reduce_log_sum_exp, ops::reduce_log_sum_exp::Attrs{}, types_of(ops::reduce_log_sum_exp::Types{}), DType::boolean,
               [](DType, const std::vector<double>& v) {
                 double sum = 0;
                 for (double e : v) sum += std::exp(e);
                 return std::log(sum);
               });
}

TEST(OpReduceLogSumExp, LargeValuesDoNotOverflow) {
  const auto r = run(OpId::reduce_log_sum_exp, axes_attrs({1}, 0), {Array::of<float>({2, 2}, {1000, 1000, -1000, -1000})});
  expect_values(r.outputs[0], {1000 + std::log(2.0), -1000 + std::log(2.0)});
}

TEST(OpReduceLogSumExp, SpecialValues) {
  const auto r = run(OpId::reduce_log_sum_exp, axes_attrs({1}, 0),
                     {Array::of<float>({5, 2}, {-INFINITY, 1, -INFINITY, -INFINITY, INFINITY, 1, NAN, 1, INFINITY, NAN})});
  expect_values(r.outputs[0], {1, -INFINITY, INFINITY, NAN, NAN});
}

}  // namespace mote::optest
