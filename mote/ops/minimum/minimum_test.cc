#include "mote/ops/minimum/minimum.h"

#include <algorithm>
#include <cmath>

#include "mote/ops/testing/binary_cases.h"

namespace mote::optest {

TEST(OpMinimum, MatchesOracleAndKeepsNan) {
  check_binary(OpId::minimum, NoAttrs{}, ops::minimum::Types{},
               [](double a, double b) { return std::isnan(a) || std::isnan(b) ? static_cast<double>(NAN) : std::min(a, b); });
}

TEST(OpMinimum, RefusesOtherTypes) { check_binary_refusals(OpId::minimum, NoAttrs{}, DType::f32, DType::s32, DType::s4); }

}  // namespace mote::optest
