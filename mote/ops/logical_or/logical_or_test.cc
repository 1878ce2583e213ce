#include "mote/ops/logical_or/logical_or.h"

#include "mote/ops/testing/binary_cases.h"

namespace mote::optest {

TEST(OpLogicalOr, MatchesOracle) {
  check_binary(OpId::logical_or, NoAttrs{}, ops::logical_or::Types{}, [](double a, double b) { return a + b - a * b; });
}

TEST(OpLogicalOr, RefusesOtherTypes) { check_binary_refusals(OpId::logical_or, NoAttrs{}, DType::boolean, DType::kNone, DType::u8); }

}  // namespace mote::optest
