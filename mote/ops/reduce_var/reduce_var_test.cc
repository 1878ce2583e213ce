#include "mote/ops/reduce_var/reduce_var.h"

#include <algorithm>
#include <cmath>

#include "mote/ops/testing/reduce_cases.h"

namespace mote::optest {

namespace reduce_var_case {
namespace {

ops::reduce_var::Attrs attrs(float correction, int32_t root) {
  ops::reduce_var::Attrs a;
  a.correction = correction;
  a.root = root;
  return a;
}

void check(float correction, int32_t root) {
  check_reduce(OpId::reduce_var, attrs(correction, root), types_of(ops::reduce_var::Types{}), DType::s32,
               [=](DType, const std::vector<double>& v) {
                 const double n = static_cast<double>(v.size());
                 double sum = 0, squares = 0;
                 for (double e : v) sum += e;
                 for (double e : v) squares += (e - sum / n) * (e - sum / n);
                 const double divisor = std::max(0.0, n - static_cast<double>(correction));
                 if (v.empty() || (v.size() == 1 && divisor == 0)) return static_cast<double>(NAN);
                 return root != 0 ? std::sqrt(squares / divisor) : squares / divisor;
               });
}

}  // namespace
}  // namespace reduce_var_case

TEST(OpReduceVar, SampleVariance) { reduce_var_case::check(1, 0); }
TEST(OpReduceVar, PopulationDeviation) { reduce_var_case::check(0, 1); }
TEST(OpReduceVar, MoreCorrectionThanElements) { reduce_var_case::check(4.5f, 0); }
TEST(OpReduceVar, NegativeCorrection) { reduce_var_case::check(-1, 1); }

TEST(OpReduceVar, FarFromZeroItStaysExact) {
  const auto r = run(OpId::reduce_var, reduce_var_case::attrs(0, 0), {Array::of<float>({4}, {100001, 100002, 100003, 100004})});
  expect_values(r.outputs[0], {1.25});
}

TEST(OpReduceVar, SpecialValuesGiveNan) {
  ops::reduce_var::Attrs a;
  static_cast<ops::ReduceAttrs&>(a) = axes_attrs({1}, 0);
  expect_values(run(OpId::reduce_var, a, {Array::of<float>({2, 2}, {1, INFINITY, NAN, 1})}).outputs[0], {NAN, NAN});
}

TEST(OpReduceVar, RefusesBadAttributes) {
  const Array x(DType::f32, {2});
  for (const ops::reduce_var::Attrs& bad :
       {reduce_var_case::attrs(NAN, 0), reduce_var_case::attrs(INFINITY, 0), reduce_var_case::attrs(0, 2)})
    EXPECT_EQ(run(OpId::reduce_var, bad, {x}).status.why(), Why::kAttribute);
}

}  // namespace mote::optest
