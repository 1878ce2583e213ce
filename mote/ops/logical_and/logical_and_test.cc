#include "mote/ops/logical_and/logical_and.h"

#include "mote/ops/testing/binary_cases.h"

namespace mote::optest {

TEST(OpLogicalAnd, MatchesOracle) {
  check_binary(OpId::logical_and, NoAttrs{}, ops::logical_and::Types{}, [](double a, double b) { return a * b; });
}

TEST(OpLogicalAnd, RefusesOtherTypes) { check_binary_refusals(OpId::logical_and, NoAttrs{}, DType::boolean, DType::kNone, DType::u8); }

}  // namespace mote::optest
