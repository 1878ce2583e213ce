#include "mote/ops/cum_sum/cum_sum.h"

#include <cmath>

#include "mote/ops/testing/scan_cases.h"

namespace mote::optest {

TEST(OpCumSum, EveryTypeShapeAndAttribute) {
  check_scan(OpId::cum_sum, ops::cum_sum::Attrs{}, types_of(ops::cum_sum::Types{}), -4, 4, 1, [](DType, const std::vector<double>& v) {
    double sum = 0;
    for (double e : v) sum += e;
    return sum;
  });
}

TEST(OpCumSum, Refuses) { check_scan_refusals(OpId::cum_sum, ops::cum_sum::Attrs{}); }

TEST(OpCumSum, SpecialValuesSpreadFromWhereTheyStand) {
  const auto r = run(OpId::cum_sum, ops::cum_sum::Attrs{}, {Array::of<float>({5}, {1, INFINITY, 2, NAN, 1})});
  expect_values(r.outputs[0], {1, INFINITY, INFINITY, NAN, NAN});
}

TEST(OpCumSum, IntegersWrap) {
  expect_values(run(OpId::cum_sum, ops::cum_sum::Attrs{}, {Array::of<int8_t>({3}, {100, 100, 100})}).outputs[0], {100, -56, 44});
}

TEST(OpCumSum, LongSumsStayExact) {
  Array x(DType::f32, {50000});
  for (int32_t i = 0; i < 50000; ++i) x.set(i, 0.1);
  const auto r = run(OpId::cum_sum, ops::cum_sum::Attrs{}, {x});
  expect_oracle(
      r.outputs[0], [&](const Shape& i) { return x.get(0) * (i[0] + 1); }, 0.25);
}

}  // namespace mote::optest
