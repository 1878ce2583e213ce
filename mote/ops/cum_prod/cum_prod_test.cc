#include "mote/ops/cum_prod/cum_prod.h"

#include <cmath>

#include "mote/ops/testing/scan_cases.h"

namespace mote::optest {

TEST(OpCumProd, EveryTypeShapeAndAttribute) {
  check_scan(OpId::cum_prod, ops::cum_prod::Attrs{}, types_of(ops::cum_prod::Types{}), -3, 3, 3, [](DType, const std::vector<double>& v) {
    double product = 1;
    for (double e : v) product *= e;
    return product;
  });
}

TEST(OpCumProd, Refuses) { check_scan_refusals(OpId::cum_prod, ops::cum_prod::Attrs{}); }

TEST(OpCumProd, SpecialValuesSpreadFromWhereTheyStand) {
  const auto r = run(OpId::cum_prod, ops::cum_prod::Attrs{}, {Array::of<float>({5}, {2, -INFINITY, 2, NAN, 1})});
  expect_values(r.outputs[0], {2, -INFINITY, -INFINITY, NAN, NAN});
}

}  // namespace mote::optest
