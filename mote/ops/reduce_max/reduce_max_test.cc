#include "mote/ops/reduce_max/reduce_max.h"

#include <algorithm>
#include <cmath>

#include "mote/ops/testing/reduce_cases.h"

namespace mote::optest {

TEST(OpReduceMax, EveryTypeShapeAndSetOfAxes) {
  check_reduce(OpId::reduce_max, ops::reduce_max::Attrs{}, types_of(ops::reduce_max::Types{}), DType::s4,
               [](DType type, const std::vector<double>& v) {
                 if (v.empty()) return is_float_type(type) ? -INFINITY : lowest_of(type);
                 return *std::max_element(v.begin(), v.end());
               });
}

TEST(OpReduceMax, NanWinsWhereverItStands) {
  const auto r =
      run(OpId::reduce_max, axes_attrs({-1}, 0), {Array::of<float>({4, 3}, {NAN, 1, 2, 1, NAN, 2, 1, 2, NAN, INFINITY, -INFINITY, 1})});
  expect_values(r.outputs[0], {NAN, NAN, NAN, INFINITY});
}

}  // namespace mote::optest
