#include "mote/ops/reduce_min/reduce_min.h"

#include <algorithm>
#include <cmath>

#include "mote/ops/testing/reduce_cases.h"

namespace mote::optest {

TEST(OpReduceMin, EveryTypeShapeAndSetOfAxes) {
  check_reduce(OpId::reduce_min, ops::reduce_min::Attrs{}, types_of(ops::reduce_min::Types{}), DType::s4,
               [](DType type, const std::vector<double>& v) {
                 if (v.empty()) return is_float_type(type) ? INFINITY : highest_of(type);
                 return *std::min_element(v.begin(), v.end());
               });
}

TEST(OpReduceMin, NanWinsWhereverItStands) {
  const auto r =
      run(OpId::reduce_min, axes_attrs({-1}, 0), {Array::of<float>({4, 3}, {NAN, 1, 2, 1, NAN, 2, 1, 2, NAN, INFINITY, -INFINITY, 1})});
  expect_values(r.outputs[0], {NAN, NAN, NAN, -INFINITY});
}

}  // namespace mote::optest
