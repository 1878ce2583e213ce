#include "mote/ops/maximum/maximum.h"

#include <algorithm>
#include <cmath>

#include "mote/ops/testing/binary_cases.h"

namespace mote::optest {

TEST(OpMaximum, MatchesOracleAndKeepsNan) {
  check_binary(OpId::maximum, NoAttrs{}, ops::maximum::Types{},
               [](double a, double b) { return std::isnan(a) || std::isnan(b) ? static_cast<double>(NAN) : std::max(a, b); });
}

TEST(OpMaximum, RefusesOtherTypes) { check_binary_refusals(OpId::maximum, NoAttrs{}, DType::f32, DType::s32, DType::s4); }

}  // namespace mote::optest
