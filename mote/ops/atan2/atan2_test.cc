#include "mote/ops/atan2/atan2.h"

#include <cmath>
#include <complex>

#include "mote/ops/testing/binary_cases.h"

namespace mote::optest {

TEST(OpAtan2, MatchesOracle) {
  check_binary(OpId::atan2, NoAttrs{}, ops::atan2::Types{}, [](double y, double x) {
    if (std::isnan(x) || std::isnan(y)) return static_cast<double>(NAN);
    return std::arg(std::complex<double>(x, y));
  });
}

TEST(OpAtan2, RefusesOtherTypes) { check_binary_refusals(OpId::atan2, NoAttrs{}, DType::f32, DType::f64, DType::s32); }

}  // namespace mote::optest
